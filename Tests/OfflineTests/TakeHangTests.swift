import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension OfflineTests {
  /// For a minute in `make faults`, as slow as sound; otherwise for longer than the ring holds, by the graph's clock.
  @Suite(
    "R29: A disk that hangs",
    .enabled(if: Preload.compiler != nil, "there is no C compiler for the hanging disk"))
  struct TakeHangTests {
    let seconds = Faults.number("PINNA_HANG", quick: 10, heavy: 60)

    func graph(speed: Int = 1) throws -> (OfflineGraph, HungDisk) {
      let home = try PinnaHome()
      let disk = try HungDisk(home: home)
      let graph = try OfflineGraph(
        preset: "phone5", period: 1024, home: home, environment: disk.environment,
        speed: speed, inFreewheel: false)
      try graph.playClock()
      return (graph, disk)
    }

    /// The longest that `status` took while so many seconds of sound passed; a minute if one had no answer.
    func slowestAnswer(_ graph: OfflineGraph, for duration: Double) throws -> Duration {
      let start = try graph.frame()
      return try slowestAnswer(graph) { try graph.frame() - start >= Int(duration * 48_000) }
    }

    func slowestAnswer(_ graph: OfflineGraph, until isOver: () throws -> Bool) throws -> Duration {
      let sender = try graph.sender()
      var worst = Duration.zero
      _ = try waitUntil(seconds: 100, every: 50) {
        let asked = ContinuousClock.now
        sender.send("/pinna/status")
        let isAnswered = sender.reply(seconds: 5) != nil
        worst = isAnswered ? max(worst, .now - asked) : .seconds(60)
        return try !isAnswered || isOver()
      }
      return worst
    }

    func report(_ moment: String, _ worst: Duration) {
      Faults.report(
        "R29", done: "disk hangs \(Int(seconds)) s \(moment): the control thread's slowest answer",
        took: worst,
        limit: .milliseconds(100))
    }

    @Test(
      "R9, R29: a disk that hangs during a take costs nothing within the ring's 8 s; beyond, counted silence of the right length replaces frames; control answers",
      arguments: [5, max(12, Faults.number("PINNA_HANG", quick: 12, heavy: 60))])
    func during(seconds: Double) throws {
      let (graph, disk) = try graph(speed: Faults.areHeavy ? 1 : 8)
      let path = try graph.startTake("--dir", disk.folder, frames: 48_000)
      try graph.freeze(true)
      try disk.hang()
      defer { disk.release() }
      try graph.run(frames: 4800)
      try #require(waitUntil(seconds: 10) { disk.hasBegun }, "nothing was asked of the disk")
      let (kept, length) = (try graph.takeFrames(), Int(seconds * 48_000))
      let end = try graph.frame() + length
      try graph.command("run", "\(length)")
      let worst = try slowestAnswer(graph) { try graph.frame() >= end }
      disk.release()
      try #require(try waitUntil(seconds: 10) { try graph.takeFrames() > kept })
      try graph.freeze(false)
      #expect(worst <= Faults.patience(.milliseconds(100)), "\(worst)")
      // The second before, the gap, and some of what came after it.
      try graph.waitForTake(frames: length + 72_000)
      let stop = try graph.pinna("record", "stop")
      let document = try TakeFiles.sidecar(path)
      let lost = document.gaps.reduce(0) { $0 + $1.frames }
      #expect(document.gaps.allSatisfy { $0.cause == .disk })
      let isKept = seconds < 8
      if isKept {
        #expect(stop.status == 0 && lost == 0, "\(stop)")
      } else {
        #expect(stop.status == 7 && stop.error.contains("the disk could not keep up"), "\(stop)")
        // The ring holds 8 s, and a write begins within a tenth of a second.
        #expect(
          ((seconds - 9) * 48_000..<(seconds - (seconds > 12 ? 6.9 : 7)) * 48_000).contains(Double(lost)),
          "\(lost)")
      }
      // Every frame is in place, however long the silence before it.
      let raw = try TakeFiles.microphones(path).channels[0]
      let first = try #require(FrameClock.time(raw[0]))
      let wrong = try TakeFiles.misplacedFrames(path)
      #expect(wrong == 0 && raw.count == document.frames)
      #expect(
        raw.last { $0 != 0 }.flatMap(FrameClock.time).map { ($0 - first) & 0x7F_FFFF } == raw.count - 1)
      if !isKept { report("during a take", worst) }
      Faults.report(
        isKept ? "R9" : "R29",
        done: "disk hangs \(Int(seconds)) s during a take: frames not kept, others out of their place",
        measured: "\(lost), \(wrong)", limit: isKept ? "0, 0" : "≤ \(Int((seconds - 6.9) * 48_000)), 0",
        kept: (lost == 0) == isKept && wrong == 0)
    }

    @Test(
      "R29: a disk that hangs at the end of a take loses nothing, control answers, and the sender is answered"
    )
    func atTheEnd() throws {
      let (graph, disk) = try graph(speed: Faults.areHeavy ? 1 : 4)
      let path = try graph.startTake("--dir", disk.folder, frames: 48_000)
      try disk.hang()
      defer { disk.release() }
      let sender = try graph.sender()
      sender.send("/pinna/record/stop")
      let worst = try slowestAnswer(graph, for: seconds)
      disk.release()
      #expect(disk.hasBegun && worst <= Faults.patience(.milliseconds(100)), "\(worst)")
      // At most two seconds of writing are left.
      try #require(waitUntil(seconds: 5) { access(path.replacing(".wav", with: ".json"), F_OK) == 0 })
      let document = try TakeFiles.sidecar(path)
      let lost = document.gaps.reduce(0) { $0 + $1.frames }
      #expect(lost == 0 && document.frames > 40_000 && document.state == .complete, "\(document)")
      #expect(try TakeFiles.misplacedFrames(path) == 0)
      #expect(sender.reply(seconds: 5) != nil)
      report("at the end of a take", worst)
    }

    @Test("R29: with a hanging disk, a stop takes at most 3 s and names the take that was not written")
    func stopped() throws {
      let (graph, disk) = try graph()
      let path = try graph.startTake("--dir", disk.folder, frames: 48_000)
      try disk.hang()
      defer { disk.release() }
      let begun = ContinuousClock.now
      graph.program.signal(SIGTERM)
      let outcome = graph.program.wait(seconds: 8)
      let took = ContinuousClock.now - begun
      #expect(outcome?.status == 7 && took <= .seconds(3), "\(took)")
      #expect(outcome?.error.contains(path) == true)
      disk.release()
      if outcome == nil { _ = graph.program.wait(seconds: 10) }
    }

    @Test(
      "R29: a disk that hangs at the start of a take lets control answer; the take is refused and leaves no file",
      .long
    )
    func atTheStart() throws {
      let (graph, disk) = try graph()
      try disk.hang()
      defer { disk.release() }
      let sender = try graph.sender()
      sender.send("/pinna/record/start", disk.folder)
      var reply: ControlSender.Reply?
      let worst = try slowestAnswer(graph) {
        reply = reply ?? sender.reply(seconds: 0)
        return reply != nil
      }
      #expect(disk.hasBegun && worst <= Faults.patience(.milliseconds(100)) / 2, "\(worst)")
      #expect(reply?.status == 1 && reply?.text.contains("disk") == true, "\(reply as Any)")
      #expect(try graph.status()["state"] as? String == "stopped")
      disk.release()
      let isEmpty = waitUntil(seconds: 5) {
        (try? FileManager.default.contentsOfDirectory(atPath: disk.folder))?.isEmpty == true
      }
      #expect(isEmpty)
      try graph.stopTake(graph.startTake("--dir", disk.folder))
      report("at the start of a take", worst)
    }

    @Test("R29: with a hanging music folder, control answers and takes elsewhere begin at once", .long)
    func musicFolder() throws {
      let home = try PinnaHome()
      let disk = try HungDisk(home: home)
      let graph = try OfflineGraph(
        preset: "phone5", period: 1024, home: home,
        environment: disk.environment.merging(["XDG_MUSIC_DIR": disk.folder]) { $1 },
        speed: 1, inFreewheel: false)
      let elsewhere = TakeFolder.resolve(home.folder.path) + "/elsewhere"
      try disk.hang()
      defer { disk.release() }
      let sender = try graph.sender()
      sender.send("/pinna/record/start", elsewhere)
      let worst = try slowestAnswer(graph, for: 1)
      #expect(worst <= Faults.patience(.milliseconds(100)), "\(worst)")
      try #require(sender.reply(seconds: 5)?.status == 0)
      try graph.waitForTake(frames: 48_000)
      sender.send("/pinna/record/stop")
      #expect(sender.reply(seconds: 5)?.status == 0)
      #expect(!disk.hasBegun, "the music folder was looked at for a take elsewhere")
      // A take in the music folder waits for the disk, and nothing else does.
      sender.send("/pinna/record/start")
      var reply: ControlSender.Reply?
      let refused = try slowestAnswer(graph) {
        reply = reply ?? sender.reply(seconds: 0)
        return reply != nil
      }
      #expect(disk.hasBegun && refused <= Faults.patience(.milliseconds(100)), "\(refused)")
      #expect(reply?.status == 1 && reply?.text.contains("disk") == true, "\(reply as Any)")
      report("with the music folder on it", max(worst, refused))
    }

    @Test("R29: a server that dies while the disk hangs is noticed, and control answers")
    func serverDies() throws {
      let (graph, disk) = try graph()
      let path = try graph.startTake("--dir", disk.folder, frames: 48_000)
      try disk.hang()
      defer { disk.release() }
      try #require(waitUntil(seconds: 3) { disk.hasBegun })
      try graph.killServer()
      let gone = ContinuousClock.now
      let worst = try slowestAnswer(graph) {
        // Pinna has tried to join the graph again.
        try graph.status()["server"] as? String == "gone" && .now - gone > .seconds(2)
      }
      #expect(worst <= Faults.patience(.milliseconds(100)) / 2, "\(worst)")
      #expect(graph.says("the JACK server has gone"))
      disk.release()
      // The ring's contents reach the disk, if late.
      try #require(waitUntil(seconds: 5) { access(path.replacing(".wav", with: ".json"), F_OK) == 0 })
      #expect(try TakeFiles.sidecar(path).frames > 40_000)
      #expect(try TakeFiles.misplacedFrames(path) == 0)
      report("while the server dies", worst)
    }
  }
}
