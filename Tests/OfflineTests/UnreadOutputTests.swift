import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Standard output and error that nobody reads") struct UnreadOutputTests {
    /// A full FIFO that nobody reads.
    private final class FullPipe {
      let path: String
      private let descriptor: Int32

      init(in folder: String) throws {
        path = folder + "/nobody-reads"
        mkfifo(path, 0o600)
        // Opens both ends, so that opening neither waits nor fails.
        descriptor = open(path, O_RDWR | O_NONBLOCK)
        try #require(descriptor >= 0)
        let block = [UInt8](repeating: 120, count: 4096)
        for size in [4096, 1] { while write(descriptor, block, size) > 0 {} }
      }

      deinit { close(descriptor) }
    }

    /// Runs Pinna with its output redirected, makes it print a lot during a take, and stops it.
    private func run(_ name: String, redirection: String, home: PinnaHome) throws {
      home.redirection = redirection
      let graph = try OfflineGraph(preset: "phone5", period: 1024, home: home)
      try graph.playClock()
      let path = try graph.startTake()
      // A status of some 2 KB each: many times what a pipe holds. Reloading phone5 during a take fails, which
      // Pinna prints, too.
      var slowest = Duration.zero
      for _ in 0..<50 {
        for _ in 0..<4 {
          graph.program.signal(SIGUSR1)
          // Signals that coincide are merged.
          try graph.wait(frames: 1920)
        }
        graph.program.signal(SIGHUP)
        let start = ContinuousClock.now
        #expect(try graph.status()["state"] as? String == "recording")
        slowest = max(slowest, .now - start)
      }
      try graph.stopTake(path)
      let raw = try TakeFiles.microphones(path).channels[0]
      let times = raw.map(FrameClock.time)
      let first = try #require(times[0])
      let wrong = times.indices.count { times[$0] != (first + $0) & 0x7F_FFFF }
      #expect(wrong == 0)
      // No message landed in a file: a closed descriptor's number is reused by the next file.
      let files = try FileManager.default.subpathsOfDirectory(atPath: home.takesFolder)
      #expect(!files.isEmpty && !files.contains { $0.hasSuffix(".part") }, "\(files)")
      // The command line takes part of a second to start; a control thread that waits would take minutes.
      #expect(slowest < Faults.patience(.seconds(1)))
      let begun = ContinuousClock.now
      graph.program.signal(SIGTERM)
      let outcome = try #require(graph.program.wait(seconds: 20))
      let end = ContinuousClock.now - begun
      #expect(outcome.status == 0, "\(outcome)")
      #expect(end < Faults.patience(.seconds(1)))
      Faults.report(
        "R43", done: "output \(name), 200 statuses told: slowest answer", took: slowest, limit: .seconds(1))
      Faults.report("R43", done: "output \(name): TERM until the end", took: end, limit: .seconds(1))
      Faults.report(
        "R43", done: "output \(name): frames of the take that are wrong", measured: "\(wrong)", limit: "0",
        kept: wrong == 0)
    }

    @Test(
      "R43: standard output and error that are unread, full, closed or on a full device delay nothing")
    func unread() throws {
      let home = try PinnaHome()
      let pipe = try FullPipe(in: home.folder.path)
      try run("unread", redirection: ">'\(pipe.path)' 2>&1", home: home)
      try run("closed", redirection: ">&- 2>&- <&-", home: try PinnaHome())
      try run("on a full device", redirection: ">/dev/full 2>&1", home: try PinnaHome())
      withExtendedLifetime(pipe) {}
    }

    @Test(
      "R43: a full disk behind standard output and error delays nothing",
      .enabled(if: Program.canMount, "this user may not mount a disk that is full"))
    func fullDisk() throws {
      let home = try PinnaHome()
      let folder = home.folder.path + "/full"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      let mounted = try Program.run("/usr/bin/mount", ["-t", "tmpfs", "-o", "size=16k", "none", folder])
      try #require(mounted.status == 0, "\(mounted)")
      defer { _ = try? Program.run("/usr/bin/umount", ["-l", folder]) }
      try? Data(count: 1 << 20).write(to: URL(filePath: folder + "/filler"))
      try run("on a full disk", redirection: ">>'\(folder)/log' 2>&1", home: home)
    }
  }
}
