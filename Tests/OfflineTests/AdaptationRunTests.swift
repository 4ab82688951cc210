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
      "while a head turns by 5° every 50 ms, wind stays away within 3 dB of a head at rest, and talkers are heard"
    )
    func turningHead() throws {
      let graph = try OfflineGraph(preset: "respeaker-4mic-hat", period: Self.period, captures: 4, speed: 1)
      for (name, more) in [("linear", []), ("calm", ["--wind", "1"]), ("talkers", ["--part", "talkers"])] {
        let outcome = try graph.home.pinna(
          ["feed", "add", name, "--format", "ambix", "--follow", "yaw"] + more)
        try #require(outcome.status == 0, "\(outcome)")
      }
      let sender = try graph.sender()
      let ports = ["linear", "calm", "talkers"].flatMap { feed in
        ["w", "x"].map { "pinna:\(feed)_\($0)" }
      }
      func pose(_ yaw: Int) throws {
        sender.send("/ypr", "\(yaw)", "0", "0")
        try #require(sender.reply(seconds: 5)?.status == 0)
      }
      /// The energy of each feed in two seconds, in which the head turns or rests, and the least of 40 parts.
      func energies(turning: Bool) throws -> (all: [Double], least: [Double]) {
        try pose(0)
        try graph.wait(frames: 48_000)
        let recorded = try graph.record(ports) {
          for step in 0..<40 {
            if turning { try pose(5 * step) }
            try graph.wait(frames: 2400)
          }
        }
        let feeds = (0..<3).map { feed in
          let channels = recorded[2 + 2 * feed..<4 + 2 * feed]
          return (0..<recorded[0].count / 2400).map { part in
            channels.reduce(0) { sum, channel in
              channel[2400 * part..<2400 * (part + 1)].reduce(sum) { $0 + Double($1) * Double($1) }
            }
          }
        }
        return (feeds.map { $0.reduce(0, +) }, feeds.map { $0.min()! })
      }
      // Wind, below the frequencies up to which it is taken out.
      try graph.play(SeededNoise.loop(channels: 4, seed: 5).map(Self.low))
      try #require(
        try waitUntil(seconds: 180) {
          (try graph.status()["windText"] as? String)?.contains("taken out") == true
        })
      let (still, turning) = (try energies(turning: false).all, try energies(turning: true).all)
      let removed = [still, turning].map { 10 * log10($0[0] / $0[1]) }
      print("wind taken out in a run: \(removed[0]) dB at rest, \(removed[1]) dB while the head turns")
      #expect(removed[0] > 6 && removed[1] > removed[0] - 3, "\(removed)")
      // A voice: all microphones hear the same.
      let voice = SeededNoise.loop(channels: 1, seed: 6)[0]
      try graph.play([voice, voice, voice, voice])
      let (rest, turned) = (try energies(turning: false), try energies(turning: true))
      print("talkers in a run: \(10 * log10(turned.least[2] / rest.least[2])) dB while the head turns")
      #expect(turned.least[2] > 0.5 * rest.least[2] && rest.least[2] > 0)
    }

    /// Noise below some 600 Hz.
    private static func low(_ noise: [Float]) -> [Float] {
      var output = noise
      for _ in 0..<2 {
        var slow: Float = 0
        for n in output.indices {
          slow += 0.05 * (output[n] - slow)
          output[n] = 3 * slow
        }
      }
      return output
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
