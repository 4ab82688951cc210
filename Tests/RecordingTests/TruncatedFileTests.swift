import AudioFiles
import Foundation
import TestSupport
import Testing

@Suite("Sound files truncated while they are written") struct TruncatedFileTests {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }
  var part: String { folder.path + "/take.wav.part" }

  func writer(_ encoding: SampleEncoding) throws -> AudioFileWriter {
    let open = try #require(OpenFolder(path: folder.path))
    return try AudioFileWriter(
      folder: open, name: "take.wav", encoding: encoding, channels: 2, sampleRate: 48000,
      labels: SoundLabels(broadcast: .unknown))
  }

  @Test(
    "a truncated file is reported and stays .part, however much is written afterwards",
    arguments: SampleEncoding.allCases,
    [0, 100, 3000])
  func cut(encoding: SampleEncoding, length: Int) throws {
    var noise = SeededNoise(seed: 8)
    let writer = try writer(encoding)
    try writer.write(noise.samples(4800))
    try writer.flush()
    #expect(truncate(part, off_t(length)) == 0)
    for _ in 0..<10 { try writer.write(noise.samples(4800)) }
    let fault = #expect(throws: AudioFileError.self) { try writer.close() }
    #expect(fault?.description.contains("was truncated") == true, "\(fault as Any)")
    #expect(access(part, F_OK) == 0 && access(folder.path + "/take.wav", F_OK) != 0)
  }

  @Test("a file truncated after the last write, or before silence, is reported")
  func cutAtEnd() throws {
    var noise = SeededNoise(seed: 8)
    for silence in [0, 480] {
      let writer = try writer(.float32)
      try writer.write(noise.samples(4800))
      #expect(truncate(part, 200) == 0)
      if silence > 0 { try writer.skip(frames: silence) }
      #expect(throws: AudioFileError.self) { try writer.close() }
      unlink(part)
    }
  }

  @Test("a file that is not truncated is complete, with its silence", arguments: SampleEncoding.allCases)
  func whole(encoding: SampleEncoding) throws {
    var noise = SeededNoise(seed: 8)
    let writer = try writer(encoding)
    for _ in 0..<5 {
      try writer.write(noise.samples(4802))
      try writer.skip(frames: 4801)
      try writer.flush()
    }
    try writer.close()
    #expect(try AudioClip(path: folder.path + "/take.wav").frames == 5 * (2401 + 4801))
  }
}
