import Control
import JackClient
import Presets
import TestSupport
import Testing

@Suite("MIDI messages on their way to the control thread") struct MIDIInboxTests {
  static let fader = MIDIMap.Controller(.controller(7), .setting(.gain))
  static let mute = MIDIMap.Controller(.controller(64), .setting(.mute))
  static let map = MIDIMap(channel: 2, controllers: [fader, mute])

  static func control(_ controller: Int, _ value: Int, channel: Int = 2) -> MIDIMessage {
    .controlChange(channel: channel, controller: controller, value: value)
  }

  /// What remains of `messages` in an inbox.
  static func events(_ messages: [MIDIMessage], _ map: MIDIMap) -> [MIDIInbox.Event] {
    var inbox = MIDIInbox()
    inbox.add(messages, map)
    return inbox.events
  }

  /// The messages that a queue makes of one event of JACK.
  static func messages(_ bytes: [UInt8]) -> [MIDIMessage] {
    let queue = MIDIQueue()
    queue.push(bytes, count: bytes.count)
    return queue.drain()
  }

  @Test("of a fader that moves only the newest value counts; a program replaces what its preset sets")
  func newest() {
    var inbox = MIDIInbox()
    inbox.add(
      [
        .programChange(channel: 2, program: 1), Self.control(7, 10), Self.control(64, 127),
        Self.control(7, 11),
      ], Self.map)
    #expect(inbox.events == [.program(1), .position(Self.mute, 127), .position(Self.fader, 11)])
    inbox.add([.programChange(channel: 2, program: 5)], Self.map)
    #expect(inbox.events == [.position(Self.mute, 127), .program(5)])
  }

  @Test("a program change replaces no change of a feed, which its preset may leave alone")
  func feeds() {
    let fader = MIDIMap.Controller(.controller(8), .setting(.gain), of: "anna")
    let events = Self.events(
      [
        Self.control(8, 10), Self.control(7, 10), .programChange(channel: 2, program: 5), Self.control(8, 11),
      ],
      MIDIMap(controllers: [fader, Self.fader]))
    #expect(events == [.program(5), .position(fader, 11)])
  }

  @Test("a program change leaves a take's start, end and markers alone")
  func record() {
    let record = MIDIMap.Controller(.controller(30), .record)
    let marker = MIDIMap.Controller(.note(36), .marker)
    let events = Self.events(
      [
        Self.control(30, 127), .note(channel: 1, note: 36, velocity: 1),
        .programChange(channel: 1, program: 5),
      ],
      MIDIMap(controllers: [record, marker]))
    #expect(events == [.position(record, 127), .presses(marker, 1), .program(5)])
  }

  @Test("the queue between callback and control thread keeps its capacity, in order")
  func queue() {
    let queue = MIDIQueue()
    for n in 0..<MIDIQueue.capacity + 10 { queue.push([0xB1, 7, UInt8(n % 128)], count: 3) }
    let drained = queue.drain()
    #expect(drained.count == MIDIQueue.capacity)
    #expect(drained.enumerated().allSatisfy { $1 == Self.control(7, $0 % 128) })
    queue.push([0xCF, 5], count: 2)
    #expect(queue.drain() == [.programChange(channel: 16, program: 5)] && queue.drain() == [])
  }

  @Test("other channels, and controllers and notes without a map, are ignored")
  func ignored() {
    let events = Self.events(
      [
        .programChange(channel: 1, program: 1), Self.control(7, 1, channel: 3), Self.control(8, 1),
        .note(channel: 2, note: 7, velocity: 100), .pitchBend(channel: 2),
      ], Self.map)
    #expect(events == [])
  }

  @Test("what must wait stays, and does not hold up what is behind it")
  func waiting() {
    var inbox = MIDIInbox()
    inbox.add([.programChange(channel: 2, program: 3), Self.control(7, 1)], Self.map)
    let isFader = { (event: MIDIInbox.Event) in event == .position(Self.fader, 1) }
    #expect(inbox.pop(where: isFader) == .position(Self.fader, 1))
    #expect(inbox.pop(where: isFader) == nil)
    #expect(inbox.events == [.program(3)])
  }

  // MARK: What devices really send

  @Test(
    "R53: of odd events whole messages count, and nothing is set by what is cut short, or lacks a status",
    arguments: [
      // Running status within an event, as a raw port delivers it.
      ([0xB1, 7, 10, 7, 11, 64, 127], [control(7, 10), control(7, 11), control(64, 127)]),
      ([0xC1, 3, 4], [.programChange(channel: 2, program: 3), .programChange(channel: 2, program: 4)]),
      // Several messages, with the clock in their midst.
      ([0xB1, 7, 0xF8, 10, 0xFE, 0xC1, 3], [control(7, 10), .programChange(channel: 2, program: 3)]),
      ([0x91, 36, 100, 36, 0], [note(36, 100), note(36, 0)]),
      // Without a status: that of another event may be of another program.
      ([7, 10], []),
      // Cut short; followed by another message; with a status where data belongs.
      ([0xB1, 7], []), ([0xB1], []), ([], []),
      ([0xB1, 7, 0x91, 36, 100], [note(36, 100)]),
      ([0xB1, 7, 0xF4, 10], []),
      // A dump and what is in it.
      ([0xF0, 0x7D, 0xB1, 7, 10, 0xF7], []), ([0xF0, 7, 10, 7, 10], []),
      // Pressure of keys and of the channel.
      ([0xA1, 36, 100, 0xD1, 3, 4, 0xB1, 7, 1], [control(7, 1)]),
    ] as [([UInt8], [MIDIMessage])])
  func odd(bytes: [UInt8], expected: [MIDIMessage]) {
    #expect(Self.messages(bytes) == expected)
  }

  /// PipeWire 1.4 passes on a dump of 300 bytes as 50 events of six.
  @Test("R53: a dump in pieces of any length sets nothing, and messages after it count", arguments: 1...7)
  func pieces(length: Int) {
    let dump: [UInt8] = [0xF0] + (0..<298).map { UInt8($0 % 128) } + [0xF7]
    let queue = MIDIQueue()
    for start in stride(from: 0, to: dump.count, by: length) {
      let piece = Array(dump[start..<min(start + length, dump.count)])
      queue.push(piece, count: piece.count)
    }
    #expect(queue.drain() == [])
    queue.push([0xB1, 7, 10], count: 3)
    #expect(queue.drain() == [Self.control(7, 10)])
  }

  static func note(_ note: Int, _ velocity: Int) -> MIDIMessage {
    .note(channel: 2, note: note, velocity: velocity)
  }

  @Test("R53: a pad acts when it is pressed and not when it is released, in both spellings of a release")
  func pads() {
    let orientation = MIDIMap.Controller(.note(36), .setting(.orientation))
    let map = MIDIMap(controllers: [orientation])
    #expect(Self.events(Self.messages([0x99, 36, 100, 0x89, 36, 64]), map) == [.presses(orientation, 1)])
    #expect(Self.events(Self.messages([0x99, 36, 1, 36, 0]), map) == [.presses(orientation, 1)])
    #expect(Self.events(Self.messages([0x89, 36, 127, 0x99, 36, 0]), map) == [])
    // A choice waits for the fade of the one before: presses are counted.
    #expect(
      Self.events(Self.messages([0x99, 36, 1, 36, 1, 36, 0, 36, 1]), map) == [.presses(orientation, 3)])
  }

  @Test(
    "R53: a button marks once per press: with a release, without one, and while its pressure changes",
    arguments: [
      ([127, 0, 127, 0], 2), ([127, 127, 127], 3), ([64, 70, 90, 127, 100, 20, 0], 1), ([0, 0], 0), ([63], 0),
    ])
  func buttons(values: [Int], presses: Int) {
    let marker = MIDIMap.Controller(.controller(20), .marker)
    let events = Self.events(values.map { Self.control(20, $0) }, MIDIMap(controllers: [marker]))
    #expect(events == [MIDIInbox.Event](repeating: .presses(marker, 1), count: presses))
  }

  @Test("R53: a flood leaves one event per fader and encoder, its newest position or all its clicks")
  func flood() {
    var inbox = MIDIInbox()
    let encoder = MIDIMap.Controller(.controller(16), .setting(.gain), encoding: .binaryOffset)
    let map = MIDIMap(controllers: [Self.fader, encoder])
    var random = SeededNoise(seed: 53)
    var clicks = 0
    let count = 100_000
    for n in 0..<count {
      // Within what is counted exactly.
      let turn = Int.random(in: -3...3, using: &random)
      clicks += turn
      inbox.add([Self.control(7, n % 128), Self.control(16, 64 + turn)], map)
    }
    let kept = Set(inbox.events) == [.position(Self.fader, (count - 1) % 128), .clicks(encoder, clicks)]
    #expect(kept && inbox.events.count == 2, "\(inbox.events)")
    Faults.report(
      "R53", done: "\(2 * count) messages of a fader and an encoder at once: what waits",
      measured: "\(inbox.events.count) events", limit: "2 events", kept: kept)
  }
}
