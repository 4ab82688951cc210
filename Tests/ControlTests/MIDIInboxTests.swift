import Control
import JackClient
import Presets
import Testing

@Suite("MIDI messages on their way to the control thread") struct MIDIInboxTests {
  static let fader = MIDIMap.Controller(number: 7, target: .gain)
  static let mute = MIDIMap.Controller(number: 64, target: .mute)
  static let map = MIDIMap(channel: 2, controllers: [fader, mute])

  @Test("of a fader that moves only the newest value counts; a program replaces what its preset sets")
  func newest() {
    var inbox = MIDIInbox()
    inbox.add(
      [
        .programChange(channel: 2, program: 1), .controlChange(channel: 2, controller: 7, value: 10),
        .controlChange(channel: 2, controller: 64, value: 127),
        .controlChange(channel: 2, controller: 7, value: 11),
      ], Self.map)
    #expect(
      inbox.events == [.program(1), .controller(Self.mute, value: 127), .controller(Self.fader, value: 11)])
    inbox.add([.programChange(channel: 2, program: 5)], Self.map)
    #expect(inbox.events == [.controller(Self.mute, value: 127), .program(5)])
  }

  @Test("a program change leaves a take's start and end alone")
  func record() {
    var inbox = MIDIInbox()
    let record = MIDIMap.Controller(number: 30, target: .record)
    inbox.add(
      [.controlChange(channel: 1, controller: 30, value: 127), .programChange(channel: 1, program: 5)],
      MIDIMap(controllers: [record]))
    #expect(inbox.events == [.controller(record, value: 127), .program(5)])
  }

  @Test(
    "the queue between callback and control thread keeps its capacity, in order, and nothing but what counts")
  func queue() {
    let queue = MIDIQueue()
    queue.push(0x403090)  // a note
    for n in 0..<MIDIQueue.capacity + 10 { queue.push(0xB1 | 7 << 8 | UInt32(n % 128) << 16) }
    let drained = queue.drain()
    #expect(drained.count == MIDIQueue.capacity)
    #expect(
      drained.enumerated().allSatisfy {
        $1 == .controlChange(channel: 2, controller: 7, value: $0 % 128)
      })
    queue.push(0x05CF)
    #expect(queue.drain() == [.programChange(channel: 16, program: 5)] && queue.drain() == [])
  }

  @Test("other channels and controllers without a map are ignored")
  func ignored() {
    var inbox = MIDIInbox()
    inbox.add(
      [
        .programChange(channel: 1, program: 1), .controlChange(channel: 3, controller: 7, value: 1),
        .controlChange(channel: 2, controller: 8, value: 1),
      ], Self.map)
    #expect(inbox.events == [])
  }

  @Test("what must wait stays, and does not hold up what is behind it")
  func waiting() {
    var inbox = MIDIInbox()
    inbox.add(
      [.programChange(channel: 2, program: 3), .controlChange(channel: 2, controller: 7, value: 1)], Self.map)
    let isFader = { (event: MIDIInbox.Event) in event == .controller(Self.fader, value: 1) }
    #expect(inbox.pop(where: isFader) == .controller(Self.fader, value: 1))
    #expect(inbox.pop(where: isFader) == nil)
    #expect(inbox.events == [.program(3)])
  }
}
