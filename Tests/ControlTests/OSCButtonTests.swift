import Messages
import TestSupport
import Testing

@Suite("Push buttons of OSC control surfaces") struct OSCButtonTests {
  typealias Argument = OSCMessage.Argument
  static let states: [(pressed: Argument, released: Argument)] = [
    (.float(1), .float(0)), (.integer(1), .integer(0)), (.flag(true), .flag(false)),
    (.float(0.3), .float(-0.0)),
    (.integer(127), .integer(-1)), (.float(.infinity), .float(.nan)),
  ]
  /// What a button can be set up to do, with the arguments that come before its state.
  static let triggers: [(path: String, arguments: [Argument])] = [
    ("/pinna/record/start", []), ("/pinna/record/start", [.string("format"), .string("flac")]),
    ("/pinna/record/stop", []), ("/pinna/record/marker", []), ("/pinna/record/marker", [.string("clap")]),
    ("/pinna/record/title", [.string("Take two")]), ("/pinna/play", [.string("a.wav")]),
    ("/pinna/play/stop", []),
    ("/pinna/preset/use", [.string("phone5")]), ("/pinna/preset/cancel", []),
    ("/pinna/bank/use", [.string("evening")]),
    ("/pinna/forget", []), ("/pinna/midi/load", []), ("/pinna/midi/learn", []),
    ("/pinna/midi/learn", [.string("gain")]), ("/pinna/stop", []), ("/pinna/unsubscribe", []),
    ("/pinna/status", []),
    ("/pinna/set/pattern", [.string("cardioid")]), ("/pinna/set/gain", [.float(-6)]),
    ("/pinna/set/mute", [.integer(1)]), ("/pinna/set", [.string("gain"), .float(-6)]),
  ]

  /// The message as the method gets it after its way through a packet; nil for a release.
  static func received(_ path: String, _ arguments: [Argument]) throws -> OSCMessage? {
    let message = try #require(OSCMessage(packet: OSCMessage(path, arguments).packet))
    let method = try #require(OSCMethod.at(path))
    let (rest, isReleased) = method.button(in: message)
    return isReleased ? nil : rest
  }

  @Test(
    "R53: a press is the message that it is set up with, a release is nothing, for every trigger and every button"
  )
  func triggers() throws {
    var (wrong, count) = ([String](), 0)
    for (path, arguments) in Self.triggers {
      for (pressed, released) in Self.states {
        count += 1
        let press = try Self.received(path, arguments + [pressed])
        let release = try Self.received(path, arguments + [released])
        // NaN does not equal itself, so it must be gone.
        if press != OSCMessage(path, arguments) || release != nil {
          wrong.append("\(path) \(arguments) \(pressed)")
        }
      }
      // Without a button it is what it was.
      #expect(try Self.received(path, arguments) == OSCMessage(path, arguments))
    }
    #expect(wrong == [])
    Faults.report(
      "R53", done: "\(count) OSC buttons pressed and released: wrong effects", measured: "\(wrong.count)",
      limit: "0",
      kept: wrong.isEmpty)
  }

  @Test("numbers that a method takes are no buttons: values, toggles, counts, rates, ports, options")
  func values() throws {
    let token = Argument.string("0123")
    for (path, arguments) in [
      ("/pinna/set/gain", [.float(0)]), ("/pinna/set/high-pass", [.integer(80)]),
      ("/pinna/set/mute", [.float(0)]),
      ("/pinna/set/mute", [.flag(false)]), ("/pinna/set/listen", [.integer(1)]),
      ("/pinna/record", [.float(0)]),
      ("/pinna/outputs", [.integer(64)]), ("/pinna/takes", [.float(3)]),
      ("/pinna/subscribe", [token, .string("levels"), .integer(0)]),
      ("/pinna/subscribe", [token, .string("both"), .integer(1), .float(9001)]),
      ("/pinna/record/start", [.string("split-size"), .integer(0)]), ("/pinna/record/title", [.integer(0)]),
      ("/pinna/session/period", [token, .float(0)]), ("/pinna/set", [.string("gain"), .float(0)]),
    ] as [(String, [Argument])] {
      #expect(try Self.received(path, arguments) == OSCMessage(path, arguments), "\(path) \(arguments)")
    }
  }

  @Test("a text is no button: a label is a label, and a word too many is refused")
  func texts() throws {
    #expect(try Self.received("/pinna/record/marker", [.string("1.0")])?.words == ["1.0"])
    #expect(try Self.received("/pinna/record/marker", [.string("off")])?.words == ["off"])
    let stop = try #require(OSCMethod.at("/pinna/record/stop"))
    let rest = try #require(try Self.received("/pinna/record/stop", [.string("0")]))
    #expect(!stop.accepts(rest.arguments.count))
    // Two numbers are not one button.
    #expect(
      try Self.received("/pinna/record/stop", [.float(1), .float(1)]).map {
        !stop.accepts($0.arguments.count)
      } == true)
  }
}
