import Acoustics
import FilterDesign
import Messages
import Recording

/// The arguments of `record start`.
package struct TakeRequest {
  /// Path of the folder for the take; nil for the standard folder. The disk thread opens it.
  package var folder: String?
  package var options = TakeOptions()
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
      case "raw": options.raw = try Switch(word: value) == .on
      case "format": options.format = try TakeFormat(word: value)
      case "transport": followsTransport = try Switch(argument: value) == .on
      case "split-size": options.splitMegabytes = try Self.number(key, value, upTo: 1_000_000)
      case "split-minutes": options.splitMinutes = try Self.number(key, value, upTo: 10_000)
      default: throw UnknownWord(kind: "setting of a take", word: key, choices: Self.keys)
      }
    }
  }

  static let keys = ["dir", "raw", "format", "split-size", "split-minutes", "transport"]

  private static func number(_ key: String, _ text: String, upTo most: Int) throws(Failure) -> Int {
    guard let number = Int(text), (1...most).contains(number) else {
      throw Failure(.usage, "\(key) \(text) is not usable; give a whole number from 1 to \(most)")
    }
    return number
  }
}

extension TakeFormat: NamedWord {
  public static let kind = "format"
}

extension TakeSetup {
  /// The metadata of a take that begins with `setting`.
  package init(_ setting: Setting, _ bank: FilterBank) {
    self.init(
      preset: setting.preset, device: setting.device.name, dataSource: setting.selection.dataSource,
      polarPattern: setting.selection.polarPattern.rawValue,
      inputOrientation: setting.selection.inputOrientation.rawValue,
      layout: setting.layout.map { Layout(left: $0.left.rawValue, right: $0.right.rawValue) },
      gainDB: setting.gain.value, highPassHz: setting.highPass.frequency?.value, muted: setting.muted,
      microphones: bank.microphones, latencyFrames: bank.delayFrames,
      calibrated: setting.device.calibration?.date)
  }
}
