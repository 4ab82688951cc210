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
    """

  func read(_ text: String) throws -> MIDIMap { try MIDIMapFile.read(text: text, file: "c.yaml") }

  @Test("channel, bank and controllers are read; words are spelt as Pinna spells them")
  func reading() throws {
    let map = try read(Self.file)
    #expect(map.channel == 3 && map.bank == "evening")
    #expect(map.listens(to: 3) && !map.listens(to: 4))
    #expect(
      map.controllers == [
        .init(number: 7, target: .gain, scale: .decibels(from: -40, to: 6)),
        .init(number: 64, target: .mute),
        .init(number: 20, target: .orientation, scale: .words(["portrait", "landscapeRight"])),
        .init(number: 21, target: .dataSource, scale: .words([])),
      ])
    #expect(try read("channel: any").listens(to: 16))
  }

  @Test("the range of a controller is divided evenly: both ends, the middle, and equal parts")
  func values() {
    func value(_ controller: MIDIMap.Controller, _ wire: Int) -> String {
      controller.value(at: wire, dataSources: ["Bottom", "Front", "Back"])
    }
    let gain = MIDIMap.Controller(number: 7, target: .gain, scale: .decibels(from: -60, to: 12))
    #expect([0, 127].map { value(gain, $0) } == ["-60.0", "12.0"])
    // −60 + 72 · 64 / 127 = −23.717
    #expect(value(gain, 64) == "-23.7")
    let mute = MIDIMap.Controller(number: 1, target: .mute)
    #expect([0, 63, 64, 127].map { value(mute, $0) } == ["off", "off", "on", "on"])
    let source = MIDIMap.Controller(number: 2, target: .dataSource)
    // 128 / 3 = 42.7
    #expect(
      [0, 42, 43, 85, 86, 127].map { value(source, $0) } == [
        "Bottom", "Bottom", "Front", "Front", "Back", "Back",
      ])
    let orientation = MIDIMap.Controller(number: 3, target: .orientation)
    #expect(Set((0...127).map { value(orientation, $0) }) == Set(InputOrientation.allCases.map(\.rawValue)))
  }

  @Test(
    "a mistake is refused in one sentence with its place",
    arguments: [
      ("channel: 17", "c.yaml:1:10: channel is \"17\"; write a whole number from 1 to 16, or any"),
      ("controllers: [{controller: 128, sets: gain}]", "from 0 to 127"),
      ("controllers: [{controller: 7, sets: volume}]", "unknown MIDI target \"volume\""),
      ("controllers: [{controller: 7, sets: mute, from: 3}]", "is for gain only"),
      ("controllers: [{controller: 7, sets: gain, values: [1]}]", "cannot be given for gain"),
      ("controllers: [{controller: 7, sets: gain, to: 30}]", "-60 to 24 dB"),
      ("controllers: [{controller: 7, sets: orientation, values: [sideways]}]", "unknown input orientation"),
      ("controllers: [{controller: 7, sets: high-pass, values: [5]}]", "20 to 400"),
      ("controllers: [{controller: 7, sets: pattern, values: []}]", "between 1 and 128"),
      ("controllers: [{controller: 7, sets: gain}, {controller: 7, sets: mute}]", "sets gain already"),
      ("controller: 7", "unknown key"),
    ])
  func mistakes(text: String, words: String) {
    let error = #expect(throws: DescriptionError.self) { try read(text) }
    #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
  }

  @Test("a learned controller is one more line; everything else stays, comments too")
  func learning() throws {
    let new = MIDIMap.Controller(number: 22, target: .gain, scale: .decibels(from: -20, to: 0))
    let text = try MIDIMapFile.text(adding: new, to: Self.file, file: "c.yaml")
    #expect(try read(text).controllers == [new] + read(Self.file).controllers)
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.contains("  - {controller: 22, sets: gain, from: -20, to: 0}"))
    #expect(lines.filter { !$0.contains("22") } == Self.file.split(separator: "\n").map(String.init))
  }

  @Test("a controller is learned into an empty file, one of comments, and one without controllers")
  func learningFirst() throws {
    for text in ["", "# nothing yet\n", "channel: 2\n", "channel: 2\r\n# after Windows\r\n"] {
      let new = MIDIMap.Controller(number: 1, target: .record)
      let result = try MIDIMapFile.text(adding: new, to: text, file: "c.yaml")
      #expect(try read(result).controllers == [new] && result.hasPrefix(text), "\(result)")
    }
    let one = try MIDIMapFile.text(
      adding: .init(number: 1, target: .record), to: "controllers: []\n", file: "c.yaml")
    #expect(one == "controllers:\n  - {controller: 1, sets: record}\n")
  }

  @Test("a controller in use, and a file whose controllers stand in one line, are refused with the remedy")
  func learningRefused() {
    let used = #expect(throws: DescriptionError.self) {
      try MIDIMapFile.text(adding: .init(number: 7, target: .mute), to: Self.file, file: "c.yaml")
    }
    #expect(used?.description.contains("controller 7 sets gain already; remove it there first") == true)
    let flow = #expect(throws: DescriptionError.self) {
      try MIDIMapFile.text(
        adding: .init(number: 1, target: .mute), to: "controllers: [{controller: 7, sets: gain}]",
        file: "c.yaml")
    }
    #expect(flow?.description.contains("- {controller: 1, sets: mute}") == true, "\(flow?.description ?? "")")
  }
}
