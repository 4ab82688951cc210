import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension LiveTests {
  @Suite("Takes under faults") struct TakeFaultTests {
    /// Counts frames outside the sidecar's gaps that do not hold the server's frame time, and frames inside
    /// them that hold any. Periods that the clock itself missed, or in which it was late, do not count: its port repeats
    /// old samples there. They may be a quarter of the take at most.
    func misplacedFrames(_ sound: [Float], _ gaps: [Sidecar.Gap], _ clock: FrameClock) throws -> Int {
      let first = try #require(sound.firstIndex { FrameClock.time($0) != nil })
      let origin = FrameClock.time(sound[first])! - first
      var isGap = [Bool](repeating: false, count: sound.count)
      for gap in gaps { for n in gap.frame..<gap.frame + gap.frames { isGap[n] = true } }
      var isUnknown = [Bool](repeating: false, count: sound.count)
      for span in try clock.missed() {
        let start = (span.lowerBound - origin) & 0x7F_FFFF
        for n in start..<start + span.count where n < sound.count { isUnknown[n] = true }
      }
      let unknown = isUnknown.count { $0 }
      try #require(
        unknown * 4 <= sound.count, "the clock was late or absent for \(unknown) of \(sound.count) frames")
      return sound.indices.count { n in
        let time = FrameClock.time(sound[n])
        return isGap[n] ? time != nil : time != (origin + n) & 0x7F_FFFF && !isUnknown[n]
      }
    }

    @Test(
      "R10: a take during which Pinna was stopped for 3 s has its full length, with silence for the missing time"
    )
    func stall() throws {
      // A synchronous server would wait for Pinna instead of playing on.
      let (graph, clock) = try LiveGraph.clocked(period: 1024)
      let path = try graph.startTake()
      sleep(1)
      graph.program.signal(SIGSTOP)
      sleep(3)
      graph.program.signal(SIGCONT)
      sleep(1)
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 7 && stop.isOneSentence && stop.error.contains("are silence"), "\(stop)")
      let document = try TakeFiles.sidecar(path)
      let raw = try TakeFiles.microphones(path)
      let outputs = try AudioClip(path: path)
      #expect(document.frames == raw.frames && raw.frames == outputs.frames)
      let longest = try #require(document.gaps.max { $0.frames < $1.frames })
      #expect(longest.cause == .stall && abs(longest.frames - 144_000) < 4800, "\(longest)")
      #expect(document.pauses.isEmpty, "\(document.pauses)")
      let wrong = try misplacedFrames(raw.channels[0], document.gaps, clock)
      #expect(wrong == 0)
      Faults.report(
        "R10", done: "pinna stopped 3 s during a take: frames out of their place", measured: "\(wrong)",
        limit: "0", kept: wrong == 0)
      withExtendedLifetime(clock) {}
    }

    @Test(
      "R11: a take during which jackd was stopped for 3 s gets no extra frames, and its sidecar has the duration"
    )
    func serverStall() throws {
      // The synchronous server waits for the clock and for Pinna, so that only frames that never existed are
      // missing.
      let (graph, clock) = try LiveGraph.clocked(period: 128, synchronous: true)
      let path = try graph.startTake()
      sleep(1)
      kill(graph.server.pid, SIGSTOP)
      let stopped = ContinuousClock.now
      sleep(3)
      kill(graph.server.pid, SIGCONT)
      let gap = ContinuousClock.now - stopped
      sleep(1)
      try graph.stopTake(path)
      let document = try TakeFiles.sidecar(path)
      #expect(document.gaps.isEmpty, "\(document.gaps)")
      let pause = try #require(document.pauses.max { $0.seconds < $1.seconds })
      let off = Duration.seconds(pause.seconds) - gap
      let worst = max(off, .zero - off)
      let wrong = try misplacedFrames(TakeFiles.microphones(path).channels[0], document.gaps, clock)
      #expect(wrong == 0)
      #expect(worst <= Faults.patience(.milliseconds(10)), "\(worst)")
      Faults.report(
        "R11", done: "jackd stopped 3 s during a take: what the sidecar says, off by", took: worst,
        limit: .milliseconds(10))
      withExtendedLifetime(clock) {}
    }

    @Test(
      "R19: a takes folder with links, .. or names that are no folder is refused, and nothing is written"
    )
    func paths() throws {
      let graph = try LiveGraph(preset: "phone5")
      let folder = TakeFolder.resolve(graph.home.folder.path)
      try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "/etc")
      try graph.home.folder.write("", to: "file")
      mkfifo(folder + "/fifo", 0o600)
      let sender = try graph.sender()
      var refused = 0
      let hostile = ["/link", "/link/x", "/../x", "/file", "/fifo", "/a/../b"].map { folder + $0 }
      for path in hostile + ["relative", "/dev/null", "/proc/x", ""] {
        sender.send("/pinna/record/start", path)
        let reply = try #require(sender.reply(seconds: 5))
        #expect(reply.status == 1, "\(path): \(reply)")
        if reply.status == 1 { refused += 1 }
      }
      #expect(try graph.status()["state"] as? String == "stopped")
      #expect(!FileManager.default.fileExists(atPath: folder + "/a"))
      Faults.report(
        "R19", done: "links, .., files, FIFO, devices as takes folders: refused", measured: "\(refused)",
        limit: "\(hostile.count + 4)", kept: refused == hostile.count + 4)
      let odd = try graph.sender()
      odd.send("/pinna/record/start", "dir", folder, "raw")
      #expect(odd.reply(seconds: 5)?.status == 2)
      odd.send("/pinna/record/start", "speed", "2")
      #expect(odd.reply(seconds: 5)?.status == 2)
    }

    @Test("R20: a read-only takes folder is refused before the take begins")
    func readOnly() throws {
      let graph = try LiveGraph(preset: "phone5")
      let folder = graph.home.folder.path + "/read-only"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      // Root may write to any folder, but not to a file system that is mounted read-only.
      let isRoot = getuid() == 0
      if isRoot {
        let mounted = try Program.run("/usr/bin/mount", ["-t", "tmpfs", "-o", "ro,size=1m", "none", folder])
        try #require(mounted.status == 0, "\(mounted)")
      } else {
        chmod(folder, 0o555)
      }
      defer {
        if isRoot { _ = try? Program.run("/usr/bin/umount", [folder]) } else { chmod(folder, 0o755) }
      }
      var refused = 0
      for path in [folder, folder + "/new"] {
        let outcome = try graph.pinna("record", "start", "--dir", path)
        #expect(outcome.status == 1 && outcome.isOneSentence && outcome.error.contains("--dir"), "\(outcome)")
        if outcome.status == 1 { refused += 1 }
      }
      let state = try graph.status()["state"] as? String
      #expect(state == "stopped")
      Faults.report(
        "R20", done: "takes folders that are read-only: refused before the take", measured: "\(refused)",
        limit: "2", kept: refused == 2 && state == "stopped")
    }
  }
}
