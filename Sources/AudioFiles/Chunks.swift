import Glibc

/// The chunks of a sound file: a name, a length, and so many bytes.
struct Chunks {
  /// One chunk, of which only the head was read.
  struct Chunk {
    /// Its first four bytes tell the kind: "fmt ", "data".
    let name: String
    let isPlausible: Bool
    /// Where its length stands.
    let lengthField: Int
    /// Where its content begins.
    let start: Int
    /// Length of its content according to the file; -1 if it is too large for a number.
    let length: Int
  }

  /// How a format writes its chunks.
  struct Format {
    var nameBytes = 4
    var lengthBytes = 4
    var isBigEndian = false
    /// Whether the length counts the head, too.
    var countsHead = false
    var alignment = 2
    /// Where the first chunk begins.
    var first = 12
    /// The chunk with the sound, and how many bytes of it precede the sound.
    var sound = "data"
    var prefix = 0

    static let riff = Format()
    static let rifx = Format(isBigEndian: true)
    static let wave64 = Format(nameBytes: 16, lengthBytes: 8, countsHead: true, alignment: 8, first: 40)
    static let aiff = Format(isBigEndian: true, sound: "SSND", prefix: 8)
    static let caf = Format(lengthBytes: 8, isBigEndian: true, alignment: 1, first: 8, prefix: 4)

    var headBytes: Int { nameBytes + lengthBytes }
  }

  /// Behind the sound, these are chunks even if their length is wrong.
  private static let known: Set = [
    "LIST", "bext", "cue ", "fact", "iXML", "id3 ", "ID3 ", "JUNK", "junk", "PAD ", "PEAK", "smpl", "inst",
    "afsp",
    "_PMX", "axml", "chna", "uuid", "info", "strg", "mark", "free", "chan", "COMM", "MARK", "ANNO", "NAME",
    "AUTH",
  ]

  /// Whether these bytes begin with the name of a known chunk.
  static func isKnown(_ bytes: some Collection<UInt8>) -> Bool {
    known.contains(String(decoding: bytes.prefix(4), as: UTF8.self)) || bytes.starts(with: "TAG".utf8)
  }

  let descriptor: Int32
  /// Length of the file.
  let size: Int
  let format: Format

  /// Bytes of the file; fewer at its end.
  func bytes(at offset: Int, count: Int) -> [UInt8] { Self.bytes(descriptor, at: offset, count: count) }

  static func bytes(_ descriptor: Int32, at offset: Int, count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = pread(descriptor, &bytes, count, off_t(offset))
    return Array(bytes.prefix(max(0, got)))
  }

  /// An unsigned number; -1 if it is too large.
  func number(_ bytes: some Collection<UInt8>) -> Int {
    let ordered = format.isBigEndian ? Array(bytes) : bytes.reversed()
    let value = ordered.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int(exactly: value) ?? -1
  }

  /// The bytes of an unsigned number.
  func encoded(_ value: Int, bytes: Int) -> [UInt8] {
    let bytes = (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    return format.isBigEndian ? bytes.reversed() : bytes
  }

  /// The chunk at an offset; nil where the file ends within its head.
  func chunk(at offset: Int) -> Chunk? {
    let head = bytes(at: offset, count: format.headBytes)
    guard head.count == format.headBytes else { return nil }
    let length = number(head[format.nameBytes...])
    return Chunk(
      name: String(decoding: head[..<4], as: UTF8.self),
      isPlausible: head[..<4].allSatisfy { (0x20...0x7E).contains($0) },
      lengthField: offset + format.nameBytes,
      start: offset + format.headBytes,
      length: length < 0 ? -1 : format.countsHead ? length - format.headBytes : length)
  }

  /// Where the next chunk begins.
  func end(of chunk: Chunk) -> Int? {
    let (end, overflows) = chunk.start.addingReportingOverflow(chunk.length)
    guard chunk.length >= 0, !overflows, end <= size else { return nil }
    return aligned(end)
  }

  func aligned(_ offset: Int) -> Int { (offset + format.alignment - 1) / format.alignment * format.alignment }

  /// The chunks from an offset on, as far as they are whole. A broken file has a thousand at most.
  func chunks(from offset: Int) -> [Chunk] {
    var chunks: [Chunk] = []
    var next: Int? = offset
    while let offset = next, chunks.count < 1000, let chunk = chunk(at: offset), chunk.isPlausible {
      chunks.append(chunk)
      next = end(of: chunk)
    }
    return chunks
  }

  /// Whether sound that ends at an offset ends there for sure: with the file, or with chunks.
  func soundEnds(at offset: Int) -> Bool {
    // Less than one sample is not sound, either.
    guard size - offset > 1 else { return size >= offset }
    return [offset, aligned(offset)].contains(where: chunksReachEnd)
  }

  func chunksReachEnd(from offset: Int) -> Bool {
    let chunks = chunks(from: offset)
    guard let last = chunks.last else { return false }
    let isTag = chunks[0].name.hasPrefix("TAG") && size - offset == 128
    if isTag || Self.known.contains(chunks[0].name) { return true }
    guard let end = end(of: last) else { return false }
    // Some programs fill up with zeros.
    return size - end <= 1 || bytes(at: end, count: 8).allSatisfy { $0 == 0 }
  }
}
