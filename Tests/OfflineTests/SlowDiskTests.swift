import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension OfflineTests {
  @Suite("A slow disk") struct SlowDiskTests {
    @Test(
      "R9: a take loses nothing within the ring's 8 s; beyond, counted silence of the right length replaces frames",
      .enabled(if: Preload.compiler != nil, "there is no C compiler for the slow disk"),
      arguments: [5, 12])
    func slow(seconds: Int) throws {
      let home = try PinnaHome()
      let disk = try HungDisk(home: home)
      let graph = try OfflineGraph(
        preset: "phone5", period: 1024, home: home, environment: disk.environment, inFreewheel: false)
      try graph.playClock()
      let path = try graph.startTake("--dir", disk.folder)
      try graph.waitForTake(frames: 48_000)
      try graph.freeze(true)
      try disk.hang()
      defer { disk.release() }
      try graph.run(frames: 4800)
      try #require(waitUntil(seconds: 10) { disk.hasBegun }, "no write was slow")
      let kept = try graph.takeFrames()
      try graph.run(frames: seconds * 48_000)
      disk.release()
      try #require(try waitUntil(seconds: 10) { try graph.takeFrames() > kept })
      try graph.freeze(false)
      // The second before, the slow write, and a second after it.
      try graph.waitForTake(frames: (seconds + 2) * 48_000)
      let stop = try graph.pinna("record", "stop")
      let document = try TakeFiles.sidecar(path)
      let lost = document.gaps.reduce(0) { $0 + $1.frames }
      #expect(document.gaps.allSatisfy { $0.cause == .disk })
      let raw = try TakeFiles.microphones(path).channels[0]
      #expect(raw.count == document.frames)
      // Every frame is in place, however long the silence before it.
      let first = try #require(FrameClock.time(raw[0]))
      let wrong = try TakeFiles.misplacedFrames(path)
      #expect(
        raw.last { $0 != 0 }.flatMap(FrameClock.time).map { ($0 - first) & 0x7F_FFFF } == raw.count - 1)
      if seconds < 8 {
        #expect(stop.status == 0 && lost == 0, "\(stop)")
      } else {
        #expect(stop.status == 7 && stop.error.contains("the disk could not keep up"), "\(stop)")
        #expect(lost > 48_000 && lost < (seconds - 7) * 48_000)
      }
      #expect(wrong == 0)
      Faults.report(
        "R9", done: "disk slow for \(seconds) s during a take: frames lost, others out of their place",
        measured: "\(lost), \(wrong)", limit: seconds < 8 ? "0, 0" : "some, counted; 0",
        kept: (lost == 0) == (seconds < 8) && wrong == 0)
    }
  }
}
