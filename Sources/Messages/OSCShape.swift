/// Validates the structure of an OSC packet before liblo parses it.
package enum OSCShape {
  /// In bytes.
  package static let longestPacket = 65_536
  static let maxArguments = 128
  /// How deep bundles may be nested.
  static let maxDepth = 4
  /// Maximum number of messages in a bundle, including those of nested bundles.
  static let maxMessages = 64
  /// The time tag that means "at once".
  static let immediately: UInt64 = 1

  /// Where the messages of a packet are.
  struct Outline {
    var messages: [Range<Int>] = []
    /// The latest time tag of its bundles: NTP time in 1/2³² s.
    var timeTag = OSCShape.immediately
  }

  /// The outline of a packet: one message, or a bundle of at least one. Nil if the packet is malformed, apart from the
  /// messages themselves, which `isPlainMessage` checks.
  static func outline(_ bytes: [UInt8]) -> Outline? {
    var outline = Outline()
    guard bytes.count <= longestPacket, collect(bytes, bytes.indices, depth: 0, into: &outline),
      !outline.messages.isEmpty
    else { return nil }
    return outline
  }

  private static let bundleMark = Array("#bundle\0".utf8)

  /// Adds the messages of the bundle or message in `range`; false if it is malformed or exceeds a limit.
  private static func collect(_ bytes: [UInt8], _ range: Range<Int>, depth: Int, into outline: inout Outline)
    -> Bool
  {
    guard bytes[range].starts(with: bundleMark) else {
      outline.messages.append(range)
      return outline.messages.count <= maxMessages
    }
    guard depth < maxDepth, range.count >= 16 else { return false }
    outline.timeTag = max(outline.timeTag, number(bytes, range.lowerBound + 8, bytes: 8))
    var at = range.lowerBound + 16
    while at < range.upperBound {
      guard range.upperBound - at >= 4 else { return false }
      let size = Int(number(bytes, at, bytes: 4))
      at += 4
      guard size > 0, size % 4 == 0, size <= range.upperBound - at,
        collect(bytes, at..<at + size, depth: depth + 1, into: &outline)
      else { return false }
      at += size
    }
    return true
  }

  /// A big-endian number.
  private static func number(_ bytes: [UInt8], _ at: Int, bytes count: Int) -> UInt64 {
    bytes[at..<at + count].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Whether the packet is one message rather than a bundle: a path, a type tag string of s, i, f, h, d, T, F, N and I,
  /// and exactly the arguments that the tags announce.
  static func isPlainMessage(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 8, bytes.count % 4 == 0, bytes.count <= longestPacket, bytes[0] == UInt8(ascii: "/")
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
      case UInt8(ascii: "h"), UInt8(ascii: "d"): at += 8
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
