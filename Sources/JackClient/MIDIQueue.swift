import Realtime

/// Program and control changes on their way from the process callback to the control thread.
package struct MIDIQueue: ~Copyable, @unchecked Sendable {
  // Unchecked: single producer (the callback), single consumer (the control thread).
  package static let capacity = 1024
  /// Limit on the events of one period that are looked at, of every kind. A MIDI cable carries at most 1600 messages per
  /// second, and JACK's buffer of a period holds about 2000.
  private static let eventsPerPeriod: UInt32 = 2048
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
      push(RealtimeCalls.midiMessage(buffer, at: index))
      index &+= 1
    }
  }

  /// Adds a packed message if it is a program or control change and there is room.
  ///
  /// Thread: JACK's realtime thread.
  @_noLocks @_noAllocation
  package func push(_ packed: UInt32) {
    let kind = packed & 0xF0
    guard kind == 0xB0 || kind == 0xC0, cursor.freeCount() > 0 else { return }
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
