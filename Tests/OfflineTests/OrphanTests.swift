import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension OfflineTests {
  /// PipeWire's libjack ends the process where it is asked to close such clients (`Tests/OfflineJack`). PipeWire itself
  /// is in `LiveTests`.
  @Suite("Clients that PipeWire loses") struct OrphanTests {
    /// Pinna with two feeds, connected at every kind of port.
    func connectedGraph() throws -> (graph: OfflineGraph, connections: Set<[String]>) {
      let graph = try OfflineGraph(preset: "phone5", captures: 5, playbacks: 2, isPipeWire: true)
      try #require(try graph.pinna("feed", "add", "anna", "--pattern", "cardioid").status == 0)
      try #require(try graph.pinna("feed", "add", "hall", "--format", "stereo").status == 0)
      try addOthers(graph)
      for (n, microphone) in try graph.microphones().enumerated() {
        try graph.server.connect("system:capture_\(n + 1)", "pinna:\(microphone)")
      }
      for (own, other) in zip(["out_left", "out_right", "anna", "hall_left", "hall_right"], 1...) {
        try graph.server.connect("pinna:\(own)", "others:in_\(other)")
      }
      try graph.server.connect("keys:out", "pinna:control")
      try graph.waitForLook()
      return (graph, try graph.connections())
    }

    func addOthers(_ graph: OfflineGraph) throws {
      for n in 1...5 { try graph.server.add(input: "others:in_\(n)") }
      try graph.server.add(output: "keys:out", isMIDI: true)
    }

    /// Whether a take was finalised, and says why it ended.
    func expectFinalised(_ path: String, because cause: String) throws {
      let sidecar = path.replacing(".wav", with: ".json")
      try #require(waitUntil(seconds: 10) { FileManager.default.fileExists(atPath: sidecar) })
      let (document, take) = (try TakeFiles.sidecar(path), try AudioClip(path: path))
      #expect(document.frames == take.frames && take.frames > 0)
      #expect(document.events.contains { $0.what.contains(cause) }, "\(document.events)")
      #expect(try TakeFiles.complaints(path) == [])
    }

    @Test(
      "R35: Pinna lives on where the server dies under its connections, again and again, also in takes: takes are whole, connections back"
    )
    func deaths() throws {
      let (graph, connections) = try connectedGraph()
      for round in 1...4 {
        let path = round % 2 == 0 ? try graph.startTake() : nil
        if path != nil { try graph.waitForTake(frames: 4800) }
        try graph.killServer()
        try #require(try waitUntil(seconds: 5) { try graph.status()["server"] as? String == "gone" })
        if let path { try expectFinalised(path, because: "the JACK server has gone") }
        graph.restartServer()
        // Until then, ports and connections are those of the dead server.
        try #require(try waitUntil(seconds: 10) { try graph.status()["server"] as? String == "running" })
        try addOthers(graph)
        let areBack = try waitUntil(seconds: 10) { try graph.connections() == connections }
        let found = try graph.connections()
        #expect(areBack, "\(connections.symmetricDifference(found))")
        #expect(try graph.status()["abandonedClients"] == nil)
      }
      #expect(try graph.pinna("stop").status == 0)
      #expect(graph.program.wait(seconds: 10)?.status == 0, "\(graph.program.errorText)")
    }

    @Test(
      "a gap says why: another program came, the period changed, also where the clock falls back; and that the machine was busy only otherwise"
    )
    func reasons() throws {
      let graph = try OfflineGraph(preset: "phone5", speed: 1, inFreewheel: false, isPipeWire: true)
      let path = try graph.startTake(frames: 4800)
      for (reason, frames) in [("graph", 4800), ("busy", 4800), ("period", 4800), ("fall", 100)] {
        try graph.command("skip", "\(frames)", reason)
        try graph.waitForTake(frames: graph.takeFrames() + 9600)
      }
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 7 && stop.error.contains("another program joined"), "\(stop)")
      #expect(stop.error.contains("too busy") && stop.error.contains("the period or the sample rate changed"))
      let gaps = try TakeFiles.sidecar(path).gaps
      #expect(
        gaps.map(\.cause) == [.graph, .stall, .period, .period]
          && gaps.dropLast().allSatisfy { $0.frames == 4800 }, "\(gaps)")
    }

    @Test(
      "freewheel in a take is noted, with the places where its clock begins and ends, and the take is incomplete"
    )
    func freewheel() throws {
      let graph = try OfflineGraph(preset: "phone5", speed: 1, inFreewheel: false, isPipeWire: true)
      let path = try graph.startTake(frames: 4800)
      for isOn in ["1", "0"] {
        try graph.command("freewheel", isOn)
        try graph.waitForTake(frames: graph.takeFrames() + 4800)
      }
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 7 && stop.error.contains("freewheel"), "\(stop)")
      let sidecar = try TakeFiles.sidecar(path)
      #expect(sidecar.gaps.map(\.cause) == [.freewheel, .freewheel], "\(sidecar.gaps)")
      let events = sidecar.events.map(\.what)
      #expect(events == ["the server went over to freewheel", "the server ended freewheel"], "\(events)")
    }

    @Test(
      "R35: a client that another program removes from the graph joins anew, also in takes: takes are whole, connections back; what libjack keeps is counted"
    )
    func removals() throws {
      let (graph, connections) = try connectedGraph()
      for round in 1...4 {
        let path = round % 2 == 0 ? try graph.startTake() : nil
        if path != nil { try graph.waitForTake(frames: 4800) }
        try graph.server.destroy("pinna")
        if let path { try expectFinalised(path, because: "another program has removed Pinna from the graph") }
        let areBack = try waitUntil(seconds: 10) { try graph.connections() == connections }
        let found = try graph.connections()
        #expect(areBack, "\(connections.symmetricDifference(found))")
        try #require(try waitUntil(seconds: 5) { try graph.status()["server"] as? String == "running" })
        #expect(try graph.status()["abandonedClients"] as? Int == round)
      }
      let text = try graph.pinna("status").output
      #expect(text.contains("other programs removed Pinna from the graph 4 times"), "\(text)")
      let doctor = try graph.pinna("doctor").output
      #expect(doctor.contains("other programs removed it from PipeWire's graph 4 times"), "\(doctor)")
      let path = try graph.startTake(frames: 4800)
      try graph.stopTake(path)
      #expect(try graph.pinna("stop").status == 0)
      #expect(graph.program.wait(seconds: 10)?.status == 0, "\(graph.program.errorText)")
    }
  }
}
