/// Where the sound of a file is: according to its header, and according to the file.
///
/// A recorder that dies leaves a length of zero, or one that is too short; lengths past 4 GB wrap in WAV; a program
/// that writes into a pipe knows none. libsndfile believes the header. With `patches` it reads all of the sound.
struct SoundHeader {
  enum Length: Equatable {
    case bytes(Int)
    case frames(Int)
    /// The header does not say it.
    case open
  }

  let stated: Length
  /// Bytes of sound in the file; nil if only decoding tells.
  let soundBytes: Int?
  /// What libsndfile is to read in place of the header's bytes at an offset.
  let patches: [(offset: Int, bytes: [UInt8])]
  /// Where the file ends for libsndfile.
  let end: Int
  /// Where the sound begins in a file of chunks; nil in others.
  let soundStart: Int?
  /// What says that the channels are B-format, and no microphones; nil if nothing does.
  let ambisonics: String?

  /// - Returns: nil for formats whose headers are not looked at.
  init?(_ descriptor: Int32, size: Int) {
    let head = Chunks.bytes(descriptor, at: 0, count: 40)
    func has(_ word: String, at offset: Int) -> Bool { head.dropFirst(offset).starts(with: word.utf8) }
    func chunks(_ format: Chunks.Format) -> Chunks {
      Chunks(descriptor: descriptor, size: size, format: format)
    }
    if has("WAVE", at: 8), has("RIFF", at: 0) || has("RF64", at: 0) || has("BW64", at: 0) {
      self.init(chunks(.riff))
    } else if has("WAVE", at: 8), has("RIFX", at: 0) {
      self.init(chunks(.rifx))
    } else if has("riff", at: 0), has("wave", at: 24) {
      self.init(chunks(.wave64))
    } else if has("FORM", at: 0), has("AIF", at: 8) {
      self.init(chunks(.aiff))
    } else if has("caff", at: 0) {
      self.init(chunks(.caf))
    } else if has(".snd", at: 0), head.count >= 24 {
      self.init(au: head, size: size)
    } else if has("fLaC", at: 0), head.count >= 26 {
      self.init(flac: head, size: size)
    } else {
      return nil
    }
  }

  /// A file of chunks.
  private init?(_ file: Chunks) {
    let before = file.chunks(from: file.format.first)
    guard let index = before.firstIndex(where: { $0.name == file.format.sound }) else { return nil }
    let data = before[index]
    let start = data.start + file.format.prefix
    let kind = String(decoding: file.bytes(at: 0, count: 4), as: UTF8.self)
    // RF64 and its successor BW64 (ITU-R BS.2088) have the length elsewhere, for the sake of 64 bits.
    let long = ["RF64", "BW64"].contains(kind) ? before.first { $0.name == "ds64" } : nil
    // libsndfile knows no BW64.
    let renamed = kind == "BW64" ? [(offset: 0, bytes: Array("RF64".utf8))] : []
    let field: (offset: Int, bytes: Int) =
      long.map { ($0.start + 8, 8) } ?? (data.lengthField, file.format.lengthBytes)
    let length = long.map { file.number(file.bytes(at: $0.start + 8, count: 8)) } ?? data.length
    let available = max(0, file.size - start)
    let stated = Self.stated(length - file.format.prefix, available: available, isLong: field.bytes == 8)
    let sound = Self.soundBytes(stated, available: available, start: start, in: file)
    self.stated = stated
    soundBytes = sound
    soundStart = start
    if stated == .bytes(sound) || sound == 0 {
      (patches, end) = (renamed, file.size)
    } else {
      end = start + sound
      patches = renamed + Self.patches(file, field, content: sound + file.format.prefix)
    }
    let after = file.aligned(start + sound)
    ambisonics = Self.ambisonics(
      Array(before[..<index]) + (after < file.size ? file.chunks(from: after) : []), in: file)
  }

  /// - Source: the file format's specification, and what libsndfile 1.2.0 makes of such headers (Tests/RecordingTests).
  private static func patches(_ file: Chunks, _ field: (offset: Int, bytes: Int), content: Int)
    -> [(offset: Int, bytes: [UInt8])]
  {
    switch file.format.sound {
    case "SSND": return [(field.offset, [UInt8](repeating: 0xFF, count: 4))]
    case _ where field.bytes == 8:
      let length = content + (file.format.countsHead ? file.format.headBytes : 0)
      return [(field.offset, file.encoded(length, bytes: 8))]
    default:
      // A file of 8 bytes with an empty chunk is one that was not closed: sound up to its end, also past 4 GB.
      return [(4, file.encoded(8, bytes: 4)), (field.offset, file.encoded(0, bytes: 4))]
    }
  }

  private static func stated(_ length: Int, available: Int, isLong: Bool) -> Length {
    if length < 0 { return .open }
    guard length > available else { return .bytes(length) }
    // What programs write into pipes: all ones, or the largest signed number in whole pages.
    let isOpen = isLong ? false : length >= 0xFFFF_FF00 || (0x7FFF_F000...0x8000_0000).contains(length)
    return isOpen ? .open : .bytes(length)
  }

  private static func soundBytes(_ stated: Length, available: Int, start: Int, in file: Chunks) -> Int {
    guard case .bytes(let bytes) = stated, bytes <= available else { return available }
    // A length past 4 GB wraps.
    let wraps = file.format.lengthBytes == 4 ? 1 << 32 : 0
    for length in wraps > 0 ? Array(stride(from: bytes, through: available, by: wraps)) : [bytes]
    where file.soundEnds(at: start + length) {
      return length
    }
    return available
  }

  /// The header of a Sun/NeXT file: the sound reaches to the end of the file.
  private init(au head: [UInt8], size: Int) {
    func number(_ at: Int) -> Int { head[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
    let sound = max(0, size - number(4))
    stated = number(8) == 0xFFFF_FFFF ? .open : .bytes(number(8))
    soundBytes = sound
    patches = stated == .bytes(sound) ? [] : [(8, [UInt8](repeating: 0xFF, count: 4))]
    (end, ambisonics, soundStart) = (size, nil, nil)
  }

  /// The header of a FLAC file. Without a number of frames in it, libsndfile decodes to the end.
  private init(flac head: [UInt8], size: Int) {
    // STREAMINFO: the last 36 of these 64 bits.
    let frames = head[21..<26].reduce(0) { $0 << 8 | Int($1) } & (1 << 36 - 1)
    stated = frames == 0 ? .open : .frames(frames)
    soundBytes = nil
    patches = [(21, [head[21] & 0xF0, 0, 0, 0, 0])]
    (end, ambisonics, soundStart) = (size, nil, nil)
  }

  /// Where the sound of a file of chunks ends; nil in others.
  /// - Parameter size: length of the file.
  func end(ofSoundIn size: Int) -> Int? {
    guard let soundStart, let soundBytes else { return nil }
    return min(size, soundStart + soundBytes)
  }

  /// Whether the header states the length of all sound in the file.
  var statesSound: Bool { soundBytes.map { stated == .bytes($0) } ?? false }

  /// The length that the header states, in frames.
  /// - Parameter frames: number of frames in the file.
  func statedFrames(of frames: Int?) -> Int? {
    switch stated {
    case .open: nil
    case .frames(let stated): stated
    case .bytes(let bytes):
      frames.flatMap { frames in
        guard let soundBytes, soundBytes > 0, frames > 0, bytes != soundBytes else { return frames }
        let (size, rest) = soundBytes.quotientAndRemainder(dividingBy: frames)
        // Compressed sound has no frames of one size.
        guard rest >= size else { return bytes / size }
        // A stated length may be anything up to 2^63.
        let estimate = Double(frames) * Double(bytes) / Double(soundBytes)
        return Int(exactly: estimate.rounded(.towardZero)) ?? .max
      }
    }
  }
}

// MARK: - B-format

extension SoundHeader {
  /// The sub-formats of B-format in WAVE: the last 14 bytes of the GUID. The first two are the encoding of the samples.
  /// - Source: R. Dobson, "The AMB Ambisonic File Format": 00000001-0721-11d3-8644-C8C1CA000000.
  private static let waveGUID: [UInt8] = [
    0, 0, 0x21, 0x07, 0xD3, 0x11, 0x86, 0x44, 0xC8, 0xC1, 0xCA, 0, 0, 0,
  ]
  /// - Source: AmbiX (Nachbar et al., 2011) and libambix, which writes the first one.
  private static let ambixUUIDs: [[UInt8]] = [
    Array("IEM.AT/AMBIX/XML".utf8),
    [0x1A, 0xD3, 0x18, 0xC3, 0x00, 0xE5, 0x55, 0x76, 0xBE, 0x2D, 0x0D, 0xCA, 0x24, 0x60, 0xBC, 0x89],
  ]
  /// Channel layouts of Core Audio: B-format, and higher orders in ACN with SN3D or N3D (CoreAudioBaseTypes.h).
  private static let cafLayouts = [107, 190, 191]
  /// Channel labels: W, X, Y, Z, and those of higher orders (the same file).
  private static let cafLabels: Set = [200, 201, 202, 203, 500]

  private static func ambisonics(_ chunks: [Chunks.Chunk], in file: Chunks) -> String? {
    for chunk in chunks {
      let content = file.bytes(at: chunk.start, count: min(64, max(0, chunk.length)))
      switch chunk.name {
      case "fmt " where content.count >= 40 && content[26..<40].elementsEqual(waveGUID):
        return "the ambisonic sub-format in its header"
      case "uuid" where ambixUUIDs.contains(Array(content.prefix(16))):
        return "its AmbiX chunk"
      case "chan" where content.count >= 12 && isAmbisonic(content.map(Int.init)):
        return "the channel layout in its header"
      default: continue
      }
    }
    return nil
  }

  /// A chunk "chan" of CAF: a tag, and behind two more numbers one label for each channel, of 20 bytes each.
  private static func isAmbisonic(_ content: [Int]) -> Bool {
    func number(_ at: Int) -> Int { content[at..<at + 4].reduce(0) { $0 << 8 | $1 } }
    if cafLayouts.contains(number(0) >> 16) { return true }
    guard number(0) == 0, number(8) > 0, content.count >= 16 else { return false }
    return cafLabels.contains(number(12)) || number(12) >> 16 == 2
  }
}
