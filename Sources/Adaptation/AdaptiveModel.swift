import Acoustics
import FilterDesign
import HeadResponses
import Manifolds
import Realtime

/// What adaptive stereo of a device needs at a sample rate: its array, and the listener's head.
///
/// Making one takes seconds, for a body whose sound field has to be computed.
public final class AdaptiveModel: Sendable {
  public let device: Device
  package let array: ArrayTable
  private let hrtf: HRTF

  /// The most microphones of an array whose tables a processor's cache holds.
  public static let mostMicrophones = 8

  /// - Throws: an `Unsupported` for an array that is too large; a `DesignError` if the array's responses or the HRTF
  ///   cannot be had.
  public init(_ device: Device, sampleRate: Int) throws {
    guard (2...Self.mostMicrophones).contains(device.microphones.count) else {
      throw Unsupported(
        "the sound of 2 to \(Self.mostMicrophones) microphones can be followed; \(device.name) has "
          + "\(device.microphones.count)")
    }
    self.device = device
    hrtf = try HRTF(path: device.hrtf ?? HRTF.defaultPath, parameters: device.design.head)
    let model = try manifold(for: device)
    array = ArrayTable(
      device.deviations.allSatisfy { $0 == .none }
        ? model : DeviatingManifold(model, deviations: device.deviations),
      sampleRate: sampleRate)
  }

  /// What to follow the sound with.
  /// - Parameters:
  ///   - selection: with its pose.
  ///   - base: its filters, as the engine plays them.
  ///   - delayFrames: their modelling delay.
  ///   - strength: of the correction; 0 to find talkers only.
  /// - Returns: nil if a correction is asked for, and the selection is not stereo from all microphones.
  public func target(
    _ selection: Selection, base: FilterSet, delayFrames: Int, strength: Double
  ) throws -> AdaptiveStereo.Target? {
    let source = try device.dataSource(named: selection.dataSource)
    let frame = device.frame(of: source, selection.inputOrientation).turned(by: selection.pose)
    let (up, hasHeight) = (frame.up.vector, device.hasHeight(along: frame.up))
    guard strength > 0 else {
      return .init(array: array, up: up, hasHeight: hasHeight, ears: nil, strength: 0)
    }
    guard selection.polarPattern == .stereo, base.outputs == 2, base.usesAllMicrophones else { return nil }
    let ears = EarTable(array, base: base, delayFrames: delayFrames, frame: frame, hrtf: hrtf)
    return .init(array: array, up: up, hasHeight: hasHeight, ears: ears, strength: strength)
  }
}
