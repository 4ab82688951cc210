import CLiblo
import Glibc

/// One OSC message: a method and its arguments.
public struct OSCMessage: Hashable, Sendable {
  public enum Argument: Hashable, Sendable {
    case string(String)
    case integer(Int32)
    case float(Float)
  }

  public let path: String
  public let arguments: [Argument]

  public init(_ path: String, _ arguments: [Argument] = []) {
    self.path = path
    self.arguments = arguments
  }

  /// The words among the arguments; numbers become words, so that `/pinna/set/gain` takes both.
  public var words: [String] {
    arguments.map {
      switch $0 {
      case .string(let text): text
      case .integer(let number): String(number)
      case .float(let number): String(number)
      }
    }
  }

  /// The packet for this message.
  public var packet: [UInt8] {
    let message = lo_message_new()
    defer { lo_message_free(message) }
    for argument in arguments {
      switch argument {
      case .string(let text): lo_message_add_string(message, text)
      case .integer(let number): lo_message_add_int32(message, number)
      case .float(let number): lo_message_add_float(message, number)
      }
    }
    var size = 0
    guard let bytes = lo_message_serialise(message, path, nil, &size) else { return [] }
    defer { free(bytes) }
    return [UInt8](UnsafeRawBufferPointer(start: bytes, count: size))
  }

  /// Reads a packet that anyone may have sent; nil where it is not one plain message of strings, integers, floats and
  /// words (T, F, N, I). True and false read as on and off; nothing (N) and an impulse (I), which a button sends, carry
  /// nothing and are passed over.
  /// - Parameter limit: on the packet's bytes.
  ///
  /// liblo reads past the end of hostile packets, so that the shape is checked before, and the packet stands in
  /// a longer, zeroed buffer.
  public init?(packet: some Collection<UInt8>, limit: Int = 65_536) {
    let bytes = Array(packet)
    guard OSCShape.isPlainMessage(bytes, limit: limit) else { return nil }
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
      case "s", "i", "f":
        guard let value = values?[n] else { return nil }
        read.append(Self.argument(type, UnsafeRawPointer(value)))
      case "T": read.append(.string("on"))
      case "F": read.append(.string("off"))
      case "N", "I": continue
      default: return nil
      }
    }
    arguments = read
  }

  private static func argument(_ type: Character, _ raw: UnsafeRawPointer) -> Argument {
    switch type {
    case "i": .integer(raw.loadUnaligned(as: Int32.self))
    case "f": .float(raw.loadUnaligned(as: Float.self))
    default: .string(String(cString: raw.assumingMemoryBound(to: CChar.self)))
    }
  }
}
