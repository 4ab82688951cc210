import CLiblo
import Glibc

/// An OSC message: a method path and its arguments.
public struct OSCMessage: Hashable, Sendable {
  public enum Argument: Hashable, Sendable {
    case string(String)
    case integer(Int32)
    case float(Float)
    /// True (T) or false (F).
    case flag(Bool)
  }

  public let path: String
  public let arguments: [Argument]

  public init(_ path: String, _ arguments: [Argument] = []) {
    self.path = path
    self.arguments = arguments
  }

  /// All arguments as strings, so that `/pinna/set/gain` accepts strings and numbers.
  public var words: [String] {
    arguments.map {
      switch $0 {
      case .string(let text): text
      case .integer(let number): String(number)
      case .float(let number): String(number)
      case .flag(let isTrue): isTrue ? "on" : "off"
      }
    }
  }

  /// The message in OSC wire format.
  public var packet: [UInt8] {
    let message = lo_message_new()
    defer { lo_message_free(message) }
    for argument in arguments {
      switch argument {
      case .string(let text): lo_message_add_string(message, text)
      case .integer(let number): lo_message_add_int32(message, number)
      case .float(let number): lo_message_add_float(message, number)
      case .flag(true): lo_message_add_true(message)
      case .flag(false): lo_message_add_false(message)
      }
    }
    var size = 0
    guard let bytes = lo_message_serialise(message, path, nil, &size) else { return [] }
    defer { free(bytes) }
    return [UInt8](UnsafeRawBufferPointer(start: bytes, count: size))
  }

  /// Parses an untrusted packet; nil unless it is one message of strings, numbers and the tags T, F, N and I. Numbers of
  /// 64 bits (h, d) become the nearest of 32. Nil (N) and impulse (I), which buttons send, are skipped.
  ///
  /// liblo reads past the end of malicious packets. So `OSCShape` checks the packet first, and liblo gets a longer,
  /// zero-padded buffer.
  public init?(packet: some Collection<UInt8>) {
    let bytes = Array(packet)
    guard OSCShape.isPlainMessage(bytes) else { return nil }
    var padded = bytes + [UInt8](repeating: 0, count: 64)
    var status: Int32 = 0
    guard
      let message = padded.withUnsafeMutableBytes({
        lo_message_deserialise($0.baseAddress, bytes.count, &status)
      })
    else { return nil }
    defer { lo_message_free(message) }
    path = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    var read: [Argument] = []
    let types = String(cString: lo_message_get_types(message))
    let values = lo_message_get_argv(message)
    for (n, type) in types.enumerated() {
      switch type {
      case "s", "i", "f", "h", "d":
        guard let value = values?[n] else { return nil }
        read.append(Self.argument(type, UnsafeRawPointer(value)))
      case "T": read.append(.flag(true))
      case "F": read.append(.flag(false))
      case "N", "I": continue
      default: return nil
      }
    }
    arguments = read
  }

  private static func number(_ wide: Int64) -> Argument {
    Int32(exactly: wide).map { .integer($0) } ?? .float(Float(wide))
  }

  private static func argument(_ type: Character, _ raw: UnsafeRawPointer) -> Argument {
    switch type {
    case "i": .integer(raw.loadUnaligned(as: Int32.self))
    case "f": .float(raw.loadUnaligned(as: Float.self))
    case "d": .float(Float(raw.loadUnaligned(as: Double.self)))
    case "h": number(raw.loadUnaligned(as: Int64.self))
    default: .string(String(cString: raw.assumingMemoryBound(to: CChar.self)))
    }
  }
}
