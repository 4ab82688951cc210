import AudioFiles
import Foundation
import JackClient
import LiveSupport
import Recording
import TestSupport
import Testing

/// The duration of the run; `make soak` takes two hours.
private let enduranceSeconds =
  ProcessInfo.processInfo.environment["PINNA_ENDURANCE_SECONDS"].flatMap(Double.init) ?? 0

extension LiveTests {
  @Suite(
    "Hours of random requests and faults",
    .enabled(if: enduranceSeconds > 0, "PINNA_ENDURANCE_SECONDS is not set: make soak sets it to two hours"))
  struct EnduranceTests {
    struct Footprint: Equatable {
      var memory = 0
      /// What the open descriptors refer to, without numbers, which differ each time.
      var descriptors: [String] = []
      var threads = 0

      init(_ pid: Int32) throws {
        for line in try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8).split(separator: "\n")
        {
          let number = line.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first ?? 0
          if line.hasPrefix("VmRSS") { memory = number }
          if line.hasPrefix("Threads") { threads = number }
        }
        let folder = "/proc/\(pid)/fd/"
        descriptors = try FileManager.default.contentsOfDirectory(atPath: folder).map {
          (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + $0))?
            .replacing(/[0-9]+/, with: "N") ?? "closed meanwhile"
        }
        // libjack opens a semaphore for each client in the graph; the clock is not always there.
        .filter { !$0.hasSuffix("_frame-clock") }.sorted()
      }
    }

    /// A clock for the life of one server: the graph's frame clock on Pinna's first microphone.
    func clock(_ graph: LiveGraph) throws -> FrameClock {
      var opened: FrameClock?
      // A busy server may refuse clients for a moment.
      _ = waitUntil(seconds: 20) {
        opened = try? FrameClock(server: graph.server.name)
        return opened != nil
      }
      let clock = try opened ?? FrameClock(server: graph.server.name)
      try clock.connect(to: "pinna:" + graph.microphones()[0])
      return clock
    }

    /// Pinna's footprint with the first device at a period of 1024 while nothing is under way. It must stay
    /// the same, whatever Pinna did before.
    func footprintAtRest(_ graph: LiveGraph) throws -> Footprint {
      try #require(try graph.pinna("preset", "use", "phone5").status == 0)
      try #require(graph.requestPeriod(1024))
      var last: Footprint?
      let isAtRest = try waitUntil(seconds: 20, every: 500) {
        let before = last
        last = try Footprint(graph.program.pid)
        return last == before
      }
      try #require(isAtRest, "it does not come to rest: \(last as Any)")
      return try #require(last)
    }

    @Test(
      "R40: random changes, takes, periods, stalls and server deaths leak nothing and misplace no frame"
    )
    func everything() throws {
      let home = try PinnaHome()
      try home.addPair()
      let graph = try LiveGraph(preset: "phone5", period: 1024, synchronous: true, home: home)
      let seed = ProcessInfo.processInfo.environment["PINNA_SEED"].flatMap(UInt64.init) ?? 40
      var noise = SeededNoise(seed: seed)
      var clock: FrameClock? = try clock(graph)
      var (takes, wrong, changes, deaths) = (0, 0, 0, 0)
      // The last steps, reported when one fails.
      var steps: [String] = []
      func step(_ what: String) {
        if steps.count == 12 { steps.removeFirst() }
        steps.append(what)
      }
      func described(_ error: any Error) -> SupportError {
        let status = (try? graph.pinna("status", "--json").output) ?? "no status"
        print("R40: status \(status); warnings \(graph.program.errorText.suffix(2000))")
        return SupportError("\(error); the last steps, seed \(seed): \(steps.joined(separator: ", "))")
      }
      var footprints: [Footprint] = []
      let start = ContinuousClock.now
      let end = start + .seconds(enduranceSeconds)
      while .now < end {
        do {
          switch noise.next() % 16 {
          case 0..<7:
            let words = [
              ["set", "--pattern", "stereo"], ["set", "--pattern", "omnidirectional"],
              ["set", "--gain", "-3"],
              ["set", "--mute", "on"], ["set", "--mute", "off"],
            ].randomElement(using: &noise)!
            step(words.joined(separator: " "))
            #expect(try graph.home.pinna(words).status == 0, "\(words), seed \(seed)")
            changes += 1
          case 7..<10:
            clock = nil
            let preset = ["phone5", "pair"].randomElement(using: &noise)!
            step("preset use \(preset)")
            let use = try graph.pinna("preset", "use", preset)
            #expect(use.status == 0, "\(use), seed \(seed)")
            clock = try self.clock(graph)
            changes += 1
          case 10..<14:
            step("take")
            let path = try graph.startTake()
            try clock!.wait(frames: Int.random(in: 480...72_000, using: &noise))
            if noise.next() % 4 == 0 {
              step("standstill")
              suspend(graph.server.pid, seconds: Double.random(in: 0.01...1.5, using: &noise))
              try clock!.wait(frames: 4800)
            }
            let stop = try graph.pinna("record", "stop")
            #expect([0, 7].contains(stop.status), "\(stop), seed \(seed)")
            wrong += try TakeFiles.misplacedFrames(path, afterSilence: true)
            for ending in [".wav", "-microphones.wav", ".json"] {
              unlink(path.replacing(".wav", with: ending))
            }
            takes += 1
          case 14:
            let period = [256, 1024, 2048].randomElement(using: &noise)!
            step("period \(period)")
            #expect(graph.requestPeriod(period))
          default:
            let isRecording = noise.next() % 2 == 0
            step("server killed\(isRecording ? " in a take" : "")")
            let path = isRecording ? try graph.startTake() : nil
            try clock!.wait(frames: Int.random(in: 0...14_400, using: &noise))
            clock = nil
            graph.killServer()
            try #require(try waitUntil(seconds: 5) { try graph.status()["server"] as? String == "gone" })
            try graph.restartServer(period: 1024)
            try #require(try waitUntil(seconds: 10) { try graph.status()["server"] as? String == "running" })
            if let path {
              // The frame clock was closed before the server died, and a held frame says nothing about Pinna.
              #expect(try TakeFiles.complaints(path) == [], "seed \(seed)")
              takes += 1
            }
            clock = try self.clock(graph)
            deaths += 1
          }
          if .now > start + .seconds(enduranceSeconds / 8) * (footprints.count + 1) {
            step("rest")
            clock = nil
            footprints.append(try footprintAtRest(graph))
            clock = try self.clock(graph)
          }
        } catch { throw described(error) }
      }
      let last = try footprintAtRest(graph)
      // By the second measurement, caches and the threads' memory have filled.
      let first = try #require(footprints.dropFirst().first)
      print(
        "R40: memory in kB at rest:", (footprints + [last]).map { "\($0.memory)" }.joined(separator: ", "))
      #expect(wrong == 0, "seed \(seed)")
      #expect(last.descriptors == first.descriptors && last.threads <= first.threads, "\(first), \(last)")
      #expect(last.memory - first.memory <= 4096, "\(first), \(last)")
      Faults.report(
        "R40",
        done: "\(Int(enduranceSeconds)) s: \(changes) changes, \(takes) takes, \(deaths) dead servers",
        measured:
          "\(wrong) wrong frames, \(last.memory - first.memory) kB, \(last.descriptors.count - first.descriptors.count) descriptors, "
          + "\(last.threads - first.threads) threads more",
        limit: "0, ≤ 4096 kB, 0, 0",
        kept: wrong == 0 && last.descriptors == first.descriptors && last.threads <= first.threads
          && last.memory - first.memory <= 4096,
        isWhole: enduranceSeconds >= 7200)
      withExtendedLifetime(clock) {}
    }
  }
}
