import Acoustics
import Figures
import FilterDesign
import HeadResponses
import Manifolds
import Numerics

/// The figures of one case by the model that designs use, or by another one.
extension MonoFigures {
  /// - Parameters:
  ///   - coefficients: a mono case of `bank`.
  ///   - device: the device that `bank` was designed for.
  init(_ coefficients: FilterCoefficients, bank: FilterBank, device: Device) throws(DesignError) {
    guard case .pattern(let forward, let part) = device.view(of: coefficients.filterCase) else {
      throw DesignError("\(coefficients.filterCase) is not a mono case of \(device.name)")
    }
    try self.init(
      taps: coefficients.taps, sampleRate: bank.sampleRate, delayFrames: bank.delayFrames,
      manifold: try manifold(for: device), forward: forward, omnidirectionalPart: part)
  }

  init(
    taps: Taps<Float>, sampleRate: Int, delayFrames: Int, manifold: any ArrayManifold, forward: Direction,
    omnidirectionalPart: Double
  ) throws(DesignError) {
    let view = CaseView.pattern(forward: forward, omnidirectionalPart: omnidirectionalPart)
    let field = try MeasuringField(
      manifold: manifold, views: [view], frequencies: DesignGrid(sampleRate: sampleRate).frequencies)
    let reader = try FigureReader(
      [(view, taps)], sampleRate: sampleRate, delayFrames: delayFrames, field: field, hrtf: nil)
    guard case .mono(let figures) = try reader.read()[0] else { preconditionFailure("a mono view is mono") }
    self = figures
  }
}

extension StereoFigures {
  /// - Parameters:
  ///   - coefficients: a stereo case of `bank`.
  ///   - device: the device that `bank` was designed for.
  init(_ coefficients: FilterCoefficients, bank: FilterBank, device: Device) throws(DesignError) {
    guard case .ears(let frame) = device.view(of: coefficients.filterCase) else {
      throw DesignError("\(coefficients.filterCase) is not a stereo case of \(device.name)")
    }
    try self.init(
      taps: coefficients.taps, sampleRate: bank.sampleRate, delayFrames: bank.delayFrames,
      manifold: try manifold(for: device), frame: frame, hrtf: try HRTF(path: device.hrtf ?? HRTF.defaultPath)
    )
  }

  init(
    taps: Taps<Float>, sampleRate: Int, delayFrames: Int, manifold: any ArrayManifold, frame: HeadFrame,
    hrtf: HRTF
  ) throws(DesignError) {
    let view = CaseView.ears(frame)
    let field = try MeasuringField(
      manifold: manifold, views: [view], frequencies: DesignGrid(sampleRate: sampleRate).frequencies)
    let reader = try FigureReader(
      [(view, taps)], sampleRate: sampleRate, delayFrames: delayFrames, field: field, hrtf: hrtf)
    guard case .stereo(let figures) = try reader.read()[0] else {
      preconditionFailure("a view of ears is stereo")
    }
    self = figures
  }
}
