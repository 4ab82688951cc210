import FoundationEssentials

/// A digital microphone of a laptop, as its firmware describes it (ACPI table NHLT). ALSA's use-case manager stores that
/// with `nhlt-dmic-info` as `cardN.conf.d/dmics-nhlt.json`.
///
/// The offsets have no unit, and offsets of zero are left out there: they are shown, and nothing is computed from them.
public struct DigitalMicrophone: Hashable, Sendable, Decodable {
  /// Counted from 0.
  public let channel: Int?
  /// "omnidirectional", or a pattern in the spelling of that program.
  public let type: String?
  /// "laptop-top-panel".
  public let location: String?
  public let horizontalOffset: Int?
  public let verticalOffset: Int?
  /// In degrees.
  public let directionAngle: Int?
  /// In degrees.
  public let elevationAngle: Int?

  enum CodingKeys: String, CodingKey {
    case channel, type, location
    case horizontalOffset = "horizontal-offset"
    case verticalOffset = "vertical-offset"
    case directionAngle = "direction-angle"
    case elevationAngle = "elevation-angle"
  }

  private struct File: Decodable {
    let mics: [DigitalMicrophone]?
  }

  /// The microphones of a `dmics-nhlt.json`; empty if `text` is not one. At most 64.
  package static func list(json text: String) -> [DigitalMicrophone] {
    let file = try? JSONDecoder().decode(File.self, from: Data(text.utf8))
    return Array((file?.mics ?? []).prefix(64))
  }
}

extension Character {
  fileprivate var isControl: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }
}

extension DigitalMicrophone: CustomStringConvertible {
  /// "channel 0: omnidirectional, laptop-top-panel, horizontal offset -40".
  public var description: String {
    let numbers: [(String, Int?)] = [
      ("horizontal offset", horizontalOffset), ("vertical offset", verticalOffset),
      ("direction", directionAngle), ("elevation", elevationAngle),
    ]
    let facts =
      [type, location].compactMap(\.self).map { String($0.filter { !$0.isControl }.prefix(40)) }
      + numbers.compactMap { name, number in number.map { "\(name) \($0)" } }
    return "channel \(channel.map(String.init) ?? "?"): " + facts.joined(separator: ", ")
  }
}
