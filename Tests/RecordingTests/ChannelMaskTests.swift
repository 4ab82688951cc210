import AudioFiles
import Foundation
import Recording
import TestSupport
import Testing

@Suite("The mask of loudspeakers in WAV files") struct ChannelMaskTests {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// The mask in the format chunk of a WAVE_FORMAT_EXTENSIBLE file.
  private func mask(_ path: String) throws -> Int {
    let bytes = try Data(contentsOf: URL(filePath: path)).prefix(1024)
    let format = try #require(bytes.firstRange(of: Data("fmt ".utf8))).upperBound + 4
    #expect(bytes[format] == 0xFE && bytes[format + 1] == 0xFF)
    return (0..<4).reduce(0) { $0 | Int(bytes[format + 20 + $1]) << (8 * $1) }
  }

  @Test("microphones have none, and outputs have left and right", arguments: SampleEncoding.allCases)
  func masks(encoding: SampleEncoding) throws {
    for channels in 1...9 {
      for areMicrophones in [true, false] where areMicrophones || channels <= 2 {
        let path = folder.path + "/a.wav"
        let writer = try AudioFileWriter(
          path: path, encoding: encoding, channels: channels, sampleRate: 48000,
          areMicrophones: areMicrophones,
          broadcast: .unknown)
        try writer.write([Float](repeating: 0.5, count: 100 * channels))
        try writer.flush()
        #expect(try !areMicrophones || mask(path + ".part") == 0)
        writer.setBroadcast(.unknown)
        #expect(try !areMicrophones || mask(path + ".part") == 0)
        try writer.close()
        #expect(try mask(path) == (areMicrophones ? 0 : [4, 3][channels - 1]))
        let clip = try AudioClip(path: path)
        #expect(clip.channels == [[Float]](repeating: [Float](repeating: 0.5, count: 100), count: channels))
      }
    }
  }

  @Test("the microphones of a writer that was killed have none after repair")
  func repaired() throws {
    let writer = try AudioFileWriter(
      path: folder.path + "/live.wav", channels: 6, sampleRate: 48000, areMicrophones: true,
      broadcast: .unknown)
    try writer.write([Float](repeating: 0.25, count: 600))
    try writer.flush()
    try writer.write([Float](repeating: 0.25, count: 600))
    try FileManager.default.copyItem(atPath: writer.path + ".part", toPath: folder.path + "/a.wav.part")
    try writer.close()
    let cut = try UnfinishedWAVFile(path: folder.path + "/a.wav")
    try cut.finish(frames: cut.frames)
    #expect(cut.frames == 200)
    #expect(try mask(folder.path + "/a.wav") == 0)
    let isEqual =
      try Data(contentsOf: URL(filePath: folder.path + "/a.wav"))
      == Data(contentsOf: URL(filePath: writer.path))
    #expect(isEqual)
  }
}
