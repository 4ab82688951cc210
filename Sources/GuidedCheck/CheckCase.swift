import Acoustics

/// One case of a device that is checked: what is selected, and whose left and right that are.
public struct CheckCase: Hashable, Sendable {
  package let selection: Selection
  package let head: HeadFrame
  /// False where the array is its own mirror image from in front: what comes from behind sounds the same to it.
  package let tellsFrontFromBehind: Bool

  public var dataSource: String { selection.dataSource }
  public var polarPattern: PolarPattern { selection.polarPattern }
  /// Nil for mono patterns, which come out alike however the device is held.
  public var inputOrientation: InputOrientation? { isStereo ? selection.inputOrientation : nil }

  package var isStereo: Bool { polarPattern == .stereo }
  /// "Back, portrait", or "Front, cardioid".
  public var name: String { dataSource + ", " + (inputOrientation?.rawValue ?? polarPattern.rawValue) }

  /// The cases of `device` in which sounds from different directions should come out differently. Mono patterns are
  /// held upright, or lying where they look up or down.
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
  /// Whether microphones stand apart along `forward`, or on one side of the body.
  fileprivate func hasDepth(along forward: Direction) -> Bool {
    let places = microphones.map { $0.position.dot(forward.vector) }
    let middle =
      switch body {
      case .free, .measured: places.reduce(0, +) / Double(max(1, places.count))
      case .sphere, .box: 0.0
      }
    return places.contains { abs($0 - middle) > 0.001 }
  }
}
