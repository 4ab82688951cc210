import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Devices with many microphones") struct ManyMicrophonesTests {
    /// A ring in the free field. The matrices of a cardioid from all microphones are as large as the device.
    private func ring(_ count: Int, _ patterns: String) -> String {
      let microphones = (0..<count).map { n in
        let phase = 2 * Double.pi * Double(n) / Double(count)
        return String(
          format: "  m%d: [%.4f, %d, %.4f]\n", n + 1, 60 * cos(phase), 4 * (n % 3), 60 * sin(phase))
      }
      return "title: Ring of \(count)\nbody: free\nmicrophones:\n\(microphones.joined())"
        + "dataSources:\n  Front:\n    forward: +z\n    microphones: all\n    polarPatterns: [\(patterns)]\n"
    }

    /// The slowest answer to `status` in the first second, and the outcome of `program`.
    private func answers(
      _ graph: OfflineGraph, until program: Program
    ) throws -> (slowest: Duration, outcome: Program.Outcome) {
      let sender = try graph.sender()
      var slowest = Duration.zero
      _ = try waitUntil(seconds: 1, every: 5) {
        let start = ContinuousClock.now
        sender.send("/pinna/status")
        _ = try #require(sender.reply(seconds: 10))
        slowest = max(slowest, .now - start)
        return !program.isRunning
      }
      return (slowest, try #require(program.wait(seconds: 300)))
    }

    @Test(
      "the first feed that would take more than half a core to follow the sound is refused with the figure"
    )
    func load() throws {
      let graph = try OfflineGraph(preset: "em32")
      let words = ["feed", "add", "room", "--format", "ambix", "--order", "4"]
      let refused = try graph.home.pinna(words + ["--wind", "1"])
      #expect(refused.status == 1, "\(refused)")
      #expect(
        refused.error.contains(
          "with the feed room following the sound would take about 71 % of a core, more than 50"),
        "\(refused)")
      #expect((try graph.status()["feeds"] as? [Any] ?? []).isEmpty)
      let linear = try graph.home.pinna(words)
      #expect(linear.status == 0, "\(linear)")
    }

    @Test(
      "R41: devices of 33, 48 and 64 microphones run, are designed while Pinna runs, and switch with phone5",
      .nightly)
    func exchange() throws {
      let home = try PinnaHome()
      // A private cache, because a cached design is not computed.
      let cache = ["XDG_CACHE_HOME": home.folder.path + "/cache"]
      for count in [33, 48, 64] {
        // A cardioid of 48 or 64 microphones takes a minute on a busy machine.
        let patterns = count == 33 || Faults.areHeavy ? "omnidirectional, cardioid" : "omnidirectional"
        try home.add(ring(count, patterns), named: "ring\(count)")
      }
      // Designed before Pinna runs.
      do {
        let graph = try OfflineGraph(preset: "ring33", home: home, environment: cache)
        #expect(try graph.microphones().count == 33)
        let cardioid = try graph.pinna("set", "--pattern", "cardioid")
        #expect(cardioid.status == 0, "\(cardioid)")
      }
      try FileManager.default.removeItem(atPath: home.folder.path + "/cache")
      let graph = try OfflineGraph(preset: "phone5", home: home, environment: cache)
      for count in [33, 48, 64] {
        let change = try Program(
          try PinnaHome.binary(), ["preset", "use", "ring\(count)"], environment: home.environment)
        let (slowest, outcome) = try answers(graph, until: change)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(graph.program.isRunning, "\(graph.program.errorText)")
        #expect(try graph.microphones().count == count)
        // Only a cardioid's design takes longer than a second.
        if count == 33 || Faults.areHeavy {
          // A wider limit on a machine that also runs other tests; alone, the promise itself is checked.
          #expect(slowest < Faults.patience(.milliseconds(100)))
          Faults.report(
            "R41", done: "status while \(count) microphones are designed", took: slowest,
            limit: .milliseconds(100))
        }
        let back = try graph.pinna("preset", "use", "phone5")
        #expect(back.status == 0, "\(back)")
        #expect(try graph.microphones().count == 5)
      }
      Faults.report(
        "R41", done: "devices of 33, 48, 64 microphones designed, run, exchanged with phone5",
        measured: "done", limit: "none crashes", kept: graph.program.isRunning)
    }
  }
}
