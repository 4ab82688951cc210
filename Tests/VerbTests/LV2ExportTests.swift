import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

/// Bundles in LV2's own programs: lilv-utils and lv2-dev.
@Suite("pinna export --to lv2") struct LV2ExportTests {
  static let hasLilv = ["lv2ls", "lv2info", "lv2apply"].allSatisfy { access("/usr/bin/" + $0, X_OK) == 0 }
  static let hasValidator = ["lv2_validate", "sord_validate"].allSatisfy {
    access("/usr/bin/" + $0, X_OK) == 0
  }

  let home: PinnaHome
  var bundles: String { home.folder.path + "/lv2" }

  init() throws { home = try PinnaHome() }

  /// A preset of TetraMic with B-format beside its cardioid.
  private static let room = """
    title: TetraMic with B-format
    device: tetramic
    dataSource: Front
    polarPattern: cardioid
    inputOrientation: portrait
    gain: -3
    highPass: 80
    feeds:
      room: {format: ambix, order: 1}

    """

  /// With the number of the feeds' outputs.
  private static func uri(_ preset: String) -> String {
    "urn:pinna:lv2:\(preset)" + (preset == "b-format" ? ":4" : "")
  }

  private func export(_ preset: String) throws {
    try home.folder.write(Self.room, to: "config/pinna/b-format.yaml")
    // At this rate its filters do not ship. A design of more than two seconds would be announced.
    if preset == "respeaker-usb-v2" { _ = try home.pinna("design", preset, "--sample-rate", "48000") }
    let outcome = try home.pinna(
      "export", "--to", "lv2", "--preset", preset, "--sample-rate", "48000", bundles)
    try #require(outcome.status == 0 && outcome.hasNoComplaint, "\(outcome)")
    #expect(outcome.output.contains(Self.uri(preset)))
  }

  private func run(_ program: String, _ words: [String]) throws -> Program.Outcome {
    try Program.run(
      "/usr/bin/" + program, words,
      environment: home.environment.merging(["LV2_PATH": bundles + ":/usr/lib/lv2"]) { $1 }, seconds: 120)
  }

  private func noise(_ channels: Int) throws -> String {
    var random = SeededNoise(seed: 41)
    let path = home.folder.path + "/in.wav"
    try AudioClip(
      sampleRate: 48000, channels: (0..<channels).map { _ in random.samples(30_000, amplitude: 0.2) }
    )
    .write(wav: path)
    return path
  }

  /// A host that runs one frame at a time.
  @Test(
    "lv2apply plays what pinna render plays with periods of one frame, bit for bit",
    .enabled(if: hasLilv, "lilv-utils is not installed"),
    arguments: [("phone5", 5, [String]()), ("uma8", 7, []), ("b-format", 4, ["room"])])
  func applied(preset: String, microphones: Int, feeds: [String]) throws {
    try export(preset)
    let input = try noise(microphones)
    try FileManager.default.createDirectory(
      atPath: home.folder.path + "/rendered", withIntermediateDirectories: false)
    let output = home.folder.path + "/out.wav"
    let applied = try run("lv2apply", ["-i", input, "-o", output, Self.uri(preset)])
    try #require(applied.status == 0, "\(applied)")
    let played = try AudioClip(path: output).channels
    let into = home.folder.path + "/rendered"
    let one = ["render", "--force", "--preset", preset, "--period", "1"]
    let outcome =
      feeds.isEmpty
      ? try home.pinna(one + [input, into + "/main.wav"])
      : try home.pinna(
        one + ["--feeds", home.folder.path + "/config/pinna/\(preset).yaml", "--into", into, input])
    try #require(outcome.status == 0, "\(outcome)")
    let files = try (["main"] + feeds).map { try AudioClip(path: "\(into)/\($0).wav").channels }
    // A mono pattern is heard on both outputs.
    let expected = (files[0].count == 1 ? files[0] + files[0] : files[0]) + files.dropFirst().flatMap(\.self)
    #expect(played.count == expected.count)
    #expect(played == expected)
  }

  @Test(
    "the descriptions are valid, and hosts find every port and the presets of the device",
    .enabled(if: hasLilv && hasValidator, "lilv-utils or sordi is not installed"),
    arguments: ["phone5", "b-format", "respeaker-usb-v2"])
  func described(preset: String) throws {
    try export(preset)
    let folder = "\(bundles)/pinna-\(preset).lv2"
    let files = ["manifest.ttl", "plugin.ttl"].map { "\(folder)/\($0)" }
    let valid = try run("lv2_validate", files)
    #expect(valid.status == 0 && valid.output.contains("Found 0 errors"), "\(valid)")
    #expect(try run("lv2ls", []).output.contains(Self.uri(preset) + "\n"))
    let info = try run("lv2info", [Self.uri(preset)]).output
    let symbols = info.matches(of: /Symbol: +(\w+)/).map { String($0.1) }
    let controls = [
      "data_source", "pattern", "orientation", "gain", "high_pass", "mute", "lock", "freewheeling", "latency",
      "refused", "peak_left", "peak_right",
    ]
    let outputs =
      ["out_left", "out_right"] + (preset == "b-format" ? ["room_w", "room_y", "room_z", "room_x"] : [])
    #expect(Array(symbols.suffix(controls.count)) == controls)
    #expect(Array(symbols.dropLast(controls.count).suffix(outputs.count)) == outputs)
    #expect(Set(symbols).count == symbols.count && symbols.count > controls.count + outputs.count)
    #expect(info.contains("Has latency:       yes"))
  }

  @Test("a bundle that is there is replaced with --force only, and --all takes no preset")
  func options() throws {
    try export("phone5")
    let again = try home.pinna(
      "export", "--to", "lv2", "--preset", "phone5", "--sample-rate", "48000", bundles)
    #expect(again.status == 1 && again.isOneSentence && again.error.contains("--force"), "\(again)")
    let forced = try home.pinna(
      "export", "--to", "lv2", "--preset", "phone5", "--sample-rate", "44100", "--sample-rate", "48000",
      "--force",
      bundles)
    #expect(forced.status == 0, "\(forced)")
    let contents = {
      try FileManager.default.contentsOfDirectory(atPath: bundles + "/pinna-phone5.lv2").sorted()
    }
    let names = try contents()
    #expect(names == ["filters-44100", "filters-48000", "manifest.ttl", "pinna.so", "plugin.ttl", "uri"])
    // Filters of an earlier bundle may have other ports.
    let one = try home.pinna(
      "export", "--to", "lv2", "--preset", "phone5", "--sample-rate", "44100", "--force", bundles)
    #expect(try one.status == 0 && contents() == names.filter { $0 != "filters-48000" }, "\(one)")
    let both = try home.pinna("export", "--to", "lv2", "--all", "--preset", "phone5", bundles)
    #expect(both.status == 2 && both.isOneSentence, "\(both)")
    let other = try home.pinna("export", "--to", "wav", "--all", bundles + "/x")
    #expect(other.status == 2 && other.isOneSentence, "\(other)")
  }
}
