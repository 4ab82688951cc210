import AudioFiles
import Foundation
import TestSupport
import Testing

@Suite("A sound file") struct SoundFileTests {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  func interleave(_ channels: [[Float]]) -> [Float] {
    (0..<channels[0].count).flatMap { n in channels.map { $0[n] } }
  }

  @Test(
    "reads back as it was written, of any length and number of channels",
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
        try writer.secure()
      }
      try writer.close()
      let clip = try AudioClip(path: path)
      #expect(clip.sampleRate == 44100 && clip.channels.count == channels && clip.frames == frames)
      #expect(!clip.endsEarly)
      // Half a step of 24 bits, and the last bit of a float.
      let tolerance: Float = encoding == .float32 ? 0 : 0.5 / 8_388_608 + 6e-8
      for (a, b) in zip(clip.channels, sound) {
        #expect(zip(a, b).allSatisfy { abs($0 - $1) <= tolerance })
      }
      #expect(try Data(contentsOf: URL(filePath: path)).count % 2 == 0)
    }
  }

  @Test("of integers clips what is over full scale, never wraps, counts it, and silences what is no number")
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

  @Test("past 4 GiB is RF64, and is read to its last frame", arguments: SampleEncoding.allCases)
  func large(encoding: SampleEncoding) throws {
    // Full of holes: the disk holds what is not silence.
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
    #expect(reader.read(frames: 2) == [0.25, -0.25, 0.5, -0.5])
  }

  @Test("has no name until it is whole, and takes none that is there")
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
}
