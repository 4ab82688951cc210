import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Takes") struct TakeTests {
    func takes(_ graph: OfflineGraph) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: graph.home.takesFolder).sorted()
    }

    private static let loop = OfflineGraph.repetition

    /// The position of `signal` in `whole`.
    func find(_ signal: [Float], in whole: [Float]) -> Int? {
      let head = signal.prefix(64)
      return whole.indices.first { start in
        whole[start] == head[0] && whole[start...].starts(with: head)
          && whole[start...].starts(with: signal)
      }
    }

    @Test(
      "a take has the channels that status reports, carries the outputs' signals, and overwrites nothing",
      arguments: [("stereo", 2), ("cardioid", 1)])
    func channels(pattern: String, count: Int) throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 5)
      try #require(try graph.pinna("set", "--pattern", pattern).status == 0)
      try graph.playNoise()
      try graph.wait(frames: Self.loop)
      var paths: [String] = []
      let outputs = try graph.record {
        paths = try (0..<2).map { _ in
          try #require(try graph.pinna("record", "start").status == 0)
          let names = try takes(graph)
          #expect(names.count { $0.hasSuffix(".wav.part") } == 1, "\(names)")
          let status = try graph.status()
          #expect(status["inputChannels"] as? Int == count)
          #expect((status["take"] as? [String: Any])?["channels"] as? Int == count)
          try graph.wait(frames: 2 * Self.loop)
          let stop = try graph.pinna("record", "stop", "--json")
          try #require(stop.status == 0, "\(stop)")
          return try #require(try stop.json()["take"] as? String)
        }
      }
      #expect(Set(paths).count == 2)
      #expect(
        try takes(graph)
          == paths.map { URL(filePath: $0).lastPathComponent }.flatMap {
            [$0, $0.replacing(".wav", with: ".json")]
          }
          .sorted())
      for path in paths {
        let take = try AudioClip(path: path)
        #expect(take.channels.count == count)
        #expect(take.frames >= Self.loop)
        let start = try #require(find(take.channels[0], in: outputs[0]))
        for (channel, output) in zip(take.channels, outputs) {
          #expect(differences(channel, output[start..<start + take.frames]) == 0)
        }
        if count == 1 { #expect(differences(outputs[0], outputs[1]) == 0) }
      }
    }

    @Test(
      "a take that cannot be written is refused before it starts (R20), and a missing one cannot be stopped")
    func faults() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let file = try graph.home.folder.write("", to: "file")
      let start = try graph.pinna("record", "start", "--dir", file + "/takes")
      #expect(start.status == 1 && start.isOneSentence, "\(start)")
      #expect(try graph.status()["state"] as? String == "stopped")
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 1 && stop.isOneSentence, "\(stop)")
      #expect(try graph.pinna("record", "start").status == 0)
      #expect(try graph.pinna("record", "stop").status == 0)
    }

    @Test("a take stopped before its first frame, because a change still fades, answers every request")
    func stoppedBeforeItBegan() throws {
      let graph = try OfflineGraph(preset: "phone5", period: 1024)
      let sender = try graph.sender()
      sender.send("/pinna/set/pattern", "cardioid")
      sender.send("/pinna/record/start", graph.home.takesFolder)
      sender.send("/pinna/record/stop")
      let replies = (0..<3).compactMap { _ in sender.reply(seconds: 1) }
      try #require(replies.count == 3)
      #expect(replies.first { $0.text.contains("\"polarPattern\":\"cardioid\"") }?.status == 0)
      let unstarted = replies.filter { $0.text.contains("stopped before its first frame") }
      #expect(unstarted.map(\.status) == [1, 1], "\(replies)")
      // The folder may not have been made yet.
      #expect(
        waitUntil(seconds: 2) {
          (try? FileManager.default.contentsOfDirectory(atPath: graph.home.takesFolder))?.isEmpty ?? true
        })
      #expect(try graph.status()["state"] as? String == "stopped")
    }
  }
}
