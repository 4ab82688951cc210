import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Messages about takes") struct TakeWordsTests {
    let silence = "silence, because no microphone is connected"
    let rest = "; not recorded: microphones (--raw)\n"

    func graph() throws -> OfflineGraph { try OfflineGraph(preset: "phone5", period: 1024, captures: 2) }

    /// The output of `record start` without how long the disk lasts, which is its end.
    func withoutRoom(_ start: Program.Outcome) throws -> String {
      let room = try #require(
        start.output.firstMatch(of: /; the disk has room for \d+ (second|minute|hour)s?\n$/), "\(start)")
      return start.output[..<room.range.lowerBound] + "\n"
    }

    func path(_ start: Program.Outcome) throws -> String {
      try #require(start.status == 0, "\(start)")
      return String(try #require(start.output.firstMatch(of: /recording (\S+\.wav)/)).1)
    }

    func warnings(_ graph: OfflineGraph) throws -> [String] {
      try #require(try graph.status()["warnings"] as? [String])
    }

    /// The lines of standard error that name the take.
    func lines(_ text: String, _ path: String) -> [Substring] {
      text.split(separator: "\n").filter { $0.contains(path) }
    }

    @Test("the start of a take names the microphones that are not connected")
    func unconnected() throws {
      let graph = try graph()
      try graph.waitForLook()
      let silent = try graph.pinna("record", "start")
      #expect(try withoutRoom(silent) == "recording \(try path(silent)): \(silence)\(rest)")
      let document = try graph.stopTake(path(silent))
      #expect(document.notes == ["no microphone was connected when the take began"])
      let names = try graph.microphones()
      try graph.play(SeededNoise.loop(channels: 2))
      try graph.waitForLook()
      let partly = try graph.pinna("record", "start")
      #expect(
        try withoutRoom(partly)
          == "recording \(try path(partly)): 3 of 5 microphones are not connected: "
          + names.dropFirst(2).joined(separator: ", ") + rest)
      try graph.stopTake(path(partly))
    }

    @Test(
      "a take that the server's death ended is reported by record stop, status, sidecar, and once by the run")
    func serverDies() throws {
      let graph = try graph()
      let path = try graph.startTake(frames: 24_000)
      try graph.killServer()
      #expect(try waitUntil(seconds: 5) { try graph.status()["server"] as? String != "running" })
      let stop = try graph.pinna("record", "stop")
      let document = try TakeFiles.sidecar(path)
      #expect(stop.status == 3 && stop.isOneSentence, "\(stop)")
      for words in [path, "\(document.frames) frames", "because the JACK server", "complete"] {
        #expect(stop.error.contains(words), "\(stop)")
      }
      #expect(document.state == .complete)
      #expect(document.events.contains { $0.what.contains("the JACK server has gone") }, "\(document.events)")
      let last = try graph.status()["lastTake"] as? [String: Any]
      #expect(last?["path"] as? String == path && last?["frames"] as? Int == document.frames)
      #expect((last?["endedBecause"] as? String)?.contains("JACK server") == true, "\(last as Any)")
      #expect(try graph.pinna("status").output.contains("last take: \(path), \(document.frames) frames"))
      graph.restartServer()
      #expect(try waitUntil(seconds: 5) { try graph.status()["server"] as? String == "running" })
      let back = try graph.pinna("record", "stop")
      #expect(back.status == 3 && back.error == stop.error, "\(back)")
      #expect(try graph.pinna("stop").status == 0)
      let end = try #require(graph.program.wait(seconds: 5))
      #expect(end.status == 0 && lines(end.error, path).count == 1, "\(end)")
    }

    @Test("a take that ends with Pinna is named by the stop and the run; one that was reported before is not")
    func stop() throws {
      let graph = try graph()
      let first = try graph.startTake(frames: 24_000)
      try graph.stopTake(first)
      let path = try graph.startTake(frames: 24_000)
      let stop = try graph.pinna("stop")
      let frames = try TakeFiles.sidecar(path).frames
      #expect(stop.status == 0 && stop.output == "stopped; take \(path): \(frames) frames\n", "\(stop)")
      let end = try #require(graph.program.wait(seconds: 5))
      #expect(
        end.status == 0 && lines(end.error, path).count == 1 && lines(end.error, first).isEmpty, "\(end)")
    }

    @Test("a take whose folder is removed warns while it runs and suggests nothing impossible at its end")
    func folderRemoved() throws {
      let graph = try graph()
      let folder = TakeFolder.resolve(graph.home.folder.path) + "/gone"
      let path = try graph.startTake("--dir", folder, frames: 24_000)
      try #require(
        waitUntil(seconds: 5) { (try? FileManager.default.removeItem(atPath: folder)) != nil })
      #expect(
        try waitUntil(seconds: 3) { try warnings(graph).contains { $0.contains("\(folder) was removed") } })
      #expect(graph.says("\(folder) was removed"))
      #expect(try graph.pinna("status").output.hasPrefix("recording, but"))
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 7 && stop.isOneSentence && stop.error.contains(path), "\(stop)")
      #expect(!stop.error.contains("(deleted)") && !stop.error.contains("takes repair"), "\(stop)")
      #expect(stop.error.components(separatedBy: folder).count == 3, "\(stop)")
    }

    @Test(
      "a take on a small disk says at its start how much time fits, and warns when it is full",
      .enabled(if: Program.canMount, "this user may not mount a small disk"))
    func smallDisk() throws {
      let graph = try graph()
      let disk = graph.home.folder.path + "/disk"
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
      let mounted = try Program.run("/usr/bin/mount", ["-t", "tmpfs", "-o", "size=1m", "none", disk])
      try #require(mounted.status == 0, "\(mounted)")
      defer { _ = try? Program.run("/usr/bin/umount", [disk]) }
      let start = try graph.pinna("record", "start", "--dir", disk)
      #expect(start.output.hasSuffix("; the disk has room for 2 seconds\n"), "\(start)")
      try #require(
        try waitUntil(seconds: 20) {
          try warnings(graph).contains { $0.contains("no longer being written to disk") }
        })
      let status = try graph.pinna("status").output
      #expect(status.hasPrefix("recording, but nothing is written to disk any more; phone5"), "\(status)")
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 7, "\(stop)")
      #expect(
        stop.error.wholeMatch(
          of:
            /pinna: the take \S+\.wav is incomplete: its last \d+ frames could not be written: No space left on device\n/
        )
          != nil, "\(stop)")
      #expect(try graph.pinna("stop").status == 0)
      let end = try #require(graph.program.wait(seconds: 5))
      #expect(try end.status == 7 && lines(end.error, path(start)).count == 1, "\(end)")
    }
  }
}
