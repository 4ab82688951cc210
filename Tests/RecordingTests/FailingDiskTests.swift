import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

@Suite("Files on a disk that fails", .enabled(if: Program.canMount, "this user may not mount one"))
struct FailingDiskTests {
  @discardableResult
  private func run(_ words: String...) throws -> String {
    let outcome = try Program.run("/usr/bin/env", ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"] + words)
    try #require(outcome.status == 0, "\(words): \(outcome)")
    return outcome.output
  }

  /// Calls `body` with the path of a folder that contains take.wav, 30 s of stereo noise (11 MB), of which only the
  /// first `megabytes` can be read: the disk image ends there.
  private func withFailingDisk(megabytes: Int = 4, _ body: (String) throws -> Void) throws {
    let folder = try TemporaryFolder()
    let (image, disk) = (folder.path + "/disk.img", folder.path + "/disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    try run("truncate", "-s", "24M", image)
    try run("mkfs.ext4", "-q", "-O", "^has_journal", image)
    try run("mount", "-o", "loop", image, disk)
    var noise = SeededNoise(seed: 5)
    let samples = noise.samples(48000 * 30)
    try AudioClip(sampleRate: 48000, channels: [samples, samples]).write(wav: disk + "/take.wav")
    try run("sync", disk + "/take.wav")
    // The first extent's line: "0: 0.. 10239: 10241.. 20480: …", in blocks of 1024 bytes.
    let extent = try run("filefrag", "-v", "-b1024", disk + "/take.wav").firstMatch(
      of: /0:\s+0\.\.\s*\d+:\s+(\d+)\.\./)
    let start = try #require(extent.flatMap { Int($0.1) })
    try run("umount", disk)
    try run("mount", "-o", "loop", image, disk)
    defer { _ = try? run("umount", disk) }
    try run("truncate", "-s", "\(start + megabytes << 10)K", image)
    try body(disk)
  }

  @Test("R6: a take that the disk no longer yields is not converted, and keeps its WAV file")
  func conversion() throws {
    try withFailingDisk { disk in
      let open = try #require(OpenFolder(path: disk))
      for format in [Compression.flac, .opus] {
        let failure = #expect(throws: AudioFileError.self) {
          _ = try format.replace(wav: "take.wav", in: open)
        }
        #expect(failure?.description.contains("Input/output error") == true, "\(failure as Any)")
        #expect(access(disk + "/take.wav", F_OK) == 0)
        for left in ["take.flac", "take.opus"] {
          #expect(access(disk + "/" + left, F_OK) != 0 && access(disk + "/" + left + ".part", F_OK) != 0)
        }
      }
    }
  }

  @Test("a sound file that the disk yields only in part is an error, and not a shorter file")
  func reading() throws {
    try withFailingDisk { disk in
      let failure = #expect(throws: AudioFileError.self) { _ = try AudioClip(path: disk + "/take.wav") }
      #expect(failure?.description.contains("take.wav to its end: Input/output error") == true)
    }
  }

  @Test("a playback that the disk ends early plays what was read, and says why it ends")
  func playback() throws {
    // Less than the ring's four seconds.
    try withFailingDisk(megabytes: 1) { disk in
      let player = TakePlayer(path: disk + "/take.wav", sampleRate: 48000)
      defer { player.abandon() }
      #expect(waitUntil(seconds: 5) { player.ring != nil })
      let ring = try #require(player.ring)
      #expect(waitUntil(seconds: 5) { player.fault?.contains("Input/output error") ?? false })
      #expect(ring.capacityFrames - ring.freeFrames > 10_000)
    }
  }
}
