import Realtime

/// MIDI messages on their way from the process callback to the control thread.
package struct MIDIQueue: ~Copyable, @unchecked Sendable {
  // Unchecked: single producer (the callback), single consumer (the control thread).

  /// Limit on the events of one period that are looked at, of every kind. A MIDI cable carries at most 1600 messages
  /// per second, and JACK's buffer of a period holds about 2000.
  private static let eventsPerPeriod: UInt32 = 2048
  /// Two such periods.
  package static let capacity = 4096
  private let cursor = RingCursor(capacity: capacity)
  private let messages: UnsafeMutablePointer<UInt32>

  package init() { messages = .allocate(capacity: Self.capacity) }
  deinit { messages.deallocate() }

  /// Takes over the events of this period. What does not fit is dropped: the control thread has not read for long.
  ///
  /// Thread: JACK's realtime thread.
  @_noLocks @_noAllocation
  func read(_ port: OpaquePointer, _ frames: UInt32) {
    guard let buffer = RealtimeCalls.midiBuffer(port, frames) else { return }
    let reported = RealtimeCalls.midiEventCount(buffer)
    let count = reported < Self.eventsPerPeriod ? reported : Self.eventsPerPeriod
    var index: UInt32 = 0
    while index < count {
      let event = RealtimeCalls.midiEvent(buffer, at: index)
      if let bytes = event.bytes { push(bytes, count: Int(event.size)) }
      index &+= 1
    }
  }

  /// Adds the messages of one event. JACK promises one whole message per event; what programs and drivers send
  /// otherwise must set nothing by chance:
  /// - Several messages are read one by one, also in running status.
  /// - Data without a status is dropped. The status of an earlier event may be that of another program, because a port
  ///   merges all that are connected.
  /// - A message that is cut short is dropped. Realtime bytes may stand within a message.
  ///
  /// Thread: JACK's realtime thread.
  @_noLocks @_noAllocation
  package func push(_ bytes: UnsafePointer<UInt8>, count: Int) {
    // 0 while data has no status that matters.
    var status: UInt32 = 0
    var first: UInt32 = 0
    var hasFirst = false
    var at = 0
    while at < count {
      let byte = UInt32(bytes[at])
      at &+= 1
      if byte >= 0xF8 { continue }
      // A dump of any length is not read.
      if byte == 0xF0 { return }
      if byte >= 0x80 {
        status = byte < 0xF0 ? byte : 0
        hasFirst = false
      } else if status & 0xE0 == 0xC0 {
        push(status | byte << 8)
      } else if status == 0 {
        continue
      } else if hasFirst {
        push(status | first << 8 | byte << 16)
        hasFirst = false
      } else {
        first = byte
        hasFirst = true
      }
    }
  }

  /// Adds a packed message if `MIDIMessage` knows its kind and there is room.
  @_noLocks @_noAllocation
  private func push(_ packed: UInt32) {
    let kind = packed & 0xF0
    let isPressure = kind == 0xA0 || kind == 0xD0
    guard !isPressure, cursor.freeCount() > 0 else { return }
    messages[cursor.writeIndex()] = packed
    cursor.produced(1)
  }

  /// The messages since the last call, oldest first.
  ///
  /// Thread: control thread.
  package func drain() -> [MIDIMessage] {
    var drained: [MIDIMessage] = []
    while cursor.filledCount() > 0 {
      if let message = MIDIMessage(packed: messages[cursor.readIndex()]) { drained.append(message) }
      cursor.consumed(1)
    }
    return drained
  }
}
