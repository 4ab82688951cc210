import Foundation
import LiveSupport
import TestSupport
import Testing

/// The duration of the run in seconds; `make soak` takes the ten minutes that are promised.
private let seconds = Faults.number("PINNA_MEMORY_SECONDS", quick: 15, heavy: 90)
/// No filters ship for the last: they are designed.
private let sampleRates = [44_100, 48_000] + (Faults.areHeavy ? [96_000] : [])

extension LiveTests {
  /// In JACK2's graph, and with pw-jack in PipeWire's.
  @Suite("Memory after many rates and devices") struct MemoryTests {
    typealias Footprint = EnduranceTests.Footprint

    /// Another rate: PipeWire changes it under its clients, a JACK server is replaced.
    private func change(rate: Int, _ graph: LiveGraph) throws {
      if let pipeWire = graph.pipeWire {
        try pipeWire.set("clock.force-rate", rate)
      } else {
        graph.killServer()
        try #require(try waitUntil(seconds: 10) { try graph.status()["server"] as? String == "gone" })
        try graph.restartServer(sampleRate: rate, period: 1024)
      }
      // The filters for another rate are read, or designed.
      try #require(
        try waitUntil(seconds: 300) {
          let status = try graph.status()
          return status["sampleRate"] as? Int == rate && status["server"] as? String == "running"
        }, "\(graph.program.errorText.suffix(1000))")
    }

    private func change(period: Int, _ graph: LiveGraph) throws {
      if let pipeWire = graph.pipeWire {
        try pipeWire.set("clock.force-quantum", period)
      } else {
        #expect(graph.requestPeriod(period))
      }
      try #require(try waitUntil(seconds: 10) { try graph.status()["period"] as? Int == period })
    }

    /// - Returns: whether it was used. Where the rate changes meanwhile, it is refused, or superseded.
    private func use(_ preset: String, _ graph: LiveGraph) throws -> Bool {
      let outcome = try graph.pinna("preset", "use", preset)
      #expect([0, 1, 3].contains(outcome.status), "\(outcome)")
      return outcome.status == 0
    }

    /// The footprint with one device, rate and period while nothing happens.
    /// - Parameter most: in kB; more than this is not yet rest: what still holds memory may be about to give it back.
    private func footprintAtRest(_ graph: LiveGraph, most: Int = .max) throws -> Footprint {
      try change(rate: 48_000, graph)
      try change(period: 1024, graph)
      try #require(try waitUntil(seconds: 20) { try graph.pinna("preset", "use", "phone5").status == 0 })
      var last: Footprint?
      let isAtRest = try waitUntil(seconds: 30, every: 700) {
        let now = try Footprint(graph.program.pid)
        defer { last = now }
        guard let before = last else { return false }
        return now.threads == before.threads && now.descriptors == before.descriptors
          && abs(now.memory - before.memory) < 256 && now.memory <= most
      }
      if !isAtRest {
        Issue.record("it does not come to rest: \(last as Any)\n\(try busy(graph.program.pid))")
      }
      return try #require(last)
    }

    /// The names of its threads, and where its memory is.
    private func busy(_ pid: Int32) throws -> String {
      let tasks = "/proc/\(pid)/task/"
      let names = try FileManager.default.contentsOfDirectory(atPath: tasks).map {
        (try? String(contentsOfFile: tasks + $0 + "/comm", encoding: .utf8).trimmingCharacters(in: .newlines))
          ?? "ended"
      }
      return try "\(names)\n" + String(contentsOfFile: "/proc/\(pid)/smaps_rollup", encoding: .utf8)
    }

    @Test(
      "R52: random rates, quanta, devices and takes leave at most 32 MB more, and neither a descriptor nor a thread",
      .nightly
    )
    func everything() throws {
      let home = try PinnaHome()
      try home.addPair()
      let graph = try LiveGraph(preset: "phone5", period: 1024, synchronous: true, home: home)
      let first = try footprintAtRest(graph)
      let seed = ProcessInfo.processInfo.environment["PINNA_SEED"].flatMap(UInt64.init) ?? 52
      var noise = SeededNoise(seed: seed)
      var (rates, quanta, devices, takes) = (0, 0, 0, 0)
      // One of each rare kind, however slow the machine is.
      try change(rate: sampleRates.randomElement(using: &noise)!, graph)
      rates += 1
      let end = ContinuousClock.now + .seconds(seconds)
      // A rate of JACK2's is a server that dies and another that starts.
      let rateShare: UInt64 = graph.pipeWire == nil ? 1 : 5
      while .now < end {
        switch noise.next() % 16 {
        case 0..<rateShare:
          try change(rate: sampleRates.randomElement(using: &noise)!, graph)
          rates += 1
        case rateShare..<8:
          try change(period: [64, 256, 1024, 2048].randomElement(using: &noise)!, graph)
          quanta += 1
        case 8..<12:
          if try use(["phone5", "pair", "tetramic", "uma8"].randomElement(using: &noise)!, graph) {
            devices += 1
          }
        default:
          let path = try graph.startTake()
          // A take that has ended by itself has no frames in the status.
          try #require(
            try waitUntil(seconds: 60) {
              (try graph.status()["take"] as? [String: Any])?["frames"] as? Int ?? .max >= 9600
            })
          let stop = try graph.pinna("record", "stop")
          #expect([0, 3, 7].contains(stop.status), "\(stop), seed \(seed)")
          for ending in [".wav", "-microphones.wav", ".json"] { unlink(path.replacing(".wav", with: ending)) }
          if stop.status != 7 { takes += 1 }
        }
      }
      let last = try footprintAtRest(graph, most: first.memory + (32 << 10))
      let growth = last.memory - first.memory
      #expect(growth <= 32 << 10, "\(first), \(last), seed \(seed)")
      #expect(last.descriptors == first.descriptors && last.threads <= first.threads, "\(first), \(last)")
      #expect(rates > 0 && quanta > 0 && devices > 0 && takes > 0)
      Faults.report(
        "R52",
        done:
          "\(Int(seconds)) s of \(graph.pipeWire == nil ? "jackd" : "PipeWire"): \(rates) rates, \(quanta) quanta, "
          + "\(devices) devices, \(takes) takes",
        measured: "\(growth / 1024) MB, \(last.descriptors.count - first.descriptors.count) descriptors, "
          + "\(last.threads - first.threads) threads more",
        limit: "≤ 32 MB, 0, 0",
        kept: growth <= 32 << 10 && last.descriptors == first.descriptors && last.threads <= first.threads,
        isWhole: seconds >= 600)
    }
  }
}
