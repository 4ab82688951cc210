/// A key as the view understands it.
package enum Key: Hashable, Sendable {
  case character(Character)
  case up, down, left, right, pageUp, pageDown, enter, escape, backspace
  case shiftUp, shiftDown, shiftLeft, shiftRight
  /// A key that means nothing here, so that its bytes are not taken for others.
  case other
}

/// Turns the bytes of a terminal into keys.
///
/// Thread: any; a value.
package struct KeyDecoder: Sendable {
  private var bytes: [UInt8] = []

  package init() {}

  /// Whether a sequence has begun. If no byte follows within 50 ms, call `flush`: it was the Escape key.
  package var isWaiting: Bool { !bytes.isEmpty }

  package mutating func keys(_ more: some Sequence<UInt8>) -> [Key] {
    bytes += more
    var keys: [Key] = []
    while let (key, length) = Self.first(bytes) {
      bytes.removeFirst(length)
      keys.append(key)
    }
    return keys
  }

  /// The keys in an incomplete sequence.
  package mutating func flush() -> [Key] {
    defer { bytes = [] }
    return bytes == [0x1B] ? [.escape] : bytes.isEmpty ? [] : [.other]
  }

  /// The first key and the number of its bytes; nil if bytes are missing.
  private static func first(_ bytes: [UInt8]) -> (Key, Int)? {
    guard let byte = bytes.first else { return nil }
    switch byte {
    case 0x1B: return sequence(bytes)
    case 0x0D, 0x0A: return (.enter, 1)
    case 0x7F, 0x08: return (.backspace, 1)
    case 0x20...0x7E: return (.character(Character(Unicode.Scalar(byte))), 1)
    case 0xC2...0xF4:
      let length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
      guard bytes.count >= length else { return nil }
      let text = String(decoding: bytes[..<length], as: UTF8.self)
      return (text.count == 1 && text != "\u{FFFD}" ? .character(text.first!) : .other, length)
    default: return (.other, 1)
    }
  }

  private static func sequence(_ bytes: [UInt8]) -> (Key, Int)? {
    guard bytes.count > 1 else { return nil }
    guard bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O") else { return (.escape, 1) }
    // A control sequence ends with a byte from @ to ~.
    guard let end = bytes.indices.dropFirst(2).first(where: { (0x40...0x7E).contains(bytes[$0]) }) else {
      return bytes.count > 16 ? (.other, bytes.count) : nil
    }
    let key: Key =
      switch String(decoding: bytes[2...end], as: UTF8.self) {
      case "A": .up
      case "B": .down
      case "C": .right
      case "D": .left
      case "1;2A": .shiftUp
      case "1;2B": .shiftDown
      case "1;2C": .shiftRight
      case "1;2D": .shiftLeft
      case "5~": .pageUp
      case "6~": .pageDown
      case "M": .enter
      default: .other
      }
    return (key, end + 1)
  }
}
