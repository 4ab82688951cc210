/// A MIDI channel message that Pinna reacts to. A value; any thread.
public enum MIDIMessage: Hashable, Sendable {
  /// `channel` from 1 to 16, `program` from 0 to 127 as on the wire.
  case programChange(channel: Int, program: Int)
  /// `channel` from 1 to 16, `controller` and `value` from 0 to 127.
  case controlChange(channel: Int, controller: Int, value: Int)

  /// - Parameter packed: the status byte in the lowest 8 bits, the data bytes above it. Nil for other messages.
  init?(packed: UInt32) {
    let channel = Int(packed & 0x0F) + 1
    let (first, second) = (Int(packed >> 8 & 0x7F), Int(packed >> 16 & 0x7F))
    switch packed & 0xF0 {
    case 0xC0: self = .programChange(channel: channel, program: first)
    case 0xB0: self = .controlChange(channel: channel, controller: first, value: second)
    default: return nil
    }
  }

  public var channel: Int {
    switch self {
    case .programChange(let channel, _), .controlChange(let channel, _, _): channel
    }
  }
}
