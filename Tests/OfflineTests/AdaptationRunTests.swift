import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Stereo that follows the sound, in a run") struct AdaptationRunTests {
    private static let period = 128

    private static func waitUntilAdapting(_ graph: OfflineGraph) throws {
      try #require(
        try waitUntil(seconds: 180) { try graph.status()["adaptationText"] as? String == "adapting" })
    }

    @Test(
      "a run in freewheel whose filters follow the sound equals, bit for bit, a rendering that does", .long,
      arguments: [["--adapt", "1", "--wind", "1", "--room", "-12"]] + (isNightly ? [["--adapt", "1"]] : []))
    func freewheel(settings: [String]) throws {
      let graph = try OfflineGraph(preset: "phone5", period: Self.period, captures: 5)
      let outcome = try graph.home.pinna(["set", "--pattern", "stereo"] + settings)
      try #require(outcome.status == 0, "\(outcome)")
      try Self.waitUntilAdapting(graph)
      let all = try graph.record((1...5).map { "system:capture_\($0)" }) {
        // Silence first: the strength is full, and nothing is left of other sound.
        try graph.wait(frames: 4 * 48_000)
        try graph.play(SeededNoise.loop(channels: 5, seed: 22))
        try graph.wait(frames: 4 * 48_000)
      }
      let first = try #require(all[2].firstIndex { $0 != 0 }) / Self.period * Self.period
      let folder = graph.home.folder.path
      let (file, output) = (folder + "/microphones.wav", folder + "/rendered.wav")
      /// Whether a rendering from some periods before the sound on is what was recorded.
      func isSame(_ settings: [String], periods: Int) throws -> Bool {
        let sound = all.map { Array($0[(first - periods * Self.period)...]) }
        try? FileManager.default.removeItem(atPath: file)
        try AudioClip(sampleRate: 48_000, channels: Array(sound[2...])).write(wav: file)
        let outcome = try graph.home.pinna(
          ["render", "--force", "--preset", "phone5", "--pattern", "stereo"] + settings
            + ["--period", "\(Self.period)", file, output])
        try #require(outcome.status == 0, "\(outcome)")
        return try AudioClip(path: output).channels == Array(sound[..<2])
      }
      // Filters change every second period, as the engine counts them, which a file does not tell.
      #expect(try isSame(settings, periods: 200) || isSame(settings, periods: 201))
      #expect(try !isSame([], periods: 200))
    }
  }
}
