import AudioFiles
import Foundation
import TestSupport
import Testing

@Suite("Headers of sound files that are wrong") struct SoundHeaderTests {
  private static let channels = 4
  private static let frames = 6000
  /// Never silence, and never the name of a chunk.
  private static let samples = (0..<channels * frames).map { Int16(1 + $0 % 30_000) }
  private static let expected = samples.map { Float($0) / 32768 }

  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static let wrong =
    StatedSound.Container.allCases.flatMap { container in
      [.bytes(0), .bytes(8), .bytes(1200 * 8), .bytes(7000 * 8), .open].map { StatedSound(container, $0) }
    }
    + [.wav, .rf64, .bw64].map { StatedSound($0, .bytes(0), behind: [UInt8](repeating: 0, count: 16)) }

  /// What is read of a file, and what is said about it.
  private func read(_ sound: StatedSound, _ samples: [Int16] = Self.samples) throws -> AudioFileReader {
    let bytes = sound.bytes(samples, channels: Self.channels)
    return try AudioFileReader(path: try folder.write(Data(bytes), to: "a.\(sound.container)"))
  }

  @Test("R47: all the sound of a file is read, whatever length its header states, and the difference is said")
  func lengths() throws {
    var whole = 0
    for sound in Self.wrong {
      let reader = try read(sound)
      let found = try reader.read(frames: 2 * Self.frames)
      let remark = try #require(reader.headerRemark, "\(sound)")
      let stated: String =
        switch sound.length {
        case .bytes(let bytes): "says \(bytes / 8) frames"
        case .open where [.rf64, .bw64, .aiff].contains(sound.container): "says 0 frames"
        default: "does not say"
        }
      // Zeros behind the sound are sound, too: nothing tells them from it.
      let isWhole =
        found.prefix(Self.samples.count).elementsEqual(Self.expected)
        && found.count == Self.samples.count + sound.behind.count / 2
      #expect(isWhole, "\(sound): \(found.count)")
      #expect(remark.contains(stated) || remark.contains("does not say"), "\(sound): \(remark)")
      #expect(remark.contains("a.\(sound.container)") && remark.contains("\(found.count / 4)"), "\(remark)")
      if isWhole { whole += 1 }
    }
    Faults.report(
      "R47", done: "\(Self.wrong.count) sound files with wrong lengths in their headers: read whole",
      measured: "\(whole)", limit: "\(Self.wrong.count)", kept: whole == Self.wrong.count, isWhole: true)
  }

  @Test("a correct length is believed: chunks behind the sound are not sound, and nothing is reported")
  func chunks() throws {
    let unknown = StatedSound.joined(StatedSound.text("abcd"), StatedSound.little(6, 4), [1, 2, 3, 4, 5, 6])
    let list = StatedSound.listChunk
    for container in StatedSound.Container.allCases {
      let endings: [[UInt8]] =
        switch container {
        case .wav, .rf64, .bw64: [[], list, unknown + list, list + [0, 0, 0, 0, 0, 0, 0, 0], [0]]
        case .aiff: [[], StatedSound.text("ANNO") + [0, 0, 0, 2, 65, 66]]
        case .caf: [[], StatedSound.text("free") + [0, 0, 0, 0, 0, 0, 0, 2, 0, 0]]
        case .w64, .au: [[]]
        }
      for ending in endings {
        let reader = try read(StatedSound(container, .right, behind: ending))
        #expect(reader.frames == Self.frames && reader.statedFrames == Self.frames, "\(container) \(ending)")
        #expect(try reader.read(frames: 2 * Self.frames) == Self.expected)
        #expect(reader.headerRemark == nil && !reader.endsEarly, "\(container) \(ending)")
      }
    }
  }

  @Test("a file without sound has no frames, and chunks do not become any")
  func empty() throws {
    for container in StatedSound.Container.allCases {
      let reader = try read(StatedSound(container, .right), [])
      #expect(reader.frames == 0 && reader.headerRemark == nil, "\(container)")
    }
    #expect(try read(StatedSound(.wav, .right, behind: StatedSound.listChunk), []).frames == 0)
  }

  @Test("whatever length a WAV states, it is read whole, or to where the chunks that are there begin")
  func anyLength() throws {
    var random = SeededNoise(seed: 37)
    for _ in 0..<100 {
      let stated = Int(
        UInt32.random(in: 0...UInt32.max, using: &random) >> UInt32.random(in: 0...31, using: &random))
      let reader = try read(StatedSound(.wav, .bytes(stated)))
      #expect(reader.frames == Self.frames, "\(stated)")
    }
  }

  @Test("a length past 4 GiB that wrapped is unwrapped, with and without a chunk behind the sound")
  func wrapped() throws {
    for ending in [[], StatedSound.listChunk] {
      let sound = 5_000_000_000
      let stated = StatedSound(.wav, .bytes(sound & 0xFFFF_FFFF))
      let path = try folder.write(Data(stated.header(sound: sound, channels: 4)), to: "large.wav")
      // A sparse file.
      let file = try #require(FileHandle(forWritingAtPath: path))
      try file.seek(toOffset: UInt64(44 + sound - 8))
      file.write(Data([0, 64, 0, 192, 0, 32, 0, 224] + ending))
      try file.close()
      let reader = try AudioFileReader(path: path)
      #expect(reader.frames == sound / 8)
      try reader.seek(toFrame: sound / 8 - 1)
      #expect(try reader.read(frames: 2) == [0.5, -0.5, 0.25, -0.25])
      #expect(
        reader.headerRemark?.contains("\(sound / 8) are there") == true, "\(reader.headerRemark as Any)")
    }
  }

  @Test("a FLAC is decoded to its end, whatever number of frames it states, and the difference is said then")
  func flac() throws {
    let channel = Self.expected.prefix(Self.frames).map { $0 }
    let wav = StatedSound(.wav, .bytes(2 * Self.frames)).bytes(
      Array(Self.samples.prefix(Self.frames)), channels: 1)
    try folder.write(Data(wav), to: "b.wav")
    let open = try #require(OpenFolder(path: folder.path))
    let name = try Compression.flac.replace(wav: "b.wav", in: open)
    let whole = try Data(contentsOf: URL(filePath: folder.path + "/" + name))
    for (stated, words) in [(6000, nil), (0, "does not say"), (1200, "says 1200"), (9000, "ends early")] {
      // The number of frames: the last 36 bits of STREAMINFO's second part.
      var bytes = whole
      bytes.replaceSubrange(22..<26, with: StatedSound.little(stated, 4).reversed())
      let reader = try AudioFileReader(path: try folder.write(bytes, to: "c.flac"))
      #expect(reader.frames == (stated == 0 ? nil : stated))
      let decoded = try reader.channels(frames: .max)[0]
      #expect(decoded == channel && reader.frames == 6000)
      #expect(reader.headerRemark?.contains(words ?? "") == (words == nil ? nil : true), "\(stated)")
    }
  }

  @Test("B-format is told by what its header says, and microphones are not taken for it")
  func ambisonics() throws {
    let uuid: [UInt8] = [
      0x1A, 0xD3, 0x18, 0xC3, 0x00, 0xE5, 0x55, 0x76, 0xBE, 0x2D, 0x0D, 0xCA, 0x24, 0x60, 0xBC, 0x89,
    ]
    func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
      StatedSound.joined(StatedSound.text(name), StatedSound.big(content.count, 8), content)
    }
    func layout(_ tag: Int) -> [UInt8] { StatedSound.big(tag, 4) + [UInt8](repeating: 0, count: 8) }
    for (behind, isAmbisonic) in [
      (chunk("uuid", uuid), true), (chunk("uuid", Array("IEM.AT/AMBIX/XML".utf8)), true),
      (chunk("chan", layout(190 << 16 | 4)), true), (chunk("chan", layout(107 << 16 | 4)), true),
      (chunk("chan", layout(108 << 16 | 4)), false), (chunk("uuid", uuid.reversed()), false), ([], false),
    ] {
      let reader = try read(StatedSound(.caf, .right, behind: behind))
      #expect((reader.ambisonics != nil) == isAmbisonic, "\(behind)")
      #expect(reader.frames == Self.frames)
    }
    // WAVE_FORMAT_EXTENSIBLE with 16 bits: the sub-format of B-format, and that of plain samples.
    for (guid, isAmbisonic) in [
      ([0, 0, 0x21, 0x07, 0xD3, 0x11, 0x86, 0x44, 0xC8, 0xC1, 0xCA, 0, 0, 0], true),
      ([0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71], false),
    ] as [([UInt8], Bool)] {
      var bytes = StatedSound(.wav, .right).bytes(Self.samples, channels: 4)
      bytes.replaceSubrange(16..<22, with: StatedSound.little(40, 4) + [0xFE, 0xFF])
      let extra = StatedSound.joined(
        StatedSound.little(22, 2), StatedSound.little(16, 2), StatedSound.little(0, 4), [1, 0], guid)
      bytes.insert(contentsOf: extra, at: 36)
      let reader = try AudioFileReader(path: try folder.write(Data(bytes), to: "amb.wav"))
      #expect((reader.ambisonics != nil) == isAmbisonic)
      #expect(try reader.read(frames: 9000) == Self.expected)
    }
  }

  @Test("invalid samples are counted by channel, with the first frame of each")
  func invalid() throws {
    var channels = [[Float]](repeating: [Float](repeating: 0.5, count: 40_000), count: 3)
    (channels[1][20_000], channels[1][30_001], channels[2][7]) = (.nan, -.infinity, 1001)
    let path = folder.path + "/invalid.wav"
    try AudioClip(sampleRate: 48000, channels: channels).write(wav: path)
    let reader = try AudioFileReader(path: path)
    _ = try reader.channels(frames: .max)
    #expect(reader.invalidSamples.counts == [0, 2, 1] && reader.invalidSamples.first == [nil, 20_000, 7])
  }
}
