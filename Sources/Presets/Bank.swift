import Acoustics

/// Presets in the order of MIDI program numbers.
public struct Bank: Hashable, Sendable {
  /// The name of the bank file without its extension; nil for all presets in the order of their names.
  public let name: String?
  public let title: String
  /// Names of presets; the first is program 1 (0 on the wire).
  public let presets: [String]

  /// MIDI has 128 programs.
  public static let maxPresets = 128

  public init(name: String?, title: String, presets: [String]) {
    self.name = name
    self.title = title
    self.presets = presets
  }
}

/// Reads and writes a bank file.
///
/// ```yaml
/// title: Evening at the theatre
/// presets: [phone5, ring7]
/// ```
public enum BankFile {
  /// The text of a bank file for `bank`.
  public static func text(of bank: Bank) -> String {
    "title: \(yamlString(bank.title))\npresets: [\(bank.presets.map(yamlString).joined(separator: ", "))]\n"
  }

  /// Reads a bank, which is named after the file. Whether its presets exist is not checked.
  public static func read(_ reader: YAMLReader) throws(DescriptionError) -> Bank {
    let fields = try reader.fields(["title", "presets"])
    let title = try fields.required("title", example: "My bank").string()
    let list = try fields.required("presets", example: "[phone5, ring7]")
    let presets = try list.elements(1...Bank.maxPresets, "presets") { (name) throws(DescriptionError) in
      try name.string()
    }
    return Bank(name: reader.fileName, title: title, presets: presets)
  }
}
