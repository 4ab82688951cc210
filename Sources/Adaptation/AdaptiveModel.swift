import Acoustics
import FilterDesign
import HeadResponses
import Manifolds
import Realtime

/// What feeds of a device need to follow the sound at a sample rate: its array, and the listener's head.
///
/// Making one takes seconds, for a body whose sound field has to be computed.
public final class AdaptiveModel: Sendable {
  public let device: Device
  /// What wind is taken out with.
  private let wind: WindTable
  /// What directions are found with, and the listener's head; nil if nobody asks for them.
  private let directions: (array: ArrayTable, hrtf: HRTF)?

  package var array: ArrayTable? { directions?.array }

  /// Whether it can find directions.
  public var findsDirections: Bool { directions != nil }

  /// The most microphones of an array whose tables of directions a processor's cache holds.
  public static let mostMicrophones = 8

  /// - Parameter findsDirections: for stereo that follows them, and talkers; for wind they are not needed.
  /// - Throws: an `Unsupported` for an array that is too large or too small; a `DesignError` if the array's responses or
  ///   the HRTF cannot be had.
  public init(_ device: Device, sampleRate: Int, findsDirections: Bool = true) throws {
    let count = device.microphones.count
    guard count > 1 else { throw Unsupported("the sound of one microphone cannot be followed") }
    guard !findsDirections || count <= Self.mostMicrophones else {
      throw Unsupported(
        "the sound of 2 to \(Self.mostMicrophones) microphones can be followed; \(device.name) has "
          + "\(count)")
    }
    self.device = device
    let known = try manifold(for: device)
    let model: any ArrayManifold =
      device.deviations.allSatisfy { $0 == .none }
      ? known : DeviatingManifold(known, deviations: device.deviations)
    wind = WindTable(model, sampleRate: sampleRate)
    directions =
      findsDirections
      ? (
        ArrayTable(model, sampleRate: sampleRate),
        try HRTF(path: device.hrtf ?? HRTF.defaultPath, parameters: device.design.head)
      ) : nil
  }

  /// What to follow the sound with.
  /// - Parameters:
  ///   - selection: with its pose.
  ///   - base: its filters, as the engine plays them.
  ///   - delayFrames: their modelling delay.
  ///   - strength: of the correction for directions; 0 to find talkers only.
  ///   - wind: how much of the wind is taken out, 0…1.
  /// - Returns: nil if a correction is asked for, and the selection is not stereo from all microphones.
  public func target(
    _ selection: Selection, base: FilterSet, delayFrames: Int, strength: Double, wind windStrength: Double = 0
  ) throws -> AdaptiveStereo.Target? {
    let source = try device.dataSource(named: selection.dataSource)
    let frame = device.frame(of: source, selection.inputOrientation).turned(by: selection.pose)
    var target = AdaptiveStereo.Target(base: base)
    if let directions {
      (target.array, target.up, target.hasHeight) = (
        directions.array, frame.up.vector, device.hasHeight(along: frame.up)
      )
      if strength > 0 {
        if selection.polarPattern == .stereo, base.outputs == 2, base.usesAllMicrophones {
          target.ears = EarTable(
            directions.array, base: base, delayFrames: delayFrames, frame: frame, hrtf: directions.hrtf)
          target.strength = strength
        } else if windStrength == 0 {
          return nil
        }
      }
    }
    if windStrength > 0 {
      let isMono = base.outputs == 1 && selection.polarPattern != .omnidirectional
      let axis = selection.effectiveLook?.direction(in: frame) ?? frame.forward
      target.wind = WindWeights(
        wind, base: base, axis: isMono ? axis.vector : nil,
        // Of B-format, W.
        keptOutputs: selection.polarPattern.ambisonicsOrder == nil ? base.outputs : 1)
      target.windStrength = windStrength
    }
    return target
  }
}
