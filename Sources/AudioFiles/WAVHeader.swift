/// How samples stand in a WAV file.
public enum SampleEncoding: Sendable, CaseIterable {
  case float32, pcm24

  var bytes: Int { self == .float32 ? 4 : 3 }
}

/// Where a take stands in time, as the broadcast extension (EBU Tech 3285) says it.
public struct BroadcastExtension: Sendable, Hashable {
  public let description: String
  /// "2026-11-21" and "17:04:05", local time of the first frame.
  public let date: String
  public let time: String
  /// Frames from midnight to the first one.
  public let timeReference: Int

  /// To be set later.
  public static let unknown = BroadcastExtension(description: "", date: "", time: "", timeReference: 0)

  public init(description: String, date: String, time: String, timeReference: Int) {
    self.description = description
    self.date = date
    self.time = time
    self.timeReference = timeReference
  }
}

/// All of a WAV file that stands before its sound. Its length does not depend on how much sound follows: a chunk of
/// 28 bytes is JUNK until the file passes 4 GiB, and then the ds64 of RF64 (EBU Tech 3306).
struct WAVHeader: Hashable {
  let encoding: SampleEncoding
  let channels: Int
  let sampleRate: Int
  /// Payload of the broadcast extension.
  var broadcast: [UInt8]?

  init(encoding: SampleEncoding, channels: Int, sampleRate: Int, broadcast: [UInt8]?) {
    self.encoding = encoding
    self.channels = channels
    self.sampleRate = sampleRate
    self.broadcast = broadcast
  }

  var frameBytes: Int { encoding.bytes * channels }
  var count: Int { bytes(frames: 0).count }

  func bytes(frames: Int) -> [UInt8] {
    let dataBytes = frames * frameBytes
    var chunks: [UInt8] = []
    if let broadcast { chunks += Self.chunk("bext", broadcast) }
    chunks += Self.chunk("fmt ", format)
    let short = UInt32(exactly: frames) ?? .max
    if encoding == .float32 { chunks += Self.chunk("fact", Self.little(short)) }
    let riffBytes = 4 + 36 + chunks.count + 8 + dataBytes + dataBytes % 2
    let isLarge = riffBytes > UInt32.max
    var sizes = Self.little(UInt64(riffBytes)) + Self.little(UInt64(dataBytes)) + Self.little(UInt64(frames))
    sizes += Self.little(UInt32(0))
    if !isLarge { sizes = [UInt8](repeating: 0, count: sizes.count) }
    return Array((isLarge ? "RF64" : "RIFF").utf8) + Self.little(UInt32(exactly: riffBytes) ?? .max)
      + Array("WAVE".utf8) + Self.chunk(isLarge ? "ds64" : "JUNK", sizes) + chunks + Array("data".utf8)
      + Self.little(isLarge ? UInt32.max : UInt32(dataBytes))
  }

  /// Plain for float, of which sox knows no other kind; WAVE_FORMAT_EXTENSIBLE for integers of more than 16 bits.
  private var format: [UInt8] {
    let isPlain = encoding == .float32
    let tag: UInt16 = encoding == .float32 ? 3 : 1
    var format = Self.little(isPlain ? tag : 0xFFFE) + Self.little(UInt16(channels))
    format += Self.little(UInt32(sampleRate)) + Self.little(UInt32(sampleRate * frameBytes))
    format += Self.little(UInt16(frameBytes)) + Self.little(UInt16(8 * encoding.bytes))
    guard !isPlain else { return format + Self.little(UInt16(0)) }
    // Microphones stand nowhere around a listener.
    let speakers: UInt32 = channels == 1 ? 4 : channels == 2 ? 3 : 0
    format += Self.little(UInt16(22)) + Self.little(UInt16(8 * encoding.bytes)) + Self.little(speakers)
    return format + Self.little(tag) + Self.subtypeTail
  }

  /// Of KSDATAFORMAT_SUBTYPE_PCM and its siblings, behind the format's number.
  private static let subtypeTail: [UInt8] = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]

  /// Reads a header of Pinna's own; nil for anything else.
  init?(_ bytes: [UInt8]) {
    func number(_ at: Int, _ count: Int) -> Int {
      (0..<count).reduce(0) { $0 | Int(bytes[at + $1]) << (8 * $1) }
    }
    func name(_ at: Int) -> String { String(decoding: bytes[at..<at + 4], as: UTF8.self) }
    guard bytes.count >= 48, ["RIFF", "RF64"].contains(name(0)), name(8) == "WAVE" else { return nil }
    var broadcast: [UInt8]?
    var format: (encoding: SampleEncoding, channels: Int, sampleRate: Int)?
    var at = 12
    while at + 8 <= bytes.count, name(at) != "data" {
      let start = at + 8
      let end = start + number(at + 4, 4)
      guard end <= bytes.count else { return nil }
      if name(at) == "bext" { broadcast = Array(bytes[start..<end]) }
      if name(at) == "fmt ", end - start >= 16 {
        let encoding: SampleEncoding? = [32: .float32, 24: .pcm24][number(start + 14, 2)]
        guard let encoding else { return nil }
        format = (encoding, number(start + 2, 2), number(start + 4, 4))
      }
      at = end
    }
    guard let format, (1...AudioFileReader.channelLimit).contains(format.channels), format.sampleRate > 0,
      format.sampleRate < 1_000_000
    else { return nil }
    self.init(
      encoding: format.encoding, channels: format.channels, sampleRate: format.sampleRate,
      broadcast: broadcast)
    // Byte for byte what we would write, but for the lengths.
    let own = self.bytes(frames: 0)
    guard at + 8 <= bytes.count, own.count == at + 8, own[at...].starts(with: Array("data".utf8)) else {
      return nil
    }
  }

  private static func chunk(_ name: String, _ payload: [UInt8]) -> [UInt8] {
    Array(name.utf8) + little(UInt32(payload.count)) + payload
  }

  fileprivate static func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }
}

extension BroadcastExtension {
  var payload: [UInt8] {
    func field(_ text: String, _ count: Int) -> [UInt8] {
      let ascii = text.unicodeScalars.map { $0.isASCII ? UInt8($0.value) : 0x3F }.prefix(count)
      return ascii + [UInt8](repeating: 0, count: count - ascii.count)
    }
    var payload = field(description, 256) + field("Pinna", 32) + field("", 32) + field(date, 10)
    payload += field(time, 8) + WAVHeader.little(UInt64(timeReference)) + WAVHeader.little(UInt16(1))
    // No unique identifier, no coding history.
    return payload + [UInt8](repeating: 0, count: 64 + 190)
  }
}
