/// A MIDI channel message that Pinna reacts to. A value; any thread.
public enum MIDIMessage: Hashable, Sendable {
  /// `channel` from 1 to 16, `program` from 0 to 127 as on the wire.
  case programChange(channel: Int, program: Int)
  /// `channel` from 1 to 16, `controller` and `value` from 0 to 127.
  case controlChange(channel: Int, controller: Int, value: Int)
  /// `channel` from 1 to 16, `note` and `velocity` from 0 to 127. A velocity of 0 is the note's end.
  case note(channel: Int, note: Int, velocity: Int)
  /// Changes nothing; `midi learn` says that it was heard.
  case pitchBend(channel: Int)

  /// - Parameter packed: the status byte in the lowest 8 bits, the data bytes above it. Nil for other messages.
  init?(packed: UInt32) {
    let channel = Int(packed & 0x0F) + 1
    let (first, second) = (Int(packed >> 8 & 0x7F), Int(packed >> 16 & 0x7F))
    switch packed & 0xF0 {
    case 0x80: self = .note(channel: channel, note: first, velocity: 0)
    case 0x90: self = .note(channel: channel, note: first, velocity: second)
    case 0xB0: self = .controlChange(channel: channel, controller: first, value: second)
    case 0xC0: self = .programChange(channel: channel, program: first)
    case 0xE0: self = .pitchBend(channel: channel)
    default: return nil
    }
  }

  public var channel: Int {
    switch self {
    case .programChange(let channel, _), .controlChange(let channel, _, _), .note(let channel, _, _),
      .pitchBend(let channel):
      channel
    }
  }
}
