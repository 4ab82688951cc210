import Acoustics

/// One case of a guided check: a selection on the device, and the listener's axes for it.
public struct CheckCase: Hashable, Sendable {
  package let selection: Selection
  package let head: HeadFrame
  /// False if all microphones lie in the plane that separates front from back: sound from behind then reaches them
  /// exactly as sound from in front does.
  package let tellsFrontFromBehind: Bool
  /// What the design says about a weak case's filters; nil if they are not weak. The check repeats it.
  public let weakness: String?

  /// Where the mono pattern looks from its data source; nil for the source's forward. The selection is that of a device made
  /// for the look, and has none.
  package let look: Look?

  package var filterCase: FilterCase { look.map { selection.filterCase.looking($0) } ?? selection.filterCase }

  public var dataSource: String { selection.dataSource }
  public var polarPattern: PolarPattern { selection.polarPattern }
  /// Nil for mono patterns, which do not depend on it.
  public var inputOrientation: InputOrientation? { isStereo ? selection.inputOrientation : nil }

  package var isStereo: Bool { polarPattern == .stereo }
  /// "Back, portrait", or "Front, cardioid".
  public var name: String {
    dataSource + ", " + (inputOrientation?.rawValue ?? polarPattern.rawValue) + (look?.phrase ?? "")
  }

  /// The directional cases of `device`: all except omnidirectional ones and B-format.
  /// - Parameters:
  ///   - weaknesses: what the design says about weak cases.
  ///   - look: of a device that was made for it.
  package static func all(
    of device: Device, weaknesses: [FilterCase: String] = [:], look: Look? = nil
  ) -> [CheckCase] {
    device.filterCases.compactMap { filterCase in
      guard filterCase.polarPattern != .omnidirectional, filterCase.polarPattern.ambisonicsOrder == nil,
        let source = device.dataSources.first(where: { $0.name == filterCase.dataSource })
      else { return nil }
      let orientation = filterCase.inputOrientation ?? .ofMono(along: source.forward)
      return HeadFrame(forward: source.forward, orientation: orientation).map {
        CheckCase(
          selection: Selection(
            dataSource: source.name, polarPattern: filterCase.polarPattern, inputOrientation: orientation),
          head: $0, tellsFrontFromBehind: device.tellsFrontFromBehind(along: source.forward),
          weakness: weaknesses[filterCase], look: look)
      }
    }
  }
}
