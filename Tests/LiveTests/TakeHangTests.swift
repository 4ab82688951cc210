import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension LiveTests {
  /// For a minute in `make faults`; otherwise for longer than the ring holds.
  @Suite(
    "R29: A disk that hangs",
    .enabled(if: Preload.compiler != nil, "there is no C compiler for the hanging disk"))
  struct TakeHangTests {
    let seconds = Faults.number("PINNA_HANG", quick: 10, heavy: 60)

    func graph() throws -> (LiveGraph, FrameClock, HungDisk) {
      let home = try PinnaHome()
      let disk = try HungDisk(home: home)
      let graph = try LiveGraph(
        preset: "phone5", period: 1024, synchronous: true, home: home, environment: disk.environment)
      return (graph, try graph.frameClock(), disk)
    }

    /// The longest that `status` took within `duration` seconds; a minute if one had no answer.
    func slowestAnswer(_ graph: LiveGraph, for duration: Double) throws -> Duration {
      let sender = try graph.sender()
      let end = ContinuousClock.now + .seconds(duration)
      var worst = Duration.zero
      while .now < end {
        let asked = ContinuousClock.now
        sender.send("/pinna/status")
        guard sender.reply(seconds: 5) != nil else { return .seconds(60) }
        worst = max(worst, .now - asked)
        usleep(50_000)
      }
      return worst
    }

    func report(_ moment: String, _ worst: Duration) {
      Faults.report(
        "R29", done: "disk hangs \(Int(seconds)) s \(moment): the control thread's slowest answer",
        took: worst,
        limit: .milliseconds(100))
    }

    @Test("R29: a disk that hangs during a take costs what the ring cannot hold, and control answers")
    func during() throws {
      let (graph, clock, disk) = try graph()
      let path = try graph.startTake("--dir", disk.folder)
      try graph.waitForTake(frames: 48_000)
      try disk.hang()
      defer { disk.release() }
      let worst = try slowestAnswer(graph, for: seconds)
      #expect(disk.hasBegun, "nothing was asked of the disk")
      disk.release()
      #expect(worst <= Faults.patience(.milliseconds(100)), "\(worst)")
      // The second before, the gap, and some of what came after it.
      try graph.waitForTake(frames: Int((seconds + 1.5) * 48_000))
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 7 && stop.error.contains("the disk could not keep up"), "\(stop)")
      let gaps = try TakeFiles.sidecar(path).gaps
      let lost = gaps.reduce(0) { $0 + $1.frames }
      // The ring holds 8 s, and a write begins within a second.
      let length = Double(lost) / 48_000
      #expect(gaps.allSatisfy { $0.cause == .disk } && length > seconds - 9 && length < seconds - 6.9)
      let wrong = try TakeFiles.misplacedFrames(path)
      #expect(wrong == 0)
      report("during a take", worst)
      Faults.report(
        "R29", done: "disk hangs \(Int(seconds)) s during a take: frames not kept, others out of their place",
        measured: "\(lost), \(wrong)", limit: "≤ \(Int((seconds - 6.9) * 48_000)), 0", kept: wrong == 0)
      withExtendedLifetime(clock) {}
    }

    @Test(
      "R29: a disk that hangs at the end of a take loses nothing, control answers, and the sender is answered"
    )
    func atTheEnd() throws {
      let (graph, clock, disk) = try graph()
      let path = try graph.startTake("--dir", disk.folder)
      try graph.waitForTake(frames: 48_000)
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
      withExtendedLifetime(clock) {}
    }

    @Test("R29: with a hanging disk, a stop takes at most 3 s and names the take that was not written")
    func stopped() throws {
      let (graph, clock, disk) = try graph()
      let path = try graph.startTake("--dir", disk.folder)
      try graph.waitForTake(frames: 48_000)
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
      withExtendedLifetime(clock) {}
    }

    @Test(
      "R29: a disk that hangs at the start of a take lets control answer; the take is refused and leaves no file"
    )
    func atTheStart() throws {
      let (graph, clock, disk) = try graph()
      try disk.hang()
      defer { disk.release() }
      let sender = try graph.sender()
      sender.send("/pinna/record/start", disk.folder)
      let worst = try slowestAnswer(graph, for: seconds)
      #expect(disk.hasBegun && worst <= Faults.patience(.milliseconds(100)) / 2, "\(worst)")
      let reply = sender.reply(seconds: 5)
      #expect(reply?.status == 1 && reply?.text.contains("disk") == true, "\(reply as Any)")
      #expect(try graph.status()["state"] as? String == "stopped")
      disk.release()
      let isEmpty = waitUntil(seconds: 5) {
        (try? FileManager.default.contentsOfDirectory(atPath: disk.folder))?.isEmpty == true
      }
      #expect(isEmpty)
      try graph.stopTake(graph.startTake("--dir", disk.folder))
      report("at the start of a take", worst)
      withExtendedLifetime(clock) {}
    }

    @Test("R29: with a hanging music folder, control answers and takes elsewhere begin at once")
    func musicFolder() throws {
      let home = try PinnaHome()
      let disk = try HungDisk(home: home)
      let graph = try LiveGraph(
        preset: "phone5", period: 1024, synchronous: true, home: home,
        environment: disk.environment.merging(["XDG_MUSIC_DIR": disk.folder]) { $1 })
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
      let refused = try slowestAnswer(graph, for: seconds)
      #expect(disk.hasBegun && refused <= Faults.patience(.milliseconds(100)), "\(refused)")
      let reply = sender.reply(seconds: 5)
      #expect(reply?.status == 1 && reply?.text.contains("disk") == true, "\(reply as Any)")
      report("with the music folder on it", max(worst, refused))
    }

    @Test("R29: a server that dies while the disk hangs is noticed, and control answers")
    func serverDies() throws {
      let (graph, clock, disk) = try graph()
      let path = try graph.startTake("--dir", disk.folder)
      try graph.waitForTake(frames: 48_000)
      try disk.hang()
      defer { disk.release() }
      try #require(waitUntil(seconds: 3) { disk.hasBegun })
      graph.killServer()
      let worst = try slowestAnswer(graph, for: 5)
      #expect(worst <= Faults.patience(.milliseconds(100)) / 2, "\(worst)")
      #expect(graph.program.errorText.contains("the JACK server has gone"))
      disk.release()
      // The ring's contents reach the disk, if late.
      try #require(waitUntil(seconds: 5) { access(path.replacing(".wav", with: ".json"), F_OK) == 0 })
      #expect(try TakeFiles.sidecar(path).frames > 40_000)
      #expect(try TakeFiles.misplacedFrames(path) == 0)
      report("while jackd dies", worst)
      withExtendedLifetime(clock) {}
    }
  }
}
