import Control
import JackClient
import Messages
import Presets
import Processor
import Settings

/// Events as JACK delivers them, made of any bytes: a length from 0 to 15, then so many bytes, and so on.
struct MIDIEvents {
  private let events: [[UInt8]]

  init(_ input: [UInt8]) {
    var (rest, events) = (input[...], [[UInt8]]())
    while let length = rest.popFirst() {
      events.append(Array(rest.prefix(Int(length % 16))))
      rest = rest.dropFirst(Int(length % 16))
    }
    self.events = events
  }

  private static let encoders: [(number: Int, encoding: MIDIMap.RelativeEncoding)] = [
    (16, .twosComplement), (17, .binaryOffset), (18, .signBit),
  ]
  private static let map = MIDIMap(
    controllers: encoders.map { .init(.controller($0.number), .setting(.gain), encoding: $0.encoding) } + [
      .init(.controller(7), .setting(.gain)), .init(.controller(20), .setting(.pattern)),
      .init(.controller(21), .marker),
      .init(.controller(12), .lookAzimuth), .init(.controller(13), .lookElevation),
      .init(.controller(64), .setting(.mute)), .init(.note(36), .record),
      .init(.note(37), .setting(.orientation)),
      .init(.note(38), .marker),
    ])

  /// - Throws: a refusal if there is no message, or a finding.
  func check() throws {
    let queue = MIDIQueue()
    for event in events { queue.push(event, count: event.count) }
    let messages = queue.drain()
    let expected = events.flatMap(Self.messages)
    guard messages == Array(expected.prefix(MIDIQueue.capacity)) else {
      throw FuzzFinding(description: "read \(messages) of \(events)")
    }
    guard !messages.isEmpty else { throw Failure(.usage, "no message") }
    try checkInbox(messages)
    try checkLearner(messages)
  }

  // MARK: What an event says, by its definition

  /// The messages of one event: each data byte belongs to the status before it, and every second one, of programs each,
  /// completes a message.
  private static func messages(_ event: [UInt8]) -> [MIDIMessage] {
    let bytes = event.prefix { $0 != 0xF0 }.filter { $0 < 0xF8 }
    return bytes.indices.compactMap { at in
      guard bytes[at] < 0x80, let start = bytes[..<at].lastIndex(where: { $0 >= 0x80 }) else { return nil }
      let (status, place) = (Int(bytes[start]), at - start)
      let channel = status % 16 + 1
      if status / 16 == 0xC { return .programChange(channel: channel, program: Int(bytes[at])) }
      guard place % 2 == 0 else { return nil }
      let (first, second) = (Int(bytes[at - 1]), Int(bytes[at]))
      switch status / 16 {
      case 0x8: return .note(channel: channel, note: first, velocity: 0)
      case 0x9: return .note(channel: channel, note: first, velocity: second)
      case 0xB: return .controlChange(channel: channel, controller: first, value: second)
      case 0xE: return .pitchBend(channel: channel)
      default: return nil
      }
    }
  }

  // MARK: What it does

  private func checkInbox(_ messages: [MIDIMessage]) throws {
    var inbox = MIDIInbox()
    inbox.add(messages, Self.map)
    var (presses, clicks) = ([MIDIMap.Source: Int](), [MIDIMap.Source: Int]())
    for event in inbox.events {
      switch event {
      case .program(let program):
        guard messages.contains(where: { if case .programChange(_, program) = $0 { true } else { false } })
        else {
          throw FuzzFinding(description: "a program that nobody sent: \(event)")
        }
      case .position(let controller, let wire):
        guard values(controller.source, messages).last == wire else {
          throw FuzzFinding(description: "not the newest position: \(event)")
        }
        try Self.check(
          controller.effect(at: wire, last: nil, present: "0", dataSources: ["Front"]), controller)
      case .clicks(let controller, let count):
        clicks[controller.source, default: 0] += count
        try Self.check(controller.effect(clicks: count, present: "0", dataSources: ["Front"]), controller)
      case .presses(let controller, let count): presses[controller.source, default: 0] += count
      }
    }
    for (source, count) in presses where count > values(source, messages).count {
      throw FuzzFinding(description: "\(count) presses of \(source) in \(messages)")
    }
    // A program change replaces what encoders did before it, and the sum has an end at 10 000.
    let isWhole =
      messages.count <= 150 && !messages.contains { if case .programChange = $0 { true } else { false } }
    for (number, encoding) in Self.encoders where isWhole {
      let sum = values(.controller(number), messages).reduce(0) { $0 + Self.decode($1, encoding) }
      guard clicks[.controller(number), default: 0] == sum else {
        throw FuzzFinding(description: "\(clicks) of \(messages)")
      }
    }
  }

  /// Values of a controller, or velocities of pressed notes.
  private func values(_ source: MIDIMap.Source, _ messages: [MIDIMessage]) -> [Int] {
    messages.compactMap {
      switch $0 {
      case .controlChange(_, let number, let value): source == .controller(number) ? value : nil
      case .note(_, let note, let velocity): source == .note(note) && velocity > 0 ? velocity : nil
      default: nil
      }
    }
  }

  private static func decode(_ value: Int, _ encoding: MIDIMap.RelativeEncoding) -> Int {
    switch encoding {
    case .twosComplement: value & 0x3F - value & 0x40
    case .binaryOffset: value - 0x40
    case .signBit: value & 0x40 == 0 ? value : -(value & 0x3F)
    }
  }

  static func check(_ effect: MIDIEffect, _ controller: MIDIMap.Controller) throws {
    guard case .set(let value) = effect else { return }
    switch controller.target {
    case .setting(.gain): try parse(value) { _ = try Change(.gain, value) }
    case .lookAzimuth: try parse(value) { _ = try Change(.look, value) }
    case .lookElevation: try parse(value) { _ = try Change(.look, "0," + value) }
    case .setting(.mute), .record: try parse(value) { _ = try Switch(argument: value) }
    case .marker:
      if !value.isEmpty { throw FuzzFinding(description: "a marker with a value: \(value)") }
    case .setting(.orientation), .setting(.pattern), .setting(.dataSource), .setting:
      if value.isEmpty { throw FuzzFinding(description: "no value of \(controller)") }
    }
  }

  private static func parse(_ value: String, _ body: () throws -> Void) throws {
    do { try body() } catch { throw FuzzFinding(description: "\(value) cannot be set: \(error)") }
  }

  /// Checks that what may be an encoder's clicks is never learned as positions.
  private func checkLearner(_ messages: [MIDIMessage]) throws {
    let start = ContinuousClock.now
    for target in MIDIMap.Target.allCases {
      var learner = MIDILearner(target, channel: nil, now: start)
      learner.hear(messages, at: start)
      guard case .done(let answer as LearnAnswer) = learner.finding(at: start + .seconds(1)),
        let number = answer.controller, answer.relative == nil, !answer.heard.contains("fine part")
      else { continue }
      let sent = messages.compactMap { message -> Int? in
        guard case .controlChange(answer.channel, number, let value) = message else { return nil }
        return value
      }
      // All values are small turns in one encoding.
      let isEncoder = MIDIMap.RelativeEncoding.allCases.contains { encoding in
        sent.allSatisfy { $0 != 0 && (1...16).contains(abs(Self.decode($0, encoding))) }
      }
      if isEncoder { throw FuzzFinding(description: "learned as positions: \(sent)") }
    }
  }
}
