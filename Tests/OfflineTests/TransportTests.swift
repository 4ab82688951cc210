import Foundation
import LiveSupport
import Processor
import Recording
import TestSupport
import Testing

extension OfflineTests {
  /// The first microphone hears the transport's frames.
  @Suite("Takes that follow the transport") struct TransportTests {
    private struct Take {
      let path: String
      /// The transport's frame in each frame of the take; nil where the transport did not roll.
      let frames: [Int?]
      let sidecar: Sidecar
    }

    /// Records what the transport plays from `start` for some 0.7 s.
    private func record(from start: Int, _ graph: OfflineGraph) throws -> Take {
      try graph.command("locate", "\(start)")
      let path = try graph.startTake("--transport")
      #expect(try graph.status()["state"] as? String == "armed")
      try graph.wait(frames: 9600)
      #expect((try graph.status()["take"] as? [String: Any])?["frames"] as? Int == 0)
      try graph.command("roll", "1")
      let hasBegun = try waitUntil(seconds: 10) { try graph.status()["state"] as? String == "recording" }
      #expect(hasBegun)
      try graph.wait(frames: 28_800)
      try graph.command("roll", "0")
      let isOver = try waitUntil(seconds: 10, every: 20) {
        let status = try graph.status()
        return status["state"] as? String == "stopped"
          && (status["closingTakes"] as? [String])?.isEmpty == true
      }
      #expect(isOver)
      let frames = try TakeFiles.microphones(path).channels[0].map(FrameClock.time)
      return Take(path: path, frames: frames, sidecar: try TakeFiles.sidecar(path))
    }

    private func position(_ graph: OfflineGraph) throws -> Int {
      try #require(Int(try graph.command("position")))
    }

    private func graph(_ options: [String] = [], inFreewheel: Bool = true) throws -> OfflineGraph {
      let graph = try OfflineGraph(preset: "phone5", options: options, inFreewheel: inFreewheel)
      try graph.command("connect", FrameClock.transportPort, "pinna:\(try graph.microphones()[0])")
      return graph
    }

    @Test(
      "a take has every frame in which the transport rolls, from its first to its last, and no other, in freewheel, too",
      arguments: [true, false])
    func exactFrames(inFreewheel: Bool) throws {
      let graph = try graph(inFreewheel: inFreewheel)
      for start in [0, 96_000] {
        let take = try record(from: start, graph)
        let length = try position(graph) - start
        #expect(length > 28_800 && take.frames.count == length, "\(take.frames.count) of \(length)")
        #expect(take.frames == (start..<start + length).map(Optional.some))
        #expect(take.sidecar.transportFrame == start && take.sidecar.preRollFrames == 0)
        #expect(take.sidecar.state == .complete)
        #expect(take.sidecar.events.contains { $0.what.contains("the transport stopped") })
      }
      // The last take is answered for, as one that was stopped.
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 0 && stop.output.contains("the transport stopped"), "\(stop)")
    }

    @Test("pre-roll stands before the transport's first frame")
    func preRoll() throws {
      let graph = try graph(["--pre-roll", "1"])
      try graph.wait(frames: 60_000)
      let take = try record(from: 0, graph)
      #expect(take.sidecar.preRollFrames == 48_000 && take.sidecar.transportFrame == 0)
      #expect(take.frames.prefix(48_000).allSatisfy { $0 == nil } && take.frames[48_000] == 0)
    }

    @Test("record stop disarms with status 0 and leaves no file, over OSC, too; nothing may change meanwhile")
    func disarm() throws {
      let graph = try graph()
      let start = try graph.pinna("record", "start", "--transport")
      #expect(start.status == 0 && start.output.hasPrefix("armed: /"), "\(start)")
      #expect(try graph.pinna("status").output.hasPrefix("armed: the take begins when the transport rolls"))
      let refused = try graph.pinna("set", "--gain", "-3")
      #expect(refused.status == 5 && refused.isOneSentence && refused.error.contains("armed"), "\(refused)")
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 0 && stop.output.hasPrefix("disarmed"), "\(stop)")
      let sender = try graph.sender()
      sender.send("/pinna/record/start", "transport", "on")
      #expect(sender.reply(seconds: 10)?.status == 0)
      #expect(try graph.status()["state"] as? String == "armed")
      sender.send("/pinna/record", "off")
      #expect(sender.reply(seconds: 10)?.text.contains("disarmed") == true)
      try graph.command("roll", "1")
      try graph.wait(frames: 9600)
      try graph.command("roll", "0")
      #expect(try FileManager.default.contentsOfDirectory(atPath: graph.home.takesFolder) == [])
      #expect(try graph.pinna("set", "--gain", "-3").status == 0)
    }

    @Test("an armed take whose Pinna is killed is repaired to nothing but what it is: an empty take")
    func killed() throws {
      let graph = try graph()
      _ = try graph.startTake("--transport")
      graph.program.signal(SIGKILL)
      _ = graph.program.wait(seconds: 10)
      let repair = try graph.home.pinna("takes", "repair")
      #expect(repair.status == 0, "\(repair)")
      let names = try FileManager.default.contentsOfDirectory(atPath: graph.home.takesFolder)
      #expect(!names.contains { $0.hasSuffix(".part") }, "\(names)")
    }
  }
}
