import Acoustics
import Figures
import FilterDesign
import HeadResponses
import Manifolds
import Numerics
import Synchronization

/// The figures of one case by the model that designs use, or by another one.
extension MonoFigures {
  /// - Parameters:
  ///   - coefficients: a mono case of `bank`.
  ///   - device: the device that `bank` was designed for.
  init(_ coefficients: FilterCoefficients, bank: FilterBank, device: Device) throws(DesignError) {
    guard case .mono(let figures) = try Fields.figures(coefficients, bank: bank, device: device) else {
      throw DesignError("\(coefficients.filterCase) is not a mono case of \(device.name)")
    }
    self = figures
  }

  init(
    taps: Taps<Float>, sampleRate: Int, delayFrames: Int, manifold: any ArrayManifold, forward: Direction,
    omnidirectionalPart: Double
  ) throws(DesignError) {
    let reading = try Fields.figures(
      .pattern(forward: forward, omnidirectionalPart: omnidirectionalPart), taps, sampleRate: sampleRate,
      delayFrames: delayFrames, manifold: manifold, hrtf: nil)
    guard case .mono(let figures) = reading else { preconditionFailure("a mono view is mono") }
    self = figures
  }
}

extension StereoFigures {
  /// - Parameters:
  ///   - coefficients: a stereo case of `bank`.
  ///   - device: the device that `bank` was designed for.
  init(_ coefficients: FilterCoefficients, bank: FilterBank, device: Device) throws(DesignError) {
    guard case .stereo(let figures) = try Fields.figures(coefficients, bank: bank, device: device) else {
      throw DesignError("\(coefficients.filterCase) is not a stereo case of \(device.name)")
    }
    self = figures
  }

  init(
    taps: Taps<Float>, sampleRate: Int, delayFrames: Int, manifold: any ArrayManifold, frame: HeadFrame,
    hrtf: HRTF
  ) throws(DesignError) {
    let reading = try Fields.figures(
      .ears(frame), taps, sampleRate: sampleRate, delayFrames: delayFrames, manifold: manifold, hrtf: hrtf)
    guard case .stereo(let figures) = reading else { preconditionFailure("a view of ears is stereo") }
    self = figures
  }
}

/// The fields of the last devices, for all cases of each at once: tests read one case after another.
private enum Fields {
  private struct Key: Hashable {
    let device: Device
    let sampleRate: Int
    let views: [CaseView]
  }

  private static let kept = 4
  private static let last = Mutex([(key: Key, field: MeasuringField)]())
  private static let heads = Mutex([String: HRTF]())

  /// The same of a view of any manifold.
  static func figures(
    _ view: CaseView, _ taps: Taps<Float>, sampleRate: Int, delayFrames: Int, manifold: any ArrayManifold,
    hrtf: HRTF?
  ) throws(DesignError) -> CaseReading {
    let field = try MeasuringField(
      manifold: manifold, views: [view], frequencies: DesignGrid(sampleRate: sampleRate).frequencies)
    return try FigureReader(
      [(view, taps)], sampleRate: sampleRate, delayFrames: delayFrames, field: field, hrtf: hrtf
    ).read()[0]
  }

  static func figures(
    _ coefficients: FilterCoefficients, bank: FilterBank, device: Device
  ) throws(DesignError) -> CaseReading {
    guard let view = device.view(of: coefficients.filterCase, origin: coefficients.origin) else {
      throw DesignError("\(device.name) has no case \(coefficients.filterCase)")
    }
    var hrtf: HRTF?
    if case .ears = view { hrtf = try head(path: device.hrtf ?? HRTF.defaultPath) }
    let reader = try FigureReader(
      [(view, coefficients.taps)], sampleRate: bank.sampleRate, delayFrames: bank.delayFrames,
      field: field(of: bank, device: device), hrtf: hrtf)
    return try reader.read()[0]
  }

  private static func field(of bank: FilterBank, device: Device) throws(DesignError) -> MeasuringField {
    let views = bank.cases.compactMap { device.view(of: $0.filterCase, origin: $0.origin) }
    let key = Key(device: device, sampleRate: bank.sampleRate, views: views)
    if let found = last.withLock({ last in last.first { $0.key == key }?.field }) { return found }
    let field = try MeasuringField(
      manifold: manifold(for: device), views: views,
      frequencies: DesignGrid(sampleRate: bank.sampleRate).frequencies)
    last.withLock {
      $0.append((key, field))
      if $0.count > kept { $0.removeFirst() }
    }
    return field
  }

  private static func head(path: String) throws(DesignError) -> HRTF {
    if let found = heads.withLock({ $0[path] }) { return found }
    let head = try HRTF(path: path)
    heads.withLock { $0[path] = head }
    return head
  }
}
