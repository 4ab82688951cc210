import FoundationEssentials
import Text

/// A digital microphone of a laptop, as its firmware describes it (ACPI table NHLT, vendor-defined microphone
/// configuration). ALSA's use-case manager stores that with `nhlt-dmic-info` as `cardN.conf.d/dmics-nhlt.json`.
///
/// `nhlt-dmic-info` leaves out what is zero. Of arrays that the table only names, two or four microphones in a line, it
/// writes nothing.
public struct DigitalMicrophone: Hashable, Sendable, Decodable {
  /// Counted from 0.
  public let channel: Int?
  /// "omnidirectional", or a pattern in the spelling of that program.
  public let type: String?
  /// "laptop-top-panel".
  public let location: String?
  /// In millimetres, like the vertical offset (ACPICA, actbl2.h).
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
  ///
  /// The file has a JSON document for each endpoint of the table, usually the same microphones at two sample rates; the
  /// first counts.
  package static func list(json text: String) -> [DigitalMicrophone] {
    let first = text.firstRange(of: "}\n{").map { String(text[..<$0.lowerBound]) + "}" } ?? text
    let file = try? JSONDecoder().decode(File.self, from: Data(first.utf8))
    return Array((file?.mics ?? []).prefix(64))
  }
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
