/// Validates the structure of an OSC packet before liblo parses it.
///
/// Thread: any.
enum OSCShape {
  /// In bytes.
  static let longestPacket = 65_536
  static let maxArguments = 64

  /// Whether the packet is one message rather than a bundle: a path, a type tag string of s, i, f, T, F, N and I, and
  /// exactly the arguments that the tags announce.
  /// - Parameter limit: maximum length, in bytes.
  static func isPlainMessage(_ bytes: [UInt8], limit: Int = longestPacket) -> Bool {
    guard bytes.count >= 8, bytes.count % 4 == 0, bytes.count <= limit, bytes[0] == UInt8(ascii: "/")
    else { return false }
    var at = 0
    guard let path = skipString(bytes, &at), path.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return false }
    guard at < bytes.count, bytes[at] == UInt8(ascii: ","), let tags = skipString(bytes, &at) else {
      return false
    }
    guard tags.count - 1 <= maxArguments else { return false }
    for tag in tags.dropFirst() {
      switch tag {
      case UInt8(ascii: "s"): guard skipString(bytes, &at) != nil else { return false }
      case UInt8(ascii: "i"), UInt8(ascii: "f"): at += 4
      case UInt8(ascii: "T"), UInt8(ascii: "F"), UInt8(ascii: "N"), UInt8(ascii: "I"): break
      default: return false
      }
      guard at <= bytes.count else { return false }
    }
    return at == bytes.count
  }

  /// Reads the string at `at` and advances `at` to the next multiple of four; nil if the string is not terminated or
  /// its padding is not zero.
  private static func skipString(_ bytes: [UInt8], _ at: inout Int) -> ArraySlice<UInt8>? {
    guard at < bytes.count, let end = bytes[at...].firstIndex(of: 0) else { return nil }
    let text = bytes[at..<end]
    let next = (end + 4) / 4 * 4
    guard next <= bytes.count, bytes[end..<next].allSatisfy({ $0 == 0 }) else { return nil }
    at = next
    return text
  }
}
