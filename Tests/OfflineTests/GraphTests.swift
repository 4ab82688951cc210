import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  /// What needs no sound between programs.
  @Suite("Pinna in a JACK graph") struct GraphTests {
    static let loop: [[Float]] = SeededNoise.channels(5, 48_000, amplitude: 0.25, seed: 22)

    @Test(
      "a preset of another device replaces the microphone ports; ports of the same name stay connected")
    func otherDevice() throws {
      let home = try PinnaHome()
      try home.add(PinnaHome.duo, named: "duo")
      let graph = try OfflineGraph(preset: "phone5", home: home, captures: 7, playbacks: 2)
      let phone = ["back", "bottom-left", "bottom-right", "front", "top"]
      #expect(try graph.microphones().sorted() == phone)
      for (n, side) in ["left", "right"].enumerated() {
        try graph.server.connect("pinna:out_\(side)", "system:playback_\(n + 1)")
      }

      func inputs() throws -> [String] {
        try graph.server.ports().filter {
          $0.hasPrefix("pinna:") && !$0.hasPrefix("pinna:out_") && $0 != "pinna:control"
        }
        .map { String($0.dropFirst(6)) }.sorted()
      }
      func expectOutputsConnected() throws {
        #expect(try graph.peers(of: "pinna:out_left") == ["system:playback_1"])
        #expect(try graph.peers(of: "pinna:out_right") == ["system:playback_2"])
      }
      let ring = ["centre"] + (1...6).map { "ring-\($0)" }
      for (preset, microphones) in [
        ("ring7", ring), ("phone5", phone), ("duo", ["front", "spare"]), ("phone5", phone),
      ] {
        let before = try inputs()
        // Connects every port, so that any lost connection shows.
        for (n, name) in before.enumerated() {
          try graph.server.connect("system:capture_\(n + 1)", "pinna:\(name)")
        }
        let connections = Dictionary(
          uniqueKeysWithValues: try before.map { ($0, try graph.peers(of: "pinna:\($0)")) })
        let outcome = try graph.pinna("preset", "use", preset, "--json")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try outcome.json()["preset"] as? String == preset)
        #expect(try graph.status()["preset"] as? String == preset)
        #expect(try inputs() == microphones)
        try expectOutputsConnected()
        for kept in Set(before).intersection(microphones) {
          let peers = try graph.peers(of: "pinna:" + kept)
          #expect(!peers.isEmpty && peers == connections[kept], "\(kept)")
        }
      }
    }

    /// As PipeWire does, after an overrun of Pinna's own.
    @Test(
      "frames that the graph plays without Pinna and without reporting an xrun are a gap and count as one")
    func unreported() throws {
      // In real time: the clock limits which jumps of the frame time are believed.
      let graph = try OfflineGraph(preset: "phone5", period: 1024, speed: 1, inFreewheel: false)
      func xruns() throws -> Int { try #require(try graph.status()["xruns"] as? Int) }
      let before = try xruns()
      let path = try graph.startTake(frames: 9600)
      // Short of what the clock allows, however late the periods before were.
      try graph.command("skip", "256")
      try graph.waitForTake(frames: 24_000)
      #expect(try graph.pinna("record", "stop").status == 7)
      #expect(try TakeFiles.sidecar(path).gaps.map(\.frames) == [256])
      #expect(try xruns() == before + 1)
    }

    /// The processor time that a program has used, in seconds.
    static func processorTime(_ pid: Int32) throws -> Double {
      let fields = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8).split(separator: ")")
        .last!
        .split(separator: " ")
      return (Double(fields[11])! + Double(fields[12])!) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    @Test(
      "R45: after hundreds of clients with one-time names, CPU load and memory are stable and status answers",
      .nightly)
    func oneTimeNames() throws {
      let graph = try OfflineGraph(preset: "phone5", period: 1024, speed: 1)
      let names = try graph.microphones()
      let clients = Int(Faults.number("PINNA_FAULT_CLIENTS", quick: 50, heavy: 600))
      /// CPU load in per cent of a core, over three idle seconds, after those in which Pinna follows the last client's end.
      func load() throws -> Double {
        try graph.wait(frames: 3 * 48_000)
        let (start, before) = (ContinuousClock.now, try Self.processorTime(graph.program.pid))
        try graph.wait(frames: 3 * 48_000)
        return try (Self.processorTime(graph.program.pid) - before) / ((.now - start) / .seconds(1)) * 100
      }
      func visit(_ range: Range<Int>) throws {
        for n in range {
          try graph.server.add(output: "once-\(n):out")
          try graph.server.connect("once-\(n):out", "pinna:\(names[n % names.count])")
          // Waits until Pinna has seen the connection.
          try graph.waitForLook()
          try graph.server.remove("once-\(n):out")
        }
      }
      try visit(0..<20)
      let (loadBefore, memoryBefore) = (try load(), try graph.program.residentMemory())
      try visit(20..<20 + clients)
      let (loadAfter, memoryAfter) = (try load(), try graph.program.residentMemory())
      let answer = try graph.pinna("status", "--json")
      #expect(answer.status == 0, "\(answer)")
      #expect(loadAfter <= loadBefore + 2, "\(loadBefore) to \(loadAfter) %")
      #expect(memoryAfter - memoryBefore <= 2048, "\(memoryBefore) to \(memoryAfter) kB")
      Faults.report(
        "R45", done: "\(clients) clients with one-time names: processor time and memory of an idle Pinna",
        measured: String(
          format: "%.1f → %.1f %%, %d kB more", loadBefore, loadAfter, memoryAfter - memoryBefore),
        limit: "+2 %, +2048 kB", kept: loadAfter <= loadBefore + 2 && memoryAfter - memoryBefore <= 2048,
        isWhole: false)
    }
  }
}
