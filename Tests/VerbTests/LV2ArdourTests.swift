import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

/// The exported plug-in on a track of Ardour 7, which runs without its editor: the scripts in Tests/Ardour.
@Suite("the LV2 plug-in in Ardour") struct LV2ArdourTests {
  private static let program = "/usr/bin/ardour7-lua"
  static let hasArdour = access(program, X_OK) == 0

  private static let frames = 96_000
  /// What the plug-in reports, and Ardour makes up for.
  private static let latency = 64
  /// Points of the automation, none of them at a block's edge: frame, value of the control, orientation.
  private static let changes = [
    (24_500, 2, "landscapeLeft"), (50_025, 3, "landscapeRight"), (70_000, 0, "portrait"),
  ]

  let home: PinnaHome
  private var folder: String { home.folder.path }

  init() throws { home = try PinnaHome() }

  private func ardour(_ script: String, _ words: [String]) throws {
    let environment = home.environment.merging([
      "HOME": folder, "LV2_PATH": folder + "/lv2:/usr/lib/lv2",
      // Ardour 7.3 seems to write beyond its buffers where it finds AVX-512. This leaves it the flushing of denormals alone.
      "ARDOUR_FPU_FLAGS": "3",
    ]) { $1 }
    let outcome = try Program.run(
      Self.program, ["\(repositoryFolder)/Tests/Ardour/\(script)"] + words, environment: environment,
      seconds: 120)
    try #require(outcome.status == 0, "\(outcome)")
  }

  /// What Ardour exports in blocks of `block` frames, with noise on the track.
  private func export(_ microphones: [[Float]], block: Int) throws -> [[Float]] {
    let bundle = try home.pinna(
      "export", "--to", "lv2", "--preset", "phone5", "--sample-rate", "48000", folder + "/lv2")
    try #require(bundle.status == 0, "\(bundle)")
    for name in ["float.format", "float.preset"] {
      try home.folder.write(
        try Data(contentsOf: URL(filePath: "\(repositoryFolder)/Tests/Ardour/\(name)")),
        to: "config/ardour7/export/\(name)")
    }
    let sound = folder + "/track.wav"
    try AudioClip(sampleRate: 48000, channels: microphones).write(wav: sound)
    let session = folder + "/session"
    let points = [(0, 0, "portrait")] + Self.changes
    try ardour(
      "session.lua",
      [session, sound, "\(Self.frames)", "urn:pinna:lv2:phone5"] + points.flatMap { ["\($0.0)", "\($0.1)"] })
    try ardour("export.lua", [session, "\(Self.frames)", "\(block)"])
    return try AudioClip(path: session + "/export/export.wav").channels
  }

  /// The plug-in's blocks end where the exported ones do, so its first has frames of silence before the track begins, and a
  /// change fades in from the exported block after its point.
  private func render(_ microphones: [[Float]], block: Int) throws -> [[Float]] {
    let silence = [Float](repeating: 0, count: block - Self.latency)
    let rest = [Float](repeating: 0, count: Self.latency)
    try AudioClip(sampleRate: 48000, channels: microphones.map { silence + $0 + rest }).write(
      wav: folder + "/in.wav")
    let automation = Self.changes.map { frame, _, orientation in
      let start = (frame + block - 1) / block * block + block
      return "- {at: \(Double(start) / 48000), orientation: \(orientation)}\n"
    }
    let file = try home.folder.write(automation.joined(), to: "automation.yaml")
    let outcome = try home.pinna(
      "render", "--force", "--preset", "phone5", "--automation", file, "--period", "\(block)",
      folder + "/in.wav",
      folder + "/rendered.wav")
    try #require(outcome.status == 0, "\(outcome)")
    return try AudioClip(path: folder + "/rendered.wav").channels.map { Array($0.dropFirst(block)) }
  }

  @Test(
    "exports of a track with automated orientation equal pinna render --automation, bit for bit", .long,
    .enabled(if: hasArdour, "ardour is not installed"), arguments: [256, 1024])
  func automation(block: Int) throws {
    let microphones = SeededNoise.channels(5, Self.frames, amplitude: 0.2, seed: 44)
    let exported = try export(microphones, block: block)
    let rendered = try render(microphones, block: block)
    try #require(exported.map(\.count) == [Self.frames, Self.frames])
    try #require(rendered.map(\.count) == [Self.frames, Self.frames])
    for (output, (exported, rendered)) in zip(exported, rendered).enumerated() {
      let unequal = zip(exported, rendered).enumerated().filter { $1.0 != $1.1 }.map(\.offset)
      let (count, first) = (unequal.count, unequal.first ?? 0)
      #expect(count == 0, "output \(output), from frame \(first)")
    }
  }
}
