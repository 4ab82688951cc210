import Acoustics
import Presets
import Testing

@Suite("The file of MIDI controllers") struct MIDIMapFileTests {
  static let file = """
    # For the small mixer.
    channel: 3
    bank: evening
    controllers:
      - {controller: 7, sets: gain, from: -40, to: 6}   # the fader
      - {controller: 64, sets: mute}
      - {controller: 20, sets: orientation, values: [portrait, LANDSCAPERIGHT]}
      - {controller: 21, sets: data-source}
      - {controller: 16, sets: gain, relative: SIGN-BIT, to: 6, click: 0.5}
      - {controller: 17, sets: pattern, relative: binary-offset}
      - {note: 36, sets: record}
      - {note: 7, sets: marker}
      - {controller: 8, sets: gain, feed: anna}
      - {note: 8, sets: mute, feed: MAIN}
      - {controller: 9, sets: look-azimuth, feed: anna}
      - {controller: 10, sets: look-elevation, relative: sign-bit, click: 1}
    """

  static func gain(from: Double = -60, to: Double = 0, click: Double = 1) -> MIDIMap.Scale {
    .range(.init(limits: -60...24, unit: "dB", from: from, to: to, click: click))
  }

  func read(_ text: String) throws -> MIDIMap { try MIDIMapFile.read(text: text, file: "c.yaml") }

  @Test("channel, bank and controllers are read; words are spelt as Pinna spells them")
  func reading() throws {
    let map = try read(Self.file)
    #expect(map.channel == 3 && map.bank == "evening")
    #expect(map.listens(to: 3) && !map.listens(to: 4))
    #expect(
      map.controllers == [
        .init(.controller(7), .setting(.gain), scale: Self.gain(from: -40, to: 6)),
        .init(.controller(64), .setting(.mute), scale: .toggle),
        .init(.controller(20), .setting(.orientation), scale: .words(["portrait", "landscapeRight"])),
        .init(.controller(21), .setting(.dataSource), scale: .words([])),
        .init(.controller(16), .setting(.gain), scale: Self.gain(to: 6, click: 0.5), encoding: .signBit),
        .init(.controller(17), .setting(.pattern), encoding: .binaryOffset),
        .init(.note(36), .record, scale: .toggle), .init(.note(7), .marker, scale: .trigger),
        .init(.controller(8), .setting(.gain), of: "anna"), .init(.note(8), .setting(.mute), of: "main"),
        .init(.controller(9), .lookAzimuth, of: "anna"),
        .init(
          .controller(10), .lookElevation,
          scale: .range(.init(limits: -90...90, unit: "degrees", from: -90, to: 90, click: 1, step: 5)),
          encoding: .signBit),
      ])
    #expect(try read("channel: any").listens(to: 16))
  }

  @Test("the range of a controller is divided evenly: both ends, the middle, and equal parts")
  func values() {
    func value(_ controller: MIDIMap.Controller, _ wire: Int) -> MIDIEffect {
      // From the position before, which is enough to take over.
      controller.effect(
        at: wire, last: wire == 0 ? 127 : wire - 1, present: "-23", dataSources: ["Bottom", "Front", "Back"])
    }
    let gain = MIDIMap.Controller(.controller(7), .setting(.gain), scale: Self.gain(from: -60, to: 12))
    // −60 + 72 · 64 / 127 = −23.717, and −60 + 72 · 65 / 127 = −23.150
    #expect(value(gain, 65) == .set("-23.1") && value(gain, 0) == .set("-60.0"))
    let mute = MIDIMap.Controller(.controller(1), .setting(.mute))
    #expect([0, 63, 64, 127].map { value(mute, $0) } == [.set("off"), .set("off"), .set("on"), .set("on")])
    let source = MIDIMap.Controller(.controller(2), .setting(.dataSource))
    // 128 / 3 = 42.7
    #expect(
      [0, 42, 43, 85, 86, 127].map { value(source, $0) } == [
        .set("Bottom"), .nothing, .set("Front"), .nothing, .set("Back"), .set("Back"),
      ])
    let orientation = MIDIMap.Controller(.controller(3), .setting(.orientation))
    let all = (0...127).map { value(orientation, $0) }.filter { $0 != .nothing }
    #expect(Set(all) == Set(InputOrientation.allCases.map { .set($0.rawValue) }))
  }

  @Test(
    "a mistake is refused in one sentence with its place",
    arguments: [
      ("channel: 17", "c.yaml:1:10: channel is \"17\"; write a whole number from 1 to 16, or any"),
      ("controllers: [{controller: 128, sets: gain}]", "from 0 to 127"),
      ("controllers: [{controller: 7, sets: volume}]", "unknown MIDI target \"volume\""),
      ("controllers: [{controller: 7, sets: mute, from: 3}]", "from cannot be given for mute; remove it"),
      ("controllers: [{controller: 7, sets: pattern, to: 3}]", "to is a number, and pattern has none"),
      ("controllers: [{controller: 7, sets: mute, relative: sign-bit}]", "mute needs a button or a pad"),
      ("controllers: [{controller: 7, sets: gain, relative: backwards}]", "unknown relative encoding"),
      ("controllers: [{controller: 7, sets: gain, click: 2}]", "click is for relative controllers only"),
      ("controllers: [{controller: 7, sets: gain, relative: sign-bit, click: 0}]", "0.1 to 84 dB"),
      ("controllers: [{note: 128, sets: mute}]", "from 0 to 127"),
      ("controllers: [{note: 7, sets: gain}]", "cannot set gain by a note; use a fader, knob or encoder"),
      ("controllers: [{controller: 7, sets: look-azimuth, to: 270}]", "-180 to 180 degrees"),
      ("controllers: [{controller: 7, sets: look}]", "unknown MIDI target \"look\""),
      ("controllers: [{note: 7, sets: pattern, relative: sign-bit}]", "is for controllers only"),
      ("controllers: [{note: 7, controller: 7, sets: mute}]", "both a controller and a note"),
      ("controllers: [{sets: mute}]", "has no key \"controller\""),
      (
        "controllers: [{note: 7, sets: mute}, {note: 7, sets: marker}]",
        "uses note 7, which sets mute already"
      ),
      ("controllers: [{note: 7, sets: marker, values: [1]}]", "cannot be given for marker"),
      ("controllers: [{controller: 7, sets: gain, values: [1]}]", "cannot be given for gain"),
      ("controllers: [{controller: 7, sets: gain, to: 30}]", "-60 to 24 dB"),
      ("controllers: [{controller: 7, sets: orientation, values: [sideways]}]", "unknown input orientation"),
      ("controllers: [{controller: 7, sets: high-pass, values: [5]}]", "20 to 400"),
      ("controllers: [{controller: 7, sets: pattern, values: []}]", "between 1 and 128"),
      ("controllers: [{controller: 7, sets: gain}, {controller: 7, sets: mute}]", "sets gain already"),
      ("controller: 7", "unknown key"),
      ("controllers: [{note: 7, sets: record, feed: anna}]", "feed cannot be given for record; remove it"),
      ("controllers: [{note: 7, sets: mute, feed: all}]", "feed is \"all\", which cannot name a feed"),
      (
        "controllers: [{note: 7, sets: mute, feed: anna}, {note: 7, sets: mute}]",
        "uses note 7, which sets mute of anna already"
      ),
    ])
  func mistakes(text: String, words: String) {
    let error = #expect(throws: DescriptionError.self) { try read(text) }
    #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
  }

  @Test(
    "a learned controller is one more line; everything else stays, comments too",
    arguments: [
      (
        .init(.controller(22), .setting(.gain), scale: gain(from: -20)),
        "{controller: 22, sets: gain, from: -20, to: 0}"
      ),
      (
        .init(.controller(22), .setting(.gain), encoding: .twosComplement),
        "{controller: 22, sets: gain, relative: twos-complement, from: -60, to: 0, click: 1}"
      ),
      (.init(.controller(22), .lookAzimuth), "{controller: 22, sets: look-azimuth, from: 180, to: -180}"),
      (
        .init(.note(22), .setting(.orientation), scale: .words(["portrait"])),
        "{note: 22, sets: orientation, values: [portrait]}"
      ),
      (.init(.note(64), .marker), "{note: 64, sets: marker}"),
      (.init(.note(64), .setting(.mute), of: "anna"), "{note: 64, sets: mute, feed: anna}"),
      // A name that other readers would take for something else.
      (.init(.note(64), .setting(.mute), of: "on"), "{note: 64, sets: mute, feed: on}"),
    ] as [(MIDIMap.Controller, String)])
  func learning(new: MIDIMap.Controller, line: String) throws {
    let text = try MIDIMapFile.text(adding: new, to: Self.file, file: "c.yaml")
    #expect(try read(text).controllers == [new] + read(Self.file).controllers)
    let lines = text.split(separator: "\n").map(String.init)
    let added = "  - " + line
    let before: [String] = Self.file.split(separator: "\n").map(String.init)
    #expect(lines.filter { $0 != added } == before)
    #expect(lines.contains(added))
  }

  @Test("a controller is learned into an empty file, one of comments, and one without controllers")
  func learningFirst() throws {
    for text in ["", "# nothing yet\n", "channel: 2\n", "channel: 2\r\n# after Windows\r\n"] {
      let new = MIDIMap.Controller(.controller(1), .record)
      let result = try MIDIMapFile.text(adding: new, to: text, file: "c.yaml")
      #expect(try read(result).controllers == [new] && result.hasPrefix(text), "\(result)")
    }
    let one = try MIDIMapFile.text(
      adding: .init(.controller(1), .record), to: "controllers: []\n", file: "c.yaml")
    #expect(one == "controllers:\n  - {controller: 1, sets: record}\n")
  }

  @Test("a controller in use, and a file whose controllers stand in one line, are refused with the remedy")
  func learningRefused() {
    let used = #expect(throws: DescriptionError.self) {
      try MIDIMapFile.text(adding: .init(.controller(7), .setting(.mute)), to: Self.file, file: "c.yaml")
    }
    #expect(used?.description.contains("controller 7 sets gain already; remove it there first") == true)
    let flow = #expect(throws: DescriptionError.self) {
      try MIDIMapFile.text(
        adding: .init(.controller(1), .setting(.mute)), to: "controllers: [{controller: 7, sets: gain}]",
        file: "c.yaml")
    }
    #expect(flow?.description.contains("- {controller: 1, sets: mute}") == true, "\(flow?.description ?? "")")
  }
}
