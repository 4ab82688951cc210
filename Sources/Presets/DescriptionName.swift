import Acoustics

/// The names that description files give to things, and those that the files themselves bear.
public enum DescriptionName {
  public static let limit = 32
  /// Ports of Pinna's own, which no microphone may be called.
  static let ownPorts = ["out_left", "out_right", "control"]

  /// Whether `name` may be part of a JACK port name and of an OSC path: letters and digits of ASCII, and
  /// - _ . between them.
  public static func isValid(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    guard (1...limit).contains(bytes.count), bytes[0] != UInt8(ascii: "."), bytes[0] != UInt8(ascii: "-")
    else {
      return false
    }
    return bytes.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
        true
      default: false
      }
    }
  }

  /// "phone5" for "/a/b/phone5.yaml".
  static func of(path: String) -> String {
    let file = path.split(separator: "/").last.map(String.init) ?? path
    return file.hasSuffix(".yaml") ? String(file.dropLast(5)) : file
  }
}

extension YAMLReader {
  /// Refuses a key that is not a valid name, or that another one equals but for its case.
  func checkName(_ name: String, among earlier: [String]) throws(DescriptionError) {
    guard DescriptionName.isValid(name) else {
      throw failure(
        "is not a valid name; use 1 to \(DescriptionName.limit) letters, digits, - _ and ., "
          + "beginning with a letter, digit or _")
    }
    if let other = earlier.first(where: { $0.lowercased() == name.lowercased() }) {
      throw failure("has the name of \(other) but for its case; choose another")
    }
  }
}
