import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension OfflineTests {
  @Suite("One microphone alone, markers and a title") struct ListenTests {
    @Test("one microphone is listened to until off, another device, or a take, which has the array's sound")
    func listening() throws {
      let graph = try OfflineGraph(preset: "phone5", period: 256)
      let name = try graph.microphones()[1]
      #expect(try graph.pinna("set", "--listen", name).status == 0)
      #expect(try graph.status()["listening"] as? String == name)
      let unknown = try graph.pinna("set", "--listen", "nobody")
      #expect(unknown.status == 2 && unknown.error.contains("off"), "\(unknown)")
      #expect(try graph.status()["listening"] as? String == name)
      _ = try graph.startTake()
      #expect(try graph.status()["listening"] == nil)
      let refused = try graph.pinna("set", "--listen", name)
      #expect(refused.status == 5, "\(refused)")
      #expect(try graph.pinna("record", "stop").status == 0)
      #expect(try graph.pinna("set", "--listen", name).status == 0)
      #expect(try graph.pinna("preset", "use", "phone2").status == 0)
      #expect(try graph.status()["listening"] == nil)
    }

    @Test("markers and a title are taken during a take only, and stand in its sidecar in order")
    func markers() throws {
      let graph = try OfflineGraph(preset: "phone5", period: 256)
      let early = try graph.pinna("record", "marker")
      #expect(early.status == 1 && early.error.contains("record start"), "\(early)")
      let path = try graph.startTake()
      #expect(try graph.pinna("record", "title", "Probe am Abend").status == 0)
      for label in ["one", "two"] {
        try graph.wait(frames: 14_400)
        let marked = try graph.pinna("record", "marker", label)
        #expect(marked.status == 0 && marked.output.contains(label), "\(marked)")
      }
      let long = try graph.pinna("record", "marker", String(repeating: "x", count: 201))
      #expect(long.status == 2 && long.error.contains("at most 200 bytes"), "\(long)")
      let take = try #require(try graph.status()["take"] as? [String: Any])
      #expect(take["title"] as? String == "Probe am Abend" && take["markers"] as? Int == 2)
      #expect(try graph.pinna("record", "stop").status == 0)
      let sidecar = try TakeFiles.sidecar(path)
      #expect(sidecar.title == "Probe am Abend" && sidecar.markers?.map(\.label) == ["one", "two"])
      let frames = (sidecar.markers ?? []).map(\.frame)
      #expect(frames == frames.sorted() && frames[1] - frames[0] > 9600 && frames[1] <= sidecar.frames)
    }
  }
}
