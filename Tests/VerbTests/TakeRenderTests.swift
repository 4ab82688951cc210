import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

/// `pinna render` of what a take's microphones recorded.
@Suite("pinna render of takes") struct TakeRenderTests {
  let home: VerbHome
  let whole: [[Float]]
  static let lengths = [3000, 700, 60_000, 5000]

  init() throws {
    home = try VerbHome()
    try #require(try home.pinna("design", "pair").status == 0)
    var noise = SeededNoise(seed: 16)
    whole = (0..<2).map { _ in noise.samples(Self.lengths.reduce(0, +), amplitude: 0.25) }
  }

  /// Writes a take of the device pair in pieces of these lengths.
  func write(_ stem: String, _ lengths: [Int], pattern: String = "stereo", fallbacks: String = "[]") throws {
    try home.writeTake(stem, whole, lengths, pattern: pattern, fallbacks: fallbacks)
  }

  func render(_ words: String...) throws -> AudioClip {
    let outcome = try home.pinna(["render", "--force"] + words)
    #expect(outcome.status == 0, "\(outcome)")
    return try AudioClip(path: words[1])
  }

  static func difference(_ a: [[Float]], _ b: [[Float]]) -> Float {
    guard a.map(\.count) == b.map(\.count), a.count == b.count else { return .infinity }
    return zip(a, b).map { zip($0, $1).map { abs($0 - $1) }.max() ?? 0 }.max() ?? .infinity
  }

  @Test(
    "the pieces of a split take, rendered one by one, join to the rendering of the whole, high-pass and fallbacks included",
    arguments: [
      ("stereo", "[]"),
      (
        "omnidirectional",
        #"[{"frame": 2000, "without": ["left-end"]}, {"frame": 3650, "without": []}, {"frame": 63600, "without": ["right-end"]}]"#
      ),
    ])
  func pieces(pattern: String, fallbacks: String) throws {
    try write("whole", [Self.lengths.reduce(0, +)], pattern: pattern, fallbacks: fallbacks)
    try write("split", Self.lengths, pattern: pattern, fallbacks: fallbacks)
    let expected = try render(home.path + "/whole-microphones.wav", home.path + "/whole-out.wav").channels
    #expect(expected.joined().contains { abs($0) > 0.05 })
    var joined = [[Float]](repeating: [], count: expected.count)
    for n in Self.lengths.indices {
      let base = n == 0 ? "split" : "split_\(n + 1)"
      let piece = try render("\(home.path)/\(base)-microphones.wav", "\(home.path)/\(base)-out.wav").channels
      #expect(piece[0].count == Self.lengths[n])
      for c in joined.indices { joined[c] += piece[c] }
    }
    let error = Self.difference(joined, expected)
    #expect(error <= 1e-6, "\(error)")
    // Without the sidecar nobody knows what came before.
    try FileManager.default.copyItem(
      atPath: home.path + "/split_3-microphones.wav", toPath: home.path + "/alone.wav")
    let alone = try render(
      home.path + "/alone.wav", home.path + "/alone-out.wav", "--preset", "pair", "--pattern", pattern,
      "--gain", "-3", "--high-pass", "80"
    ).channels
    #expect(
      Self.difference(alone.map { Array($0.prefix(100)) }, expected.map { Array($0[3700..<3800]) }) > 1e-3)
  }

  @Test("a take is rendered as it was recorded unless something else is asked for, and the answer says how")
  func asRecorded() throws {
    try write("whole", [Self.lengths.reduce(0, +)])
    let path = home.path + "/whole-microphones.wav"
    let own = try home.pinna("render", path, home.path + "/own.wav")
    #expect(own.status == 0 && own.hasNoComplaint, "\(own)")
    #expect(
      own.output.hasPrefix("wrote \(home.path)/own.wav: 0:00:01.4, 2 channels at 48000 Hz, peak -"), "\(own)")
    #expect(own.output.contains("pair: Front, stereo, portrait; left hears"), "\(own)")
    let same = try render(
      path, home.path + "/same.wav", "--device", "pair", "--pattern", "stereo", "--gain", "-3", "--high-pass",
      "80")
    #expect(try Self.difference(AudioClip(path: home.path + "/own.wav").channels, same.channels) == 0)
    let mono = try render(path, home.path + "/mono.wav", "--pattern", "omnidirectional")
    #expect(mono.channels.count == 1)
  }

  @Test(
    "a take of one array is refused as one of another, and told as one whose microphones have the same names")
  func anotherArray() throws {
    try home.home.add(PinnaHome.duo, named: "duo")
    try home.home.addSwappedPair()
    try write("take", [Self.lengths.reduce(0, +)])
    let path = home.path + "/take-microphones.wav"
    for words in [
      ["render", path, home.path + "/out.wav", "--device", "duo"],
      ["array", "check", path, "--device", "duo"],
    ] {
      let refused = try home.pinna(words)
      #expect(refused.status == 1 && refused.isOneSentence, "\(refused)")
      #expect(
        refused.error.contains("a take of pair") && refused.error.contains("--device pair"), "\(refused)")
    }
    #expect(access(home.path + "/out.wav", F_OK) != 0)
    let told = try home.pinna("render", "--force", path, home.path + "/out.wav", "--device", "swapped")
    #expect(told.status == 0 && told.error.contains("a take of pair, and taken as one of swapped"), "\(told)")
    // The device is not there any more.
    try FileManager.default.removeItem(atPath: home.home.configFolder + "/pinna/devices/pair.yaml")
    let gone = try home.pinna("render", path, home.path + "/no.wav")
    #expect(
      gone.status == 1 && gone.isOneSentence && gone.error.contains("give its file with --device"), "\(gone)")
  }

  @Test("a piece whose predecessor is missing is rendered, and said to begin as after silence")
  func lostPiece() throws {
    try write("split", Self.lengths)
    try FileManager.default.removeItem(atPath: home.path + "/split_2-microphones.wav")
    let third = try home.pinna(
      "render", "--force", home.path + "/split_3-microphones.wav", home.path + "/out.wav")
    #expect(third.status == 0 && third.error.contains("split_2-microphones.wav"), "\(third)")
    #expect(third.error.contains("as if silence came before it"), "\(third)")
    // The fourth needs a second and the filters: the third has them.
    let fourth = try home.pinna(
      "render", "--force", home.path + "/split_4-microphones.wav", home.path + "/out.wav")
    #expect(fourth.status == 0 && fourth.hasNoComplaint, "\(fourth)")
  }

  @Test("render and simulate write FLAC and Opus as takes have them, and count what FLAC clips")
  func formats() throws {
    try write("take", [Self.lengths.reduce(0, +)])
    let path = home.path + "/take-microphones.wav"
    let wav = try render(path, home.path + "/out.wav")
    let flac = try render(path, home.path + "/out.flac")
    #expect(Self.difference(wav.channels, flac.channels) <= 0.6 / 8_388_608)
    let opus = try render(path, home.path + "/out.opus")
    #expect(opus.frames == wav.frames && opus.channels.count == 2)
    let loud = try home.pinna("render", "--force", path, home.path + "/out.flac", "--gain", "24")
    #expect(loud.status == 0 && loud.error.contains("clipped; lower --gain"), "\(loud)")
    let peak = try AudioClip(path: home.path + "/out.flac").channels.joined().map(abs).max() ?? 0
    #expect(peak > 0.999 && peak <= 1)
    let beyond = try home.pinna("render", path, home.path + "/out.mp3")
    #expect(
      beyond.status == 2 && beyond.isOneSentence && beyond.error.contains(".flac or .opus"), "\(beyond)")
    #expect(
      !home.contents("").contains { $0.hasSuffix(".part") || $0.contains(".flac.") }, "\(home.contents(""))")
    try AudioClip(sampleRate: 44100, channels: whole).write(wav: home.path + "/slow.wav")
    let rate = try home.pinna("render", home.path + "/slow.wav", home.path + "/slow.opus", "--device", "pair")
    #expect(rate.status == 1 && rate.isOneSentence && rate.error.contains("48000 Hz"), "\(rate)")
  }
}
