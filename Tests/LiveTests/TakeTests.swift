import AudioFiles
import Foundation
import JackTools
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("Takes in a live graph") struct TakeTests {
    /// A whole number of periods of 128 frames, so that the output repeats exactly while nothing changes.
    static let loop: [[Float]] = {
      var noise = SeededNoise(seed: 13)
      return (0..<5).map { _ in noise.samples(12_800, amplitude: 0.25) }
    }()

    func takes(_ graph: LiveGraph) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: graph.home.takesFolder).sorted()
    }

    /// Waits until `loops` more loops have been played, however fast freewheel is.
    func waitForLoops(_ recorder: SignalRecorder, loops: Int) throws {
      let end = recorder.frames + loops * Self.loop[0].count
      try #require(waitUntil(seconds: 30) { recorder.frames >= end }, "the server stands still")
    }

    /// Counts the frames of `signal` that differ from the frame one loop before.
    func changes(_ signal: [Float]) -> Int {
      let length = Self.loop[0].count
      return zip(signal, signal.dropFirst(length)).count { $0.bitPattern != $1.bitPattern }
    }

    /// The position of `signal` in `whole`.
    func find(_ signal: [Float], in whole: [Float]) -> Int? {
      let head = signal.prefix(64)
      return whole.indices.first { start in
        whole[start] == head[0] && whole[start...].starts(with: head)
          && whole[start...].starts(with: signal)
      }
    }

    @Test("S13: every change is refused while recording, and neither sound nor status changes")
    func refusals() throws {
      let graph = try LiveGraph(preset: "phone5")
      let player = try graph.player(Self.loop, repeats: true)
      let recorder = try graph.recorder(seconds: 240)
      let (path, length) = try graph.freewheel {
        player.start()
        try #require(waitUntil(seconds: 10) { player.isFinished })
        let start = try graph.pinna("record", "start", "--json")
        try #require(start.status == 0, "\(start)")
        let before = try graph.stableStatus()
        #expect(before["state"] == "\"recording\"")
        let attempts = [
          ["set", "--orientation", "landscapeLeft"], ["set", "--pattern", "cardioid"],
          ["set", "--data-source", "Front"], ["set", "--gain", "-6"], ["set", "--mute", "on"],
          ["preset", "use", "phone5"], ["preset", "use", "ring7"], ["record", "start"],
        ]
        for attempt in attempts {
          let outcome = try graph.home.pinna(attempt)
          #expect(outcome.status == 5, "\(attempt): \(outcome)")
          #expect(outcome.isOneSentence, "\(attempt): \(outcome)")
          #expect(outcome.error.contains("recording"), "\(attempt): \(outcome)")
        }
        try waitForLoops(recorder, loops: 4)
        #expect(try graph.changes(since: before) == [])
        let stop = try graph.pinna("record", "stop", "--json")
        try #require(stop.status == 0, "\(stop)")
        let answer = try stop.json()
        let change = try graph.pinna("set", "--orientation", "landscapeLeft", "--json")
        #expect(change.status == 0)
        #expect(try change.json()["inputOrientation"] as? String == "landscapeLeft")
        #expect(try graph.status()["inputOrientation"] as? String == "landscapeLeft")
        try waitForLoops(recorder, loops: 2)
        return (try #require(answer["take"] as? String), try #require(answer["frames"] as? Int))
      }
      let take = try AudioClip(path: path)
      #expect(take.frames == length)
      #expect(take.frames > 3 * 12_800)
      for channel in take.channels { #expect(changes(channel) == 0) }
      // The refused attempts changed nothing, and the later change does.
      let output = recorder.everything[0]
      #expect(recorder.frames < 240 * 48000)
      let taken = try #require(find(take.channels[0], in: output))
      #expect(changes(Array(output[taken...])) > 12_800)
      withExtendedLifetime(player) {}
    }

    @Test(
      "a take has the channels that status reports, carries the outputs' signals, and overwrites nothing",
      arguments: [("stereo", 2), ("cardioid", 1)])
    func channels(pattern: String, count: Int) throws {
      let graph = try LiveGraph(preset: "phone5")
      let player = try graph.player(Self.loop, repeats: true)
      let recorder = try graph.recorder(seconds: 240)
      try #require(try graph.pinna("set", "--pattern", pattern).status == 0)
      let (paths, outputs) = try graph.freewheel {
        player.start()
        try #require(waitUntil(seconds: 10) { player.isFinished })
        let paths = try (0..<2).map { _ in
          try #require(try graph.pinna("record", "start").status == 0)
          let names = try takes(graph)
          #expect(names.count { $0.hasSuffix(".wav.part") } == 1, "\(names)")
          let status = try graph.status()
          #expect(status["inputChannels"] as? Int == count)
          #expect((status["take"] as? [String: Any])?["channels"] as? Int == count)
          try waitForLoops(recorder, loops: 2)
          let stop = try graph.pinna("record", "stop", "--json")
          try #require(stop.status == 0, "\(stop)")
          return try #require(try stop.json()["take"] as? String)
        }
        // On leaving freewheel, the recorder may receive only one output of a late period.
        return (paths, recorder.everything)
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
        #expect(take.frames >= 12_800)
        let start = try #require(find(take.channels[0], in: outputs[0]))
        for (channel, output) in zip(take.channels, outputs) {
          #expect(differences(channel, output[start..<start + take.frames]) == 0)
        }
        if count == 1 { #expect(differences(outputs[0], outputs[1]) == 0) }
      }
      withExtendedLifetime(player) {}
    }

    @Test(
      "a take that cannot be written is refused before it starts (R20), and a missing one cannot be stopped")
    func faults() throws {
      let graph = try LiveGraph(preset: "phone5", synchronous: true)
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
      let graph = try LiveGraph(preset: "phone5", period: 1024, synchronous: true)
      let sender = try graph.sender()
      sender.send("/pinna/set/pattern", "cardioid")
      sender.send("/pinna/record/start", graph.home.takesFolder)
      sender.send("/pinna/record/stop")
      let replies = (0..<3).compactMap { _ in sender.reply(seconds: 1) }
      try #require(replies.count == 3)
      #expect(replies.first { $0.text.contains("\"polarPattern\":\"cardioid\"") }?.status == 0)
      let unstarted = replies.filter { $0.text.contains("stopped before its first frame") }
      #expect(unstarted.map(\.status) == [1, 1], "\(replies)")
      #expect(
        try waitUntil(seconds: 2) {
          try FileManager.default.contentsOfDirectory(atPath: graph.home.takesFolder).isEmpty
        })
      #expect(try graph.status()["state"] as? String == "stopped")
    }
  }
}
