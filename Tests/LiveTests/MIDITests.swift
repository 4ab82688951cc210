import Foundation
import JackTools
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  /// From another program, in JACK2's graph and in PipeWire's. What needs no server is in OfflineTests.
  @Suite("MIDI: program changes, controllers, learning") struct MIDITests {
    /// A graph with a bank of two presets, and a MIDI device that Pinna has seen.
    func graph() throws -> (LiveGraph, MIDISender) {
      let home = try PinnaHome()
      try home.folder.write("channel: 1\ncontrollers: []\n", to: "config/pinna/midi/controllers.yaml")
      #expect(try home.pinna("bank", "save", "two", "phone5,phone3").status == 0)
      let graph = try LiveGraph(
        preset: "phone5", period: 1024, synchronous: true, home: home, options: ["--bank", "two"])
      let keys = try MIDISender(server: graph.server.name)
      try #require(
        waitUntil(seconds: 5) {
          (try? graph.status()["midi"] as? [String: Any])?["sources"] as? [String] == ["keys:out"]
        })
      return (graph, keys)
    }

    @Test("program n is the bank's preset n; one beyond the bank, and another channel, change nothing")
    func programs() throws {
      let (graph, keys) = try graph()
      // PipeWire leaves a client out of a period on a busy machine, and what was sent in it is lost.
      func send(_ program: Int, until isDone: () throws -> Bool) rethrows -> Bool {
        for _ in 0..<(LiveGraph.isPipeWire ? 5 : 1) {
          keys.program(program)
          if try waitUntil(seconds: 5, isDone) { return true }
        }
        return false
      }
      func becomes(_ preset: String) throws -> Bool { try graph.value("preset") == preset }
      #expect(try send(1) { try becomes("phone3") })
      keys.program(0, channel: 2)
      #expect(
        send(2) { graph.says("MIDI program 3: the bank two has 2 presets", seconds: 0) },
        "\(graph.program.errorText)")
      #expect(try !waitUntil(seconds: 1) { try !becomes("phone3") })
      #expect(try send(0) { try becomes("phone5") })
      let other = try graph.pinna("bank", "save", "one", "phone3")
      #expect(other.status == 0, "\(other)")
      let used = try graph.pinna("bank", "use", "one")
      #expect(used.status == 0 && used.output == "1   phone3\n", "\(used)")
      #expect(try send(0) { try becomes("phone3") })
      let unknown = try graph.pinna("bank", "use", "none")
      #expect(unknown.status == 1 && unknown.error.contains("use one of: one, two"), "\(unknown)")
    }

    @Test(
      "from the frame of a program change to the start of its fade: at most 20 ms at the 95th percentile",
      .nightly,
      .enabled(
        if: !LiveGraph.isPipeWire,
        "PipeWire leaves clients out of periods on a busy machine: the tone has steps of its own then"))
    func latency() throws {
      let home = try PinnaHome()
      for (name, gain) in [("loud", "0"), ("soft", "-12")] {
        try home.folder.write(
          """
          title: \(name)
          device: phone5
          dataSource: Bottom
          polarPattern: omnidirectional
          inputOrientation: portrait
          gain: \(gain)

          """, to: "config/pinna/\(name).yaml")
      }
      #expect(try home.pinna("bank", "save", "two", "loud,soft").status == 0)
      let graph = try LiveGraph(
        preset: "loud", period: 1024, synchronous: true, home: home, options: ["--bank", "two"])
      // A whole number of frames per cycle: without a change, each frame equals the one a cycle before.
      let cycle = 48
      let tone = Sine.samples(frequency: 1000, rate: 48000, count: 48000, amplitude: 0.5)
      let player = try graph.player([[Float]](repeating: tone, count: 5), repeats: true)
      player.start()
      let keys = try MIDISender(server: graph.server.name)
      let recorder = try SignalRecorder(
        name: "recorder", server: graph.server.name, channels: 2, capacityFrames: 60 * 48000)
      try #require(recorder.connect(from: ["pinna:out_left", keys.markName]))
      try #require(
        waitUntil(seconds: 5) {
          (try? graph.status()["midi"] as? [String: Any])?["sources"] as? [String] == ["keys:out"]
        })
      try recorder.wait(frames: 24_000)
      var random = SeededNoise(seed: 7)
      for n in 0..<100 {
        let chance = random.samples(2, amplitude: 1)
        try #require(keys.program((n + 1) % 2, offset: Int(abs(chance[0]) * 255)))
        try recorder.wait(frames: 7200 + Int(abs(chance[1]) * 2400))
      }
      let (signal, marks) = (recorder.everything[0], recorder.everything[1])
      let events = marks.indices.filter { marks[$0] == 1 }
      #expect(events.count == 100)
      // A fade to −12 dB of this tone passes 5e-5 within 0.2 ms; rounding stays below 1e-6.
      func changes(_ n: Int) -> Bool { abs(signal[n] - signal[n - cycle]) > 5e-5 }
      var delays: [Double] = []
      for event in events {
        // From 20 cycles before the change to 100 ms after it.
        #expect(
          !(event - 19 * cycle..<event).contains(where: changes), "the tone is not steady before the change")
        let start = (event..<min(event + 4800, signal.count)).first(where: changes)
        delays.append(Double((start ?? event + 4800) - event) / 48)
      }
      delays.sort()
      let (median, p95) = (delays[50], delays[95])
      #expect(p95 <= Faults.patience(.milliseconds(20)) / .milliseconds(1), "\(delays)")
      print(
        String(
          format: "MIDI program change to fade at period 256: median %.1f ms, 95th percentile %.1f ms",
          median, p95))
      withExtendedLifetime(player) {}
    }
  }
}
