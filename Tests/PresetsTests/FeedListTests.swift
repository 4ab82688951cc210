import Acoustics
import Presets
import Testing

@Suite("Feeds in preset files") struct FeedListTests {
  private static let head = """
    title: Two people
    device: phone5
    dataSource: Back
    polarPattern: stereo
    inputOrientation: portrait

    """

  private static let sevenOfOrderTwo: String = "abcdefg".map { "\($0): {order: 2}" }.joined(separator: "\n  ")

  private func read(_ feeds: String) throws -> Preset {
    try PresetFile.read(
      YAMLReader(text: Self.head + feeds, file: "table.yaml"),
      device: PresetLibrary.standard.device(named:))
  }

  @Test("what a feed does not say, it has from the preset, as far as its data source offers it")
  func defaults() throws {
    let preset = try read(
      """
      feeds:
        same: {}
        anna: {dataSource: Front, polarPattern: cardioid, gain: -3, highPass: 80}
        low: {dataSource: Bottom}
        hall: {format: stereo, inputOrientation: landscapeLeft}
        one: {format: mono}
        room: {format: ambix}
        far: {order: 2, dataSource: Front}
      """)
    let feeds = Dictionary(uniqueKeysWithValues: preset.others.map { ($0.name, $0) })
    #expect(feeds["same"]?.selection == preset.main.selection)
    #expect(feeds["anna"]?.gain.value == -3 && feeds["anna"]?.highPass == .on(Hertz(80)))
    #expect(feeds["anna"]?.portNames == ["anna"])
    #expect(feeds["low"]?.selection.polarPattern == .omnidirectional)
    #expect(feeds["hall"]?.selection.inputOrientation == .landscapeLeft)
    #expect(feeds["hall"]?.portNames == ["hall_left", "hall_right"])
    #expect(feeds["one"]?.selection.polarPattern == .cardioid)
    #expect(feeds["room"]?.portNames == ["room_w", "room_y", "room_z", "room_x"])
    #expect(feeds["far"]?.portNames.suffix(5) == ["far_4", "far_5", "far_6", "far_7", "far_8"])
    #expect(feeds["far"]?.channelNames.prefix(5) == ["W", "Y", "Z", "X", "4"])
  }

  @Test("the text of a preset reads back as the same feeds and connections to their ports")
  func roundTrip() throws {
    let preset = try read(
      """
      feeds:
        anna: {dataSource: Front, polarPattern: cardioid, gain: -3.5, highPass: 80, part: "Anna: B, #2"}
        voices: {format: stereo, part: talkers, frame: "30,60"}
        room: {format: ambix, order: 2}
      connections:
        anna: recorder:in_1
        room_8: recorder:in_2
      """)
    let again = try PresetFile.read(
      YAMLReader(text: PresetFile.text(of: preset), file: "table.yaml"),
      device: PresetLibrary.standard.device(named:))
    #expect(again == preset)
    #expect(again.connections.map(\.port) == ["anna", "room_8"])
  }

  @Test(
    "a feed that cannot be is refused with the place, what is wrong, and what to do",
    arguments: [
      ("main: {}", "main"), ("out: {format: stereo}", "out_left"),
      ("back: {polarPattern: cardioid}", "port back"),
      ("a: {}\n  A: {}", "case"), ("a: {format: quad}", "stereo, mono, ambix"), ("a: {order: 5}", "order"),
      ("a: {order: 1.5}", "whole number"), ("a: {format: stereo, order: 1}", "an order belongs to"),
      ("a: {format: ambix, polarPattern: cardioid}", "ambix and the pattern cardioid exclude each other"),
      ("a: {order: 2, polarPattern: stereo}", "exclude"),
      ("a: {format: mono, polarPattern: stereo}", "exclude"),
      ("a: {format: stereo, polarPattern: cardioid}", "exclude"),
      ("a: {order: 4}", "order 4 needs at least 9 microphones, and phone5 has 5"),
      ("a: {order: 3}", "order 3 needs at least 7 microphones, and phone5 has 5"),
      (Self.sevenOfOrderTwo, "65 outputs, but there can be 64"),
      ("a: {format: ambix, dataSource: Bottom, inputOrientation: portrait}", "no left and right"),
      ("a: {dataSource: Left}", "data source"),
      ("a: {dataSource: Bottom, polarPattern: cardioid}", "not possible"),
      ("a: {look: [60, 0], polarPattern: stereo}", "mono pattern"), ("a: {look: [60, 0, 0]}", "azimuth"),
      ("a: {gain: 90}", "gain"), ("a-b: {}", "letters"),
      ("a: 5", "group"),
    ])
  func refusals(feed: String, word: String) throws {
    let error = #expect(throws: DescriptionError.self) { try read("feeds:\n  \(feed)\n") }
    #expect(error?.description.contains(word) == true, "\(String(describing: error))")
    #expect(error?.description.hasPrefix("table.yaml:") == true)
  }
}
