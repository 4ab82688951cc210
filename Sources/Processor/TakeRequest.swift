import Acoustics
import FilterDesign
import Messages
import Recording
import Settings
import Text

/// The arguments of `record start`.
package struct TakeRequest {
  /// Path of the folder for the take; nil for the standard folder. The disk thread opens it.
  package var folder: String?
  package var options = TakeOptions()
  /// Names of the feeds that it records, `main` among them; nil for all that are heard, empty for all.
  var feeds: [String]?
  /// Whether the take begins and ends with JACK's transport.
  var followsTransport = false

  /// - Parameter words: nothing, a folder, or pairs of key and value.
  /// - Throws: if a key is unknown or a value invalid.
  package init(words: [String]) throws {
    if words.count == 1 { folder = words[0] }
    guard words.count > 1 else { return }
    for (key, value) in stride(from: 0, to: words.count - 1, by: 2).map({ (words[$0], words[$0 + 1]) }) {
      switch key {
      case "dir": folder = value
      case "feeds":
        let names = value.split(separator: ",").map { String($0.filter { $0 != " " }) }
        guard !names.isEmpty else {
          throw Failure(.usage, "a take of no feeds is not possible; name some, such as main,anna, or all")
        }
        feeds = names.contains { $0.lowercased() == "all" } ? [] : names
      case "raw": options.raw = try Switch(word: value) == .on
      case "format": options.format = try TakeFormat(word: value)
      case "transport": followsTransport = try Switch(argument: value) == .on
      case "for": options.length = try Self.length(value)
      case "split-size": options.splitMegabytes = try Self.number(key, value, upTo: 1_000_000)
      case "split-minutes": options.splitMinutes = try Self.number(key, value, upTo: 10_000)
      default: throw UnknownWord(kind: "setting of a take", word: key, choices: Self.keys)
      }
    }
  }

  static let keys = ["dir", "feeds", "raw", "format", "for", "split-size", "split-minutes", "transport"]

  /// The longest take that ends by itself, in hours.
  private static let mostHours = 1000

  /// Seconds of "3h", "90min", "1h30m" or "45s".
  private static func length(_ text: String) throws(Failure) -> Int {
    let parts = text.wholeMatch(of: /(?:([0-9]{1,7})h)?(?:([0-9]{1,7})m(?:in)?)?(?:([0-9]{1,7})s)?/)?.output
    let (hours, minutes, seconds) = (parts?.1, parts?.2, parts?.3)
    func number(_ digits: Substring?) -> Int { digits.flatMap { Int($0) } ?? 0 }
    let length = 3600 * number(hours) + 60 * number(minutes) + number(seconds)
    guard (1...3600 * mostHours).contains(length) else {
      throw Failure(
        .usage,
        "\(text.quoted) is not a length for a take; give a time of at most \(mostHours) hours, such as 3h, 90min, "
          + "1h30min or 45s"
      )
    }
    return length
  }

  private static func number(_ key: String, _ text: String, upTo most: Int) throws(Failure) -> Int {
    guard let number = Int(text), (1...most).contains(number) else {
      throw Failure(.usage, "\(key) \(text.quoted) is not usable; give a whole number from 1 to \(most)")
    }
    return number
  }
}

extension TakeFormat: NamedWord {
  public static let kind = "format"
}

extension TakeCircumstances.Layout {
  /// Nil for anything but stereo.
  package init?(_ feed: FeedSetting, of device: Device) {
    guard let layout = feed.selection.layout(on: device) else { return nil }
    self.init(
      left: layout.sides?.left ?? layout.left.rawValue, right: layout.sides?.right ?? layout.right.rawValue)
  }
}

extension TakeSetup {
  /// The metadata of a take that begins with `setting`.
  /// - Parameter pinna: the name of the Pinna that records it.
  package init(_ setting: Setting, _ bank: FilterBank, pinna: String) {
    self.init(
      FeedValues(setting.main.reported),
      TakeCircumstances(
        preset: setting.preset, device: setting.device.name,
        layout: .init(setting.main, of: setting.device), microphones: bank.microphones,
        latencyFrames: bank.delayFrames, calibrated: setting.device.calibration?.date, pinna: pinna,
        array: RecordedDevice(setting.device) { bank.files[$0] }, seats: setting.seats))
  }
}
