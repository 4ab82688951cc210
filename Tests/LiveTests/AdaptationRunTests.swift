import AudioFiles
import Foundation
import JackTools
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("Stereo that follows the sound, live") struct AdaptationRunTests {
    private static let period = 128

    private static func waitUntilAdapting(_ graph: LiveGraph) throws {
      let deadline = ContinuousClock.now + .seconds(60)
      while try graph.status()["adaptationText"] as? String != "adapting" {
        try #require(ContinuousClock.now < deadline)
        usleep(50_000)
      }
    }

    @Test("a run in freewheel that adapts equals, bit for bit, a rendering that does")
    func freewheel() throws {
      let graph = try LiveGraph(preset: "phone5", period: Self.period)
      let player = try graph.player(GraphTests.loop, repeats: true)
      let recorder = try SignalRecorder(
        name: "recorder", server: graph.server.name, channels: 7, capacityFrames: 600 * 48_000)
      try #require(
        recorder.connect(from: ["pinna:out_left", "pinna:out_right"] + (1...5).map { "player:out_\($0)" }))
      let outcome = try graph.home.pinna(["set", "--pattern", "stereo", "--adapt", "1"])
      try #require(outcome.status == 0, "\(outcome)")
      try Self.waitUntilAdapting(graph)
      try graph.freewheel {
        // Silence first: the strength is full, and nothing is left of other sound.
        try recorder.wait(frames: 4 * 48_000)
        player.start()
        try recorder.wait(frames: 4 * 48_000)
      }
      let all = recorder.everything
      let first = try #require(all[2].firstIndex { $0 != 0 }) / Self.period * Self.period
      let sound = all.map { Array($0[(first - 200 * Self.period)...]) }
      let folder = graph.home.folder.path
      let (file, output) = (folder + "/microphones.wav", folder + "/rendered.wav")
      try AudioClip(sampleRate: 48_000, channels: Array(sound[2...])).write(wav: file)
      func rendered(_ strength: String) throws -> [[Float]] {
        try? FileManager.default.removeItem(atPath: output)
        let outcome = try graph.home.pinna([
          "render", "--preset", "phone5", "--pattern", "stereo", "--adapt", strength, "--period",
          "\(Self.period)", file, output,
        ])
        try #require(outcome.status == 0, "\(outcome)")
        return try AudioClip(path: output).channels
      }
      #expect(try rendered("1") == Array(sound[..<2]))
      #expect(try rendered("off") != Array(sound[..<2]))
      withExtendedLifetime(player) {}
    }
  }
}
