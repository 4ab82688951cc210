import Acoustics

/// One case of a guided check: a selection on the device, and the listener's axes for it.
public struct CheckCase: Hashable, Sendable {
  package let selection: Selection
  package let head: HeadFrame
  /// False if all microphones lie in the plane that separates front from back: sound from behind then reaches them
  /// exactly as sound from in front does.
  package let tellsFrontFromBehind: Bool

  public var dataSource: String { selection.dataSource }
  public var polarPattern: PolarPattern { selection.polarPattern }
  /// Nil for mono patterns, which do not depend on it.
  public var inputOrientation: InputOrientation? { isStereo ? selection.inputOrientation : nil }

  package var isStereo: Bool { polarPattern == .stereo }
  /// "Back, portrait", or "Front, cardioid".
  public var name: String { dataSource + ", " + (inputOrientation?.rawValue ?? polarPattern.rawValue) }

  /// The directional cases of `device`: all except omnidirectional ones. Mono patterns are checked in portrait, or in
  /// landscapeRight if they look along the device's y axis.
  package static func all(of device: Device) -> [CheckCase] {
    device.filterCases.compactMap { filterCase in
      guard filterCase.polarPattern != .omnidirectional,
        let source = device.dataSources.first(where: { $0.name == filterCase.dataSource })
      else { return nil }
      let orientations = filterCase.inputOrientation.map { [$0] } ?? [.portrait, .landscapeRight]
      return orientations.lazy.compactMap { orientation in
        HeadFrame(forward: source.forward, orientation: orientation).map {
          CheckCase(
            selection: Selection(
              dataSource: source.name, polarPattern: filterCase.polarPattern, inputOrientation: orientation),
            head: $0, tellsFrontFromBehind: device.tellsFrontFromBehind(along: source.forward))
        }
      }.first
    }
  }
}
