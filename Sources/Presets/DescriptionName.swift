import Acoustics

/// Names of device and preset files, and names that these files define.
public enum DescriptionName {
  public static let limit = 32
  /// Pinna's own JACK ports, whose names no microphone may have.
  static let ownPorts = ["out_left", "out_right", "control"]

  /// Whether `name` is safe in a JACK port name and an OSC path: ASCII letters, digits, - _ and ., with no - or . at
  /// the beginning.
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

  /// File name extensions of description files. If a name exists with both, the first is read.
  public static let extensions = [".yaml", ".yml"]

  /// "phone5" for "phone5.yaml"; nil if the file has another extension.
  static func of(file: String) -> String? {
    extensions.first(where: file.hasSuffix).map { String(file.dropLast($0.count)) }
  }

  /// "phone5" for "/a/b/phone5.yaml".
  static func of(path: String) -> String {
    let file = path.split(separator: "/").last.map(String.init) ?? path
    return of(file: file) ?? file
  }
}

extension YAMLReader {
  /// Refuses a key that is not a valid name, or that differs from an earlier key only in case.
  func checkName(_ name: String, among earlier: [String]) throws(DescriptionError) {
    guard DescriptionName.isValid(name) else {
      throw failure(
        "is not a valid name; use 1 to \(DescriptionName.limit) letters, digits, - _ and ., "
          + "beginning with a letter, digit or _")
    }
    if let other = earlier.first(where: { $0.lowercased() == name.lowercased() }) {
      throw failure("differs from \(other) only in case; choose another name")
    }
  }
}
