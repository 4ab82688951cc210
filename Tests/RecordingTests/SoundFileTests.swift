import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

@Suite("Sound files") struct SoundFileTests {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  func interleave(_ channels: [[Float]]) -> [Float] {
    (0..<channels[0].count).flatMap { n in channels.map { $0[n] } }
  }

  @Test(
    "the programs that read takes strictly refuse a damaged header",
    .enabled(
      if: !TakeFiles.strictReaders.isEmpty,
      "neither sox nor ffmpeg is installed: no other program reads takes"))
  func strictReaders() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/take.wav"
    try AudioClip(sampleRate: 48000, channels: [[0, 0.5]]).write(wav: path)
    #expect(try TakeFiles.complaints(path) == [])
    truncate(path, 30)
    #expect(try TakeFiles.complaints(path).count == TakeFiles.strictReaders.count)
  }

  @Test(
    "a sound file of any length and channel count is read as it was written",
    arguments: SampleEncoding.allCases, [1, 2, 5])
  func reads(encoding: SampleEncoding, channels: Int) throws {
    var noise = SeededNoise(seed: 6)
    for frames in [0, 1, 4801] {
      let sound = (0..<channels).map { _ in noise.samples(frames, amplitude: 0.9) }
      let path = folder.path + "/\(frames).wav"
      let writer = try AudioFileWriter(
        path: path, encoding: encoding, channels: channels, sampleRate: 44100,
        broadcast: BroadcastExtension(
          description: "d", date: "2026-11-21", time: "12:00:00", timeReference: 7))
      for start in stride(from: 0, to: frames, by: 1000) {
        try writer.write(interleave(sound.map { Array($0[start..<min(frames, start + 1000)]) }))
        try writer.flush()
      }
      try writer.close()
      let clip = try AudioClip(path: path)
      #expect(clip.sampleRate == 44100 && clip.channels.count == channels && clip.frames == frames)
      #expect(!clip.endsEarly)
      // Half a step of 24 bits, plus the last bit of a float.
      let tolerance: Float = encoding == .float32 ? 0 : 0.5 / 8_388_608 + 6e-8
      for (a, b) in zip(clip.channels, sound) {
        #expect(zip(a, b).allSatisfy { abs($0 - $1) <= tolerance })
      }
      #expect(try Data(contentsOf: URL(filePath: path)).count % 2 == 0)
    }
  }

  @Test("integer formats clip samples over full scale without wrapping, count them, and write 0 for NaN")
  func clips() throws {
    let path = folder.path + "/a.wav"
    let writer = try AudioFileWriter(path: path, encoding: .pcm24, channels: 1, sampleRate: 48000)
    let input: [Float] = [0.5, 1, 1.001, 3, .infinity, -1, -1.001, -1e30, -.infinity, .nan, 0.25]
    try writer.write(input)
    #expect(writer.clippedSamples == 6)
    try writer.close()
    let top = 1 - Float(1) / 8_388_608
    let expected: [Float] = [0.5, top, top, top, top, -1, -1, -1, -1, 0, 0.25]
    #expect(try AudioClip(path: path).channels[0] == expected)
  }

  @Test("a file past 4 GiB is RF64 and is read to its last frame", arguments: SampleEncoding.allCases)
  func large(encoding: SampleEncoding) throws {
    // A sparse file: only non-silent parts take space on the disk.
    let path = folder.path + "/large.wav"
    let bytes = encoding == .float32 ? 16 : 12
    let frames = 5_000_000_000 / bytes
    let writer = try AudioFileWriter(path: path, encoding: encoding, channels: 4, sampleRate: 48000)
    try writer.write([0.5, 0.5, 0.5, 0.5])
    try writer.skip(frames: frames - 2)
    try writer.write([0.25, -0.25, 0.5, -0.5])
    try writer.close()
    let head = try #require(FileHandle(forReadingAtPath: path)).readData(ofLength: 4)
    #expect(head == Data("RF64".utf8))
    let reader = try AudioFileReader(path: path)
    #expect(reader.frames == frames && !reader.endsEarly && reader.channels == 4)
    try reader.seek(toFrame: frames - 1)
    #expect(try reader.read(frames: 2) == [0.25, -0.25, 0.5, -0.5])
  }

  @Test(
    "what a killed run left of a compressed file is replaced; what another program writes, and takes, are not"
  )
  func abandonedCompressed() throws {
    let clip = AudioClip(
      sampleRate: 48000, channels: SeededNoise.channels(1, 20_000, amplitude: 0.5, seed: 3))
    let path = folder.path + "/x.flac"
    func write() throws {
      let output = try SoundOutput(path: path, channels: 1, sampleRate: 48000)
      try output.write(clip.channels)
      try output.close()
    }
    try clip.write(wav: path + ".uncompressed.wav")
    try folder.write(Data("fLaC, and no more".utf8), to: "x.flac.part")
    try write()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["x.flac"])
    #expect(try AudioClip(path: path).frames == 20_000)
    // Another program's.
    try folder.write(Data("fLaC".utf8), to: "x.flac.part")
    let other = open(path + ".part", O_RDWR)
    defer { close(other) }
    #expect(flock(other, LOCK_EX) == 0)
    #expect(throws: AudioFileError.self) { try write() }
    #expect(try Data(contentsOf: URL(filePath: path + ".part")) == Data("fLaC".utf8))
  }

  @Test("a compressed file that was cut is known by its missing end")
  func cut() throws {
    let path = folder.path + "/x.flac"
    let clip = AudioClip(
      sampleRate: 48000, channels: SeededNoise.channels(2, 48_000, amplitude: 0.5, seed: 3))
    let output = try SoundOutput(path: path, channels: 2, sampleRate: 48000)
    try output.write(clip.channels)
    try output.close()
    #expect(try !AudioFileReader(path: path).lacksEnd())
    let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    for length in [size - 100, size / 2, size / 10] {
      #expect(truncate(path, off_t(length)) == 0)
      #expect(try AudioFileReader(path: path).lacksEnd(), "\(length) of \(size)")
    }
  }

  @Test("a sound file has its name only once it is complete, and never replaces an existing file")
  func names() throws {
    let path = folder.path + "/a.wav"
    let writer = try AudioFileWriter(path: path, channels: 1, sampleRate: 48000, replacing: false)
    try writer.write([1])
    #expect(!FileManager.default.fileExists(atPath: path))
    try folder.write("mine", to: "a.wav")
    #expect(throws: AudioFileError.self) { try writer.close() }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    #expect(try AudioClip(path: path + ".part").frames == 1)
    #expect(throws: AudioFileError.self) {
      try AudioFileWriter(path: path, channels: 1, sampleRate: 48000, replacing: false)
    }
  }

  @Test("the broadcast extension may be set after frames have been written")
  func broadcast() throws {
    let path = folder.path + "/a.wav"
    let writer = try AudioFileWriter(
      path: path, channels: 3, sampleRate: 48000, broadcast: .unknown, replacing: false)
    try writer.write([0.5, -0.5, 0.25])
    try writer.flush()
    writer.setBroadcast(
      BroadcastExtension(
        description: "ring7 ü", date: "2026-11-21", time: "17:04:05", timeReference: 6_000_000_000))
    try writer.write([0.125, 0, 1])
    try writer.close()
    // EBU Tech 3285, section 2.3.
    let bytes = try Data(contentsOf: URL(filePath: path))
    let start = try #require(bytes.firstRange(of: Data("bext".utf8))).upperBound + 4
    func text(_ at: Int, _ count: Int) -> String {
      String(decoding: bytes[start + at..<start + at + count].prefix { $0 != 0 }, as: UTF8.self)
    }
    #expect(text(0, 256) == "ring7 ?" && text(256, 32) == "Pinna")
    #expect(text(320, 10) == "2026-11-21" && text(330, 8) == "17:04:05")
    let reference = (0..<8).reduce(0) { $0 | Int(bytes[start + 338 + $1]) << (8 * $1) }
    #expect(reference == 6_000_000_000)
    #expect(try AudioClip(path: path).channels == [[0.5, 0.125], [-0.5, 0], [0.25, 1]])
  }

  @Test("files of equal sound are equal, whenever they are written")
  func equal() throws {
    for name in ["a", "b"] {
      try AudioClip(sampleRate: 48000, channels: [[0.5, 0.25], [1, -1]]).write(
        wav: "\(folder.path)/\(name).wav")
      // libsndfile's PEAK chunk would hold the second, so b is written in a later one.
      let second = time(nil)
      if name == "a" { try #require(waitUntil(seconds: 5) { time(nil) != second }) }
    }
    #expect(
      try Data(contentsOf: URL(filePath: folder.path + "/a.wav"))
        == Data(contentsOf: URL(filePath: folder.path + "/b.wav")))
  }

  @Test(
    "a file of a killed writer is recovered with every frame on disk, whatever its header says",
    arguments: SampleEncoding.allCases, [0, 1, 501])
  func cut(encoding: SampleEncoding, secured: Int) throws {
    var noise = SeededNoise(seed: 11)
    let sound = noise.samples(3 * 1501, amplitude: 0.9)
    let path = folder.path + "/a.wav"
    let writer = try AudioFileWriter(
      path: folder.path + "/live.wav", encoding: encoding, channels: 3, sampleRate: 44100, broadcast: .unknown
    )
    try writer.write(Array(sound.prefix(3 * secured)))
    if secured > 0 { try writer.flush() }
    try writer.write(Array(sound.dropFirst(3 * secured)))
    // As after a kill: it ends in the middle of a frame.
    var bytes = try Data(contentsOf: URL(filePath: writer.path + ".part"))
    bytes.append(contentsOf: [1, 2])
    try bytes.write(to: URL(filePath: path + ".part"))
    try writer.close()
    let cut = try UnfinishedWAVFile(path: path)
    #expect(cut.frames == 1501 && cut.channels == 3 && cut.sampleRate == 44100)
    try cut.finish(frames: 1501)
    // Not inside #expect, which would take minutes to describe a difference.
    let isWhole = try Data(contentsOf: URL(filePath: path)) == Data(contentsOf: URL(filePath: writer.path))
    #expect(isWhole)
  }

  @Test("a file cut off past 4 GiB, with a smaller size in its header, becomes RF64")
  func largeCut() throws {
    let path = folder.path + "/a.wav"
    let writer = try AudioFileWriter(path: folder.path + "/live.wav", channels: 4, sampleRate: 48000)
    try writer.write([0.5, 0.5, 0.5, 0.5])
    try writer.flush()
    let copied = try Program.run("/usr/bin/cp", ["--sparse=always", writer.path + ".part", path + ".part"])
    #expect(copied.status == 0)
    writer.abandon()
    let frames = 300_000_000
    let header = try Data(contentsOf: URL(filePath: path + ".part")).count - 16
    #expect(truncate(path + ".part", off_t(header + 16 * frames)) == 0)
    let cut = try UnfinishedWAVFile(path: path)
    #expect(cut.frames == frames)
    try cut.finish(frames: frames)
    let head = try #require(FileHandle(forReadingAtPath: path)).readData(ofLength: 4)
    #expect(head == Data("RF64".utf8))
    let reader = try AudioFileReader(path: path)
    #expect(reader.frames == frames && !reader.endsEarly)
    #expect(try reader.read(frames: 2) == [0.5, 0.5, 0.5, 0.5, 0, 0, 0, 0])
  }

  @Test(
    "a file that fills its disk holds what fitted, bit for bit and in whole frames",
    .enabled(if: Program.canMount, "this user may not mount a small disk"),
    arguments: SampleEncoding.allCases, [1, 3, 5])
  func fullDisk(encoding: SampleEncoding, channels: Int) throws {
    let disk = folder.path + "/disk"
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    let mounted = try Program.run("/usr/bin/mount", ["-t", "tmpfs", "-o", "size=2m", "none", disk])
    try #require(mounted.status == 0, "\(mounted)")
    defer { _ = try? Program.run("/usr/bin/umount", [disk]) }
    let path = disk + "/a.wav"
    let writer = try AudioFileWriter(
      path: path, encoding: encoding, channels: channels, sampleRate: 48000, broadcast: .unknown,
      replacing: false)
    var noise = SeededNoise(seed: 8)
    var written: [Float] = []
    var fault: AudioFileError?
    while fault == nil, written.count < 2_000_000 {
      // Values that 24 bits hold exactly.
      let block = noise.samples(channels * 1024, amplitude: 0.9).map { ($0 * 32768).rounded() / 32768 }
      written += block
      do {
        try writer.write(block)
        try writer.flush()
      } catch { fault = error }
    }
    #expect(fault?.description.contains("No space left on device") == true, "\(fault as Any)")
    let frames = writer.framesWritten
    // Nothing is appended after the first block that did not fit, and nothing is overwritten.
    try writer.write([Float](repeating: 1, count: channels * 1024))
    #expect(writer.framesWritten == frames)
    try writer.close()
    let room = 2_097_152 / (channels * (encoding == .float32 ? 4 : 3))
    #expect(frames <= room && frames > room - 8192 / channels, "\(frames) of \(room)")
    let reader = try AudioFileReader(path: path)
    #expect(reader.frames == frames && !reader.endsEarly)
    let isWhole = try reader.read(frames: frames + 1) == Array(written.prefix(channels * frames))
    #expect(isWhole)
    // Chunks have an even length.
    #expect(try Data(contentsOf: URL(filePath: path)).count % 2 == 0)
    #expect(try TakeFiles.complaints(path) == [])
  }

  @Test("if libsndfile cannot open a file for writing, the caller's descriptor stays open")
  func descriptorStays() throws {
    let descriptor = open(folder.path + "/unwritable.wav", O_RDWR | O_CREAT, 0o600)
    try #require(descriptor >= 0)
    let isOpen =
      (try? openForWriting(descriptor, mode: 0x20, channels: 1, sampleRate: 48000, format: 0)) != nil
    var information = stat()
    #expect(!isOpen && fstat(descriptor, &information) == 0)
    close(descriptor)
  }
}
