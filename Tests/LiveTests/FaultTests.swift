import AudioFiles
import Foundation
import JackClient
import LiveSupport
import Messages
import Processor
import Recording
import Synchronization
import TestSupport
import Testing

extension LiveTests {
  @Suite("Faults") struct FaultTests {
    /// A whole number of periods of 1024 frames, so that the output repeats exactly.
    static let loop: [[Float]] = SeededNoise.channels(5, 47 * 1024, amplitude: 0.25, seed: 1)

    /// Resident memory in kB and open descriptors of a program.
    func footprint(_ program: Program) throws -> (memory: Int, descriptors: Int) {
      (try program.residentMemory(), try program.openDescriptors())
    }

    @Test(
      "R1: the output of hours of sound at period 1024 repeats bit for bit, in memory that does not grow",
      .nightly)
    func hours() throws {
      let graph = try LiveGraph(preset: "phone5", period: 1024)
      let player = try graph.player(Self.loop, repeats: true)
      player.start()
      try #require(waitUntil(seconds: 5) { player.isFinished })
      let hours = Faults.number("PINNA_FAULT_HOURS", quick: 24, heavy: 24)
      let patience = Faults.number("PINNA_FAULT_SECONDS", quick: 4, heavy: 240)
      var first = (memory: 0, descriptors: 0)
      var last = first
      let listener = try LoopListener(server: graph.server.name, source: "pinna:out_left", length: 47 * 1024)
      try graph.freewheel {
        try player.wait(frames: 10 * 47 * 1024)
        listener.listen()
        // Warm after a tenth of the hours, or two seconds.
        let start = ContinuousClock.now
        _ = waitUntil(seconds: min(30, patience / 4)) { listener.frames > Int(hours * 3600 * 48_000 / 10) }
        first = try footprint(graph.program)
        _ = waitUntil(seconds: patience - (ContinuousClock.now - start) / .seconds(1)) {
          listener.frames >= Int(hours * 3600 * 48_000)
        }
        last = try footprint(graph.program)
      }
      let done = Double(listener.frames) / 48_000 / 3600
      #expect(listener.frames > 0)
      #expect(listener.differentFrames == 0 && listener.framesNotFinite == 0)
      #expect(last.memory - first.memory <= 1024, "\(first) to \(last)")
      #expect(last.descriptors == first.descriptors)
      let wrong = listener.differentFrames + listener.framesNotFinite
      Faults.report(
        "R1", done: String(format: "%.1f h of sound in freewheel, period 1024", done),
        measured: "\(wrong) wrong frames, \(last.memory - first.memory) kB more",
        limit: "0, ≤ 1024 kB", kept: wrong == 0 && last.memory - first.memory <= 1024,
        isWhole: done >= 24)
      withExtendedLifetime(player) {}
    }

    @Test("R13: while the period changes between 64 and 4096, a take misses no frame of the output")
    func periods() throws {
      // In a synchronous server every client takes part in every period, so the recorder holds the whole
      // output.
      let graph = try LiveGraph(preset: "phone5", period: 64, synchronous: true)
      // The signal never repeats, so that every frame has one position in it.
      var noise = SeededNoise(seed: 13)
      let player = try graph.player((0..<5).map { _ in noise.samples(30 * 48_000, amplitude: 0.25) })
      let recorder = try graph.recorder(seconds: 30)
      player.start()
      try #require(waitUntil(seconds: 5) { player.framesPlayed > 4800 })
      let path = try #require(
        try graph.pinna("record", "start", "--raw", "--json").json()["take"] as? String)
      for period in [4096, 64, 4096, 64, 4096, 64] {
        #expect(graph.requestPeriod(period))
        try player.wait(frames: 12_000)
      }
      let frames = try #require(try graph.pinna("record", "stop", "--json").json()["frames"] as? Int)
      #expect(try graph.status()["unpreparedPeriods"] as? Int == 0)
      try recorder.wait(frames: 4800)
      let take = try AudioClip(path: path)
      let raw = try AudioClip(path: path.replacing(".wav", with: "-microphones.wav"))
      #expect(take.frames == frames && raw.frames == frames && frames > 48_000)
      #expect(try Sidecar.read(path.replacing(".wav", with: ".json")).gaps == [])
      let sound = recorder.everything
      let head = Array(raw.channels[0].prefix(64))
      let start = try #require(sound[2].indices.first { sound[2][$0...].starts(with: head) })
      let pairs = zip(take.channels + [raw.channels[0]], sound)
      let missing = pairs.reduce(0) { sum, pair in
        sum + zip(pair.0, pair.1[start...]).count { $0.bitPattern != $1.bitPattern }
      }
      #expect(missing == 0)
      Faults.report(
        "R13",
        done: "period 64 ↔ 4096 six times during a take of \(frames) frames: frames that differ from what "
          + "came out", measured: "\(missing)", limit: "0", kept: missing == 0)
      withExtendedLifetime(player) {}
    }

    @Test("R18: a flood of packets causes no xrun, is counted, and control answers again", .nightly)
    func flood() throws {
      let total = Int(Faults.number("PINNA_FAULT_PACKETS", quick: 100_000, heavy: 1_000_000))
      // The period is long enough that an xrun is not the machine's own.
      let graph = try LiveGraph(preset: "phone5", period: 1024)
      let player = try graph.player(Self.loop, repeats: true)
      player.start()
      func xruns() throws -> Int { try #require(try graph.status()["xruns"] as? Int) }
      // Half of the packets are malformed. The others are requests without a reply address, changes, and
      // requests that are refused.
      let good = [
        OSCMessage("/pinna/set/gain", [.float(-3)]).packet,
        OSCMessage("/pinna/set/pattern", [.string("x")]).packet,
        OSCMessage("/pinna/nothing").packet,
      ]
      let before = try xruns()
      let dropped = try #require(try graph.status()["droppedPackets"] as? Int)
      let mute = try ControlSender(runtimeFolder: graph.home.runtimeFolder, drains: true)
      var noise = SeededNoise(seed: 18)
      let hostile = (0..<997).map { _ in
        [UInt8](
          repeating: UInt8.random(in: 0...255, using: &noise),
          count: 4 * Int.random(in: 0...50, using: &noise))
      }
      for n in 0..<total / 2 {
        mute.send(hostile[n % 997])
        mute.send(good[n % 3])
      }
      let sender = try graph.sender()
      let start = ContinuousClock.now
      sender.send("/pinna/status")
      #expect(sender.reply(seconds: 5)?.status == 0)
      let answered = ContinuousClock.now - start
      let added = try xruns() - before
      // The last packets wait until their sender has read the answers before.
      var counted = 0
      #expect(
        try waitUntil(seconds: 4) {
          mute.drain()
          counted = try #require(try graph.status()["droppedPackets"] as? Int) - dropped
          return counted >= total / 2
        })
      #expect(counted == total / 2)
      // With other programs running, as in `make test`, an xrun may be the machine's own; `make faults` runs
      // alone.
      if Faults.areHeavy { #expect(added == 0) }
      #expect(answered <= Faults.patience(.milliseconds(100)), "\(answered)")
      Faults.report("R18", done: "\(total) packets: answers again", took: answered, limit: .milliseconds(100))
      Faults.report(
        "R18", done: "\(total) packets, half of them malformed and counted: xruns added",
        measured: "\(added)",
        limit: "0",
        kept: added == 0, isWhole: total >= 1_000_000)
      withExtendedLifetime(player) {}
    }

    @Test("R23: without realtime rights Pinna runs and says so once")
    func noRealtimeRights() throws {
      let home = try PinnaHome()
      // Root drops only this capability; other users never had it.
      let wrapper = getuid() == 0 ? ["/usr/bin/setpriv", "--bounding-set", "-sys_nice"] : ["/usr/bin/env"]
      func start(_ words: [String], _ environment: [String: String]? = nil) throws -> Program {
        try Program(wrapper[0], Array(wrapper.dropFirst()) + words, environment: environment)
      }
      let name = LiveGraph.uniqueName()
      let server = try start(["/usr/bin/jackd", "-n", name, "-R", "-p", "128", "-d", "dummy"])
      defer { server.stop() }
      try #require(
        try waitUntil(seconds: 5) { try Program.run("/usr/bin/jack_lsp", ["-s", name]).status == 0 })
      let pinna = try start([PinnaHome.binary(), "run", "--server", name], home.environment)
      defer { pinna.stop() }
      try #require(try waitUntil(seconds: 5) { try home.pinna("set", "--gain", "-1").status == 0 })
      let sentence = "does not grant realtime scheduling"
      #expect(
        try waitUntil(seconds: 2) {
          (try home.pinna("status", "--json").json()["warnings"] as? [String] ?? []).contains {
            $0.contains(sentence) && $0.contains("rtprio")
          }
        })
      try FrameClock(server: name).wait(frames: 14_400)
      let reports = pinna.errorText.components(separatedBy: sentence).count - 1
      #expect(reports == 1)
      Faults.report(
        "R23", done: "no realtime rights: runs, and said it", measured: "\(reports) time(s)", limit: "1",
        kept: reports == 1)
    }
  }
}
