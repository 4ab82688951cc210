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
            head: $0, tellsFrontFromBehind: device.hasDepth(along: source.forward))
        }
      }.first
    }
  }
}

extension Device {
  /// Whether a microphone is more than 1 mm in front of or behind the plane perpendicular to `forward` through the
  /// body's centre; for arrays without a body of known shape, through the microphones' centroid.
  fileprivate func hasDepth(along forward: Direction) -> Bool {
    let depths = microphones.map { $0.position.dot(forward.vector) }
    let centre =
      switch body {
      case .free, .measured: depths.reduce(0, +) / Double(max(1, depths.count))
      case .sphere, .box: 0.0
      }
    return depths.contains { abs($0 - centre) > 0.001 }
  }
}
