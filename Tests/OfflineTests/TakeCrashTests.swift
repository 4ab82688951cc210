import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension OfflineTests {
  /// Causes of an unfinished take: a kill, a power cut, a full disk.
  @Suite("Takes that are cut off") struct TakeCrashTests {
    func noise(_ frames: Int) -> [[Float]] {
      (1...5).map { seed in
        var noise = SeededNoise(seed: UInt64(seed))
        return noise.samples(frames, amplitude: 0.25)
      }
    }

    func run(_ words: String...) throws -> Program.Outcome {
      try Program.run("/usr/bin/env", ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"] + words)
    }

    func takenFrames(_ graph: OfflineGraph) throws -> Int {
      try #require((try graph.status()["take"] as? [String: Any])?["frames"] as? Int)
    }

    func repaired(_ outcome: Program.Outcome) throws -> (path: String, frames: Int) {
      let first = (try outcome.json()["repaired"] as? [[String: Any]])?.first
      return (try #require(first?["path"] as? String), try #require(first?["frames"] as? Int))
    }

    @Test(
      "R6: a take cut off by SIGKILL has lost at most a second, opens in strict readers, and can be repaired")
    func killed() throws {
      // As slow as sound: the writer flushes by the time that passes.
      let graph = try OfflineGraph(preset: "phone5", period: 1024, captures: 5, speed: 1)
      try graph.play(noise(48_000))
      let path = try graph.startTake(frames: 177_600)
      let before = try takenFrames(graph)
      graph.program.signal(SIGKILL)
      #expect(graph.program.wait(seconds: 5)?.status == -SIGKILL)
      let files = [path, path.replacing(".wav", with: "-microphones.wav")]
      // Its length according to the header, as a strict reader sees it.
      let killed = try files.map { try #require(AudioFileReader(path: $0 + ".part").statedFrames) }.min()!
      for file in files { #expect(try TakeFiles.complaints(file + ".part") == []) }
      let lost = Double(before - killed) / 48_000
      #expect(lost <= 1 && killed > 96_000, "\(before), \(killed)")
      Faults.report(
        "R6",
        done:
          "pinna killed during a take: lost without repair (\(TakeFiles.strictReaders.count) strict readers)",
        measured: String(format: "%.2f s", lost), limit: "≤ 1 s", kept: lost <= 1)

      let list = try graph.pinna("takes", "list", "--json").json()["takes"] as? [[String: Any]]
      #expect(list?.map { $0["state"] as? String } == ["cut"])
      let take = try repaired(graph.pinna("takes", "repair", "--json"))
      #expect(take.path == path && take.frames >= before)
      for file in files {
        #expect(try AudioClip(path: file).frames == take.frames)
        #expect(try TakeFiles.complaints(file) == [])
      }
      let document = try TakeFiles.sidecar(path)
      #expect(document.state == .repaired && document.frames == take.frames)
      #expect(try graph.pinna("takes", "repair").output.hasPrefix("nothing to repair"))

      // In step: once the filters are full, rendering the microphones gives the outputs.
      let twin = graph.home.folder.path + "/twin.wav"
      #expect(try graph.pinna("render", "--force", "--preset", "phone5", files[1], twin).status == 0)
      let (a, b) = (try AudioClip(path: path), try AudioClip(path: twin))
      let gaps = document.gaps.map { $0.frame - 8192..<$0.frame + $0.frames + 8192 }
      var worst: Float = 0
      for (x, y) in zip(a.channels, b.channels) {
        for n in 8192..<take.frames where !gaps.contains(where: { $0.contains(n) }) {
          worst = max(worst, abs(x[n] - y[n]))
        }
      }
      #expect(worst < 1e-5, "\(worst)")
    }

    @Test(
      "R7: a take cut off by a power cut at any of 20 moments has lost at most 2 s and opens", .long,
      .enabled(if: Program.canMount, "this user may not mount the disk that loses power"))
    func powerCut() throws {
      let graph = try OfflineGraph(preset: "phone5", period: 1024, speed: 1)
      // In memory: how long other programs keep the machine's disk busy is not what is promised.
      let folder = "/dev/shm/pinna-power-cut-\(getpid())"
      let (image, disk) = (folder + "/disk.img", folder + "/disk")
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      #expect(try run("truncate", "-s", "48M", image).status == 0)
      #expect(try run("mkfs.ext4", "-q", image).status == 0)
      let mounted = try run("mount", "-o", "loop", image, disk)
      try #require(mounted.status == 0, "\(mounted)")
      defer { _ = try? run("umount", disk) }
      let path = try graph.startTake("--dir", disk, frames: 120_000)
      var copies: [(path: String, frames: Int)] = []
      for n in 0..<20 {
        let copy = folder + "/cut-\(n).img"
        copies.append((copy, try takenFrames(graph)))
        // Nothing is written while the disk is copied: a copy that takes a while would be of several moments.
        graph.program.signal(SIGSTOP)
        let copied = try run("cp", "--sparse=always", image, copy)
        graph.program.signal(SIGCONT)
        #expect(copied.status == 0, "\(copied)")
        // Not a fraction of the second after which headers are written, so that the moments differ.
        try graph.wait(frames: 6576)
      }
      try graph.stopTake(path)
      let files = [path, path.replacing(".wav", with: "-microphones.wav")]
      var worst = 0.0
      var opened = 0
      for copy in copies {
        #expect(try run("umount", disk).status == 0)
        let mounted = try run("mount", "-o", "loop", copy.path, disk)
        try #require(mounted.status == 0, "\(mounted)")
        let complaints = try files.flatMap { try TakeFiles.complaints($0 + ".part") }
        #expect(complaints == [])
        let frames = files.map { (try? AudioFileReader(path: $0 + ".part").statedFrames) ?? 0 }.min()!
        let take = try repaired(graph.pinna("takes", "repair", "--dir", disk, "--json"))
        let lengths = try files.map { try AudioClip(path: $0).frames }
        #expect(
          lengths == [take.frames, take.frames] && take.frames >= frames,
          "\(copy): \(lengths), \(take.frames) repaired, \(frames) stated")
        if frames > 0, complaints.isEmpty { opened += 1 }
        worst = max(worst, Double(copy.frames - frames) / 48_000)
      }
      #expect(opened == 20 && worst <= 2, "\(opened), \(worst)")
      Faults.report(
        "R7",
        done: "power cut at 20 moments (copies of a loop-mounted ext4): \(opened) of 20 open; lost at most",
        measured: String(format: "%.2f s", worst), limit: "≤ 2 s", kept: opened == 20 && worst <= 2)
    }

    @Test(
      "R8: a full disk is announced, finishes what fitted, keeps the sound on and ends with status 7 twice",
      .enabled(if: Program.canMount, "this user may not mount a small disk"))
    func fullDisk() throws {
      // As slow as sound: the warning is due before the disk is full.
      let graph = try OfflineGraph(preset: "phone5", period: 1024, captures: 5, speed: 1)
      try graph.play(noise(48_000))
      let disk = graph.home.folder.path + "/disk"
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
      let mounted = try run("mount", "-t", "tmpfs", "-o", "size=2m", "none", disk)
      try #require(mounted.status == 0, "\(mounted)")
      defer { _ = try? run("umount", disk) }
      let path = try graph.startTake("--dir", disk)
      func said(_ words: String, within seconds: Double) -> Bool {
        waitUntil(seconds: seconds) { graph.program.errorText.contains(words) }
      }
      #expect(said("room for less than 10 seconds of this take", within: 1))
      #expect(said("no longer being written to disk", within: 10))
      // Finished at once, before the take is stopped.
      #expect(waitUntil(seconds: 1) { FileManager.default.fileExists(atPath: path) })
      try graph.wait(frames: 24_000)
      let status = try graph.status()
      #expect(status["state"] as? String == "recording")
      #expect(((status["take"] as? [String: Any])?["fault"] as? String)?.contains("No space left") == true)
      let outputs = (status["levels"] as? [String: Any])?["outputs"] as? [[String: Any]]
      #expect(try #require(outputs?.first?["rmsDB"] as? Double) > -40)
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 7 && stop.isOneSentence && stop.error.contains("No space left"), "\(stop)")
      let raw = path.replacing(".wav", with: "-microphones.wav")
      let frames = try AudioClip(path: path).frames
      #expect(try AudioClip(path: raw).frames == frames)
      for file in [path, raw] { #expect(try TakeFiles.complaints(file) == []) }
      let document = try TakeFiles.sidecar(path)
      #expect(document.frames == frames && document.state == .incomplete)
      // Two channels and five, besides the sidecar and two headers in whole pages.
      let lost = (2_097_152 - 16_384 - 2 * 4096) / (7 * 4) - frames
      #expect(lost <= 8192 && lost > -1024, "\(frames)")
      #expect(try graph.pinna("stop").status == 0)
      #expect(graph.program.wait(seconds: 5)?.status == 7)
      Faults.report(
        "R8", done: "2 MB disk full during a take: status 7 twice, sound on; of what fitted was lost",
        measured: "\(max(0, lost)) frames", limit: "≤ 8192 frames", kept: lost <= 8192)
    }
  }
}
