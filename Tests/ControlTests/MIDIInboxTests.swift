import Control
import JackClient
import Presets
import Testing

@Suite("MIDI messages on their way to the control thread") struct MIDIInboxTests {
  static let fader = MIDIMap.Controller(number: 7, target: .gain)
  static let mute = MIDIMap.Controller(number: 64, target: .mute)
  static let map = MIDIMap(channel: 2, controllers: [fader, mute])

  @Test("of a fader that moves, and of programs, only the newest counts; the order of the others stays")
  func newest() {
    var inbox = MIDIInbox()
    inbox.add(
      [
        .programChange(channel: 2, program: 1), .controlChange(channel: 2, controller: 7, value: 10),
        .controlChange(channel: 2, controller: 64, value: 127),
        .controlChange(channel: 2, controller: 7, value: 11), .programChange(channel: 2, program: 5),
      ], Self.map)
    #expect(
      inbox.events == [.controller(Self.mute, value: 127), .controller(Self.fader, value: 11), .program(5)])
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
      [.controlChange(channel: 2, controller: 7, value: 1), .programChange(channel: 2, program: 3)], Self.map)
    let isProgram = { (event: MIDIInbox.Event) in if case .program = event { true } else { false } }
    #expect(inbox.pop(where: isProgram) == .program(3))
    #expect(inbox.pop(where: isProgram) == nil)
    #expect(inbox.events == [.controller(Self.fader, value: 1)])
  }
}

@Suite("Connections of presets") struct PresetConnectionsTests {
  static let (a, b, c) = (
    Wiring.Wire("one", "card:1"), Wiring.Wire("two", "card:2"), Wiring.Wire("one", "card:3")
  )

  @Test("a preset's connections are made once; another preset's take their place")
  func follow() {
    var connections = PresetConnections()
    #expect(connections.follow([Self.a, Self.b]) == [])
    #expect(connections.pending == [Self.a, Self.b])
    connections.hasMade(Self.a)
    connections.hasMade(Self.b)
    // Whoever disconnects one afterwards is not contradicted.
    #expect(connections.follow([Self.a, Self.b]) == [] && connections.pending == [])
    #expect(connections.follow([Self.b, Self.c]) == [Self.a])
    #expect(connections.pending == [Self.b, Self.c])
  }

  @Test("a preset without connections leaves those of the preset before; the one after that replaces them")
  func without() {
    var connections = PresetConnections()
    _ = connections.follow([Self.a, Self.b])
    connections.hasMade(Self.a)
    #expect(connections.follow([]) == [] && connections.pending == [])
    #expect(connections.follow([Self.c]) == [Self.a])
  }
}
