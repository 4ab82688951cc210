import AudioFiles
import Foundation
import JackClient
import JackTools
import LiveSupport
import Recording
import TestSupport
import Testing

/// The duration of the run in seconds; `make soak` takes ten minutes.
private let seconds =
  Double(ProcessInfo.processInfo.environment["PINNA_PIPEWIRE_SECONDS"] ?? "") ?? 21

extension LiveTests {
  @Suite(
    "PipeWire with changing quanta and rates",
    .enabled(if: LiveGraph.isPipeWire, "libjack is JACK2's: run the tests with pw-jack for PipeWire"))
  struct PipeWireEnduranceTests {
    /// The frames of a take's first microphone that do not follow its first one by the frame clock, gaps included. Where
    /// the clock itself was late it tells the time of the next period, for up to 0.17 s: frames there are not judged, but
    /// those after it are.
    func misplacedFrames(_ path: String, _ missed: [Range<Int>], _ falls: [Int: Int]) throws -> (
      count: Int, judged: Int, first: String
    ) {
      let (sidecar, raw) = (try TakeFiles.sidecar(path), try TakeFiles.microphones(path).channels[0])
      #expect(raw.count == sidecar.frames)
      guard let first = raw.firstIndex(where: { $0 != 0 }) else { return (raw.count, raw.count, "silence") }
      var isJudged = [Bool](repeating: true, count: raw.count)
      for gap in sidecar.gaps { for n in gap.frame..<gap.frame + gap.frames { isJudged[n] = false } }
      var due = FrameClock.time(raw[first])!
      for span in missed + falls.map({ $0.key - Self.late..<$0.key }) {
        let start = first + (span.lowerBound - due) & 0x7F_FFFF
        for n in start..<max(start, min(raw.count, start + span.count + Self.late)) { isJudged[n] = false }
      }
      // The frame after a gap, and what was due where the gap began.
      let gaps = Dictionary(sidecar.gaps.map { ($0.frame + $0.frames, $0.frames) }) { max($0, $1) }
      var (wrong, judged, words) = (0, 0, "")
      for n in first..<raw.count {
        defer { due = (due + 1) & 0x7F_FFFF }
        let time = FrameClock.time(raw[n])
        // From 1.4 on, the frame time falls back where the period changes.
        if let time, falls[due] == time || gaps[n].map({ falls[(due - $0) & 0x7F_FFFF] != nil }) == true {
          due = time
        }
        guard isJudged[n] else { continue }
        judged += 1
        guard time != due else { continue }
        if wrong == 0 {
          words =
            "frame \(n) of \(raw.count) holds \(time.map { "\($0)" } ?? "silence"), not \(due); "
            + "gaps \(sidecar.gaps); missed \(missed); falls \(falls)"
        }
        wrong += 1
      }
      return (wrong, judged, words)
    }
    private static let late = 8192

    @Test(
      "R34: every frame of every take is in place while quantum, rate and orientation change at random, and another program comes and goes",
      .nightly)
    func everything() throws {
      let graph = try LiveGraph(preset: "phone5", period: 256)
      let pipeWire = try #require(graph.pipeWire)
      #expect(try graph.home.pinna("design", "phone5", "--sample-rate", "96000").status == 0)
      let clock = try FrameClock(server: graph.server.name)
      try clock.connect(to: "pinna:" + graph.microphones()[0])
      var noise = SeededNoise(seed: 34)
      let orientations = ["portrait", "portraitUpsideDown", "landscapeLeft", "landscapeRight"]
      let sender = try graph.sender()
      var (takes, paths, rates, quanta, wrong, judged, frames) = (0, [String](), 0, 0, 0, 0, 0)
      var isRecording = false
      var memory: [Int] = []
      // Tenths of a second of sound.
      var (rate, due) = (48_000, try clock.played())
      var guest: SignalPlayer?
      for tenth in 0..<Int(seconds * 10) {
        if tenth % 20 == 7 {
          guest = try SignalPlayer(name: "guest", server: graph.server.name, channels: [[0]], repeats: true)
          _ = guest!.connect(to: ["pinna:" + (try graph.microphones())[1]])
        } else if tenth % 20 == 14 {
          guest = nil
        }
        if tenth % 10 == 3 {
          try pipeWire.set(
            "clock.force-quantum", [64, 128, 256, 512, 1024, 2048].randomElement(using: &noise)!)
          quanta += 1
        }
        if tenth % 70 == 65 {
          rate = [44100, 48000, 96000].randomElement(using: &noise)!
          try pipeWire.set("clock.force-rate", rate)
          rates += 1
        }
        // Takes of 3 s every 10 s.
        if tenth % 100 == 20 {
          // The rate may have changed 1.5 s before, and filters for it are still being read.
          try #require(waitUntil(seconds: 10) { (try? graph.status()["server"] as? String) == "running" })
          paths.append(try graph.startTake())
          isRecording = true
        } else if tenth % 100 == 50 {
          let stop = try graph.pinna("record", "stop")
          #expect([0, 3, 7].contains(stop.status), "\(stop)")
          isRecording = false
          takes += 1
        }
        if !isRecording { sender.send("/pinna/set/orientation", orientations.randomElement(using: &noise)!) }
        while sender.reply(seconds: 0) != nil {}
        if tenth % 100 == 99 { memory.append(try Self.residentMemory(graph.program.pid)) }
        due += rate / 10
        try clock.wait(frames: due - clock.played())
      }
      if isRecording { _ = try graph.pinna("record", "stop") }
      try clock.wait(frames: 48_000)
      let (missed, falls) = (try clock.missed(), try clock.falls())
      var causes: [String: Int] = [:]
      for path in paths {
        for gap in try TakeFiles.sidecar(path).gaps { causes[gap.cause.rawValue, default: 0] += 1 }
        let misplaced = try misplacedFrames(path, missed, falls)
        wrong += misplaced.count
        judged += misplaced.judged
        frames += try TakeFiles.sidecar(path).frames
        #expect(misplaced.count == 0, "\(misplaced.first)")
        #expect(try TakeFiles.complaints(path) == [])
      }
      let growth = (memory.last ?? 0) - (memory.dropFirst().first ?? memory.last ?? 0)
      #expect(takes > 0 && judged > frames / 10, "\(judged) of \(frames)")
      let server = try graph.status()["server"] as? String
      #expect(server == "running", "\(graph.program.errorText)")
      #expect(growth <= 4096, "\(memory)")
      Faults.report(
        "R34", done: "\(Int(seconds)) s of PipeWire: \(quanta) quanta, \(rates) rates, \(takes) takes",
        measured: "\(wrong) wrong frames of \(judged) judged, of \(frames); \(growth) kB more",
        limit: "0, ≤ 4096 kB",
        kept: wrong == 0 && growth <= 4096)
      let reasons = causes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
      Faults.report(
        "R34", done: "the causes of their gaps", measured: reasons, limit: "none disk",
        kept: causes["disk"] == nil)
      withExtendedLifetime(guest) {}
    }

    /// Ten times for `make nightly`. The clock plays the frame time, so that each frame of a take says which it is.
    @Test("R34: freewheel in a take: it says so, and frames are missing only where it says so, too")
    func freewheel() throws {
      let graph = try LiveGraph(preset: "phone5", period: 256)
      let clock = try FrameClock(server: graph.server.name)
      try clock.connect(to: "pinna:" + graph.microphones()[0])
      // PipeWire takes those along that are connected to the one who asks.
      let recorder = try SignalRecorder(
        name: "others", server: graph.server.name, channels: 2, capacityFrames: 480)
      try #require(recorder.connect(from: ["pinna:out_left", "pinna:out_right"]))
      let count = Int(Faults.number("PINNA_FREEWHEELS", quick: 3, heavy: 10))
      let path = try graph.startTake(frames: 24_000)
      for _ in 0..<count {
        try #require(recorder.graph.setFreewheel(true))
        try clock.wait(frames: 4800)
        try #require(recorder.graph.setFreewheel(false))
        try graph.waitForTake(frames: graph.takeFrames() + 12_000)
      }
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 7 && stop.error.contains("freewheel"), "\(stop)")
      let sidecar = try TakeFiles.sidecar(path)
      let events = sidecar.events.map(\.what)
      #expect(events.count { $0 == "the server went over to freewheel" } == count, "\(events)")
      #expect(events.count { $0 == "the server ended freewheel" } == count, "\(events)")
      let raw = try TakeFiles.microphones(path).channels[0]
      #expect(raw.count == sidecar.frames)
      // 0.3 loses frames in freewheel, and its frame time does not tell where.
      let isFreewheelExact = !JackLibrary.version.contains("PipeWire 0.3")
      let places = sidecar.gaps.filter { $0.cause == .freewheel }.map(\.frame)
      let freewheel = isFreewheelExact ? 0..<0 : (places.min() ?? 0)..<(places.max() ?? 0)
      let edges = Set(sidecar.gaps.flatMap { [$0.frame, $0.frame + $0.frames] })
      // Where the clock itself was late or not called, it says so; or it played nothing.
      let missed = Set(try clock.missed().map(\.lowerBound)).union(try clock.falls().keys)
      var unsaid: [String] = []
      for n in raw.indices.dropFirst() where !edges.contains(n) && !freewheel.contains(n) {
        guard let before = FrameClock.time(raw[n - 1]), let time = FrameClock.time(raw[n]) else { continue }
        let expected = (before + 1) & 0x7F_FFFF
        if time != expected, !missed.contains(expected) { unsaid.append("\(n): \(time) after \(before)") }
      }
      #expect(unsaid.isEmpty, "\(unsaid.prefix(8)); gaps \(sidecar.gaps)")
      Faults.report(
        "R34", done: "PipeWire in freewheel \(count) times in a take: jumps that no gap tells",
        measured: "\(unsaid.count)", limit: "0", kept: unsaid.isEmpty)
    }

    /// In kB.
    static func residentMemory(_ pid: Int32) throws -> Int {
      let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS") }
      return line?.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first ?? 0
    }
  }
}
