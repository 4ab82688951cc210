import Glibc

/// The comments of a FLAC or Opus file: lines as "TITLE=Rehearsal". libsndfile writes a few of them; here, any are put in
/// the place of a comment that it has written.
/// - Source: FLAC: RFC 9639, sections 8.1, 8.2 and 8.6. Opus in Ogg: RFC 7845, section 5.2, and RFC 3533, section 6.
struct VorbisComments {
  private let vendor: [UInt8]
  let lines: [String]
  /// What precedes them in their packet.
  private let mark: [UInt8]
  /// Where their packet is in the file: at one place in FLAC, in as many as there are pages in Ogg.
  private let places: [Range<Int>]
  /// Of each Ogg page that these are on: where it begins, and where it ends.
  private let pages: [Range<Int>]
  private let isLastBlock: Bool

  /// In bytes: more than Pinna writes.
  private static let limit = 1 << 20

  /// Nil if the file is neither, or damaged.
  init?(_ descriptor: Int32) {
    let start = Chunks.bytes(descriptor, at: 0, count: 4)
    var (places, pages, isLast): ([Range<Int>], [Range<Int>], Bool) = ([], [], false)
    if start.elementsEqual("fLaC".utf8) {
      mark = []
      guard let block = Self.flacBlock(descriptor) else { return nil }
      places = [block.place]
      isLast = block.isLast
    } else if start.elementsEqual("OggS".utf8) {
      mark = Array("OpusTags".utf8)
      (places, pages) = Self.secondPacket(descriptor)
    } else {
      return nil
    }
    (self.places, self.pages, isLastBlock) = (places, pages, isLast)
    let packet = places.flatMap { Chunks.bytes(descriptor, at: $0.lowerBound, count: $0.count) }
    guard !places.isEmpty, packet.count == places.reduce(0, { $0 + $1.count }), packet.starts(with: mark)
    else {
      return nil
    }
    var rest = packet.dropFirst(mark.count)
    func number() -> Int? {
      guard rest.count >= 4 else { return nil }
      defer { rest = rest.dropFirst(4) }
      return rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    func bytes() -> [UInt8]? {
      guard let count = number(), count <= rest.count else { return nil }
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    guard let vendor = bytes(), let count = number(), count <= rest.count / 4 else { return nil }
    var lines: [String] = []
    for _ in 0..<count {
      guard let line = bytes() else { return nil }
      lines.append(String(decoding: line, as: UTF8.self))
    }
    (self.vendor, self.lines) = (vendor, lines)
  }

  /// The first value of a key.
  subscript(key: String) -> String? {
    lines.first { $0.lowercased().hasPrefix(key.lowercased() + "=") }.map {
      String($0.dropFirst(key.utf8.count + 1))
    }
  }

  /// Length of a packet with these lines, without the vendor.
  static func length(_ lines: [String]) -> Int { lines.reduce(8) { $0 + 4 + $1.utf8.count } }

  /// Writes other lines in their place.
  /// - Returns: whether there is room for them, and the disk took them.
  func replace(with lines: [String], in descriptor: Int32) -> Bool {
    var packet = mark + Self.little(vendor.count) + vendor + Self.little(lines.count)
    for line in lines { packet += Self.little(line.utf8.count) + Array(line.utf8) }
    let room = places.reduce(0) { $0 + $1.count }
    if pages.isEmpty {
      // What is left becomes a block of padding.
      guard packet.count == room || packet.count + 4 <= room else { return false }
      let head = places[0].lowerBound - 4
      let hasPadding = packet.count < room
      let type = UInt8(4) | (isLastBlock && !hasPadding ? 0x80 : 0)
      let padding =
        hasPadding ? [UInt8(1) | (isLastBlock ? 0x80 : 0)] + Self.big(room - packet.count - 4) : []
      packet = [type] + Self.big(packet.count) + packet + padding
      packet += [UInt8](repeating: 0, count: room + 4 - packet.count)
      return pwrite(descriptor, packet, packet.count, off_t(head)) == packet.count
    }
    // Zeros may follow the lines.
    guard packet.count <= room else { return false }
    packet += [UInt8](repeating: 0, count: room - packet.count)
    var done = 0
    for place in places {
      let part = Array(packet[done..<done + place.count])
      guard pwrite(descriptor, part, part.count, off_t(place.lowerBound)) == part.count else { return false }
      done += place.count
    }
    return pages.allSatisfy { Self.check($0, of: descriptor) }
  }

  private static func little(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static func big(_ value: Int) -> [UInt8] {
    [16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  // MARK: FLAC

  private static func flacBlock(_ descriptor: Int32) -> (place: Range<Int>, isLast: Bool)? {
    var at = 4
    for _ in 0..<128 {
      let head = Chunks.bytes(descriptor, at: at, count: 4)
      guard head.count == 4 else { return nil }
      let length = head[1...].reduce(0) { $0 << 8 | Int($1) }
      let isLast = head[0] & 0x80 != 0
      if head[0] & 0x7F == 4 { return length <= limit ? (at + 4..<at + 4 + length, isLast) : nil }
      guard !isLast else { return nil }
      at += 4 + length
    }
    return nil
  }

  // MARK: Ogg

  /// The packet after the first one, and the pages that it is on.
  private static func secondPacket(_ descriptor: Int32) -> (places: [Range<Int>], pages: [Range<Int>]) {
    var (places, pages): ([Range<Int>], [Range<Int>]) = ([], [])
    var (at, packet, length) = (0, 0, 0)
    while length <= limit {
      let head = Chunks.bytes(descriptor, at: at, count: 27)
      guard head.count == 27, head.starts(with: "OggS".utf8) else { return ([], []) }
      let segments = Chunks.bytes(descriptor, at: at + 27, count: Int(head[26])).map(Int.init)
      guard segments.count == Int(head[26]) else { return ([], []) }
      var place = at + 27 + segments.count
      let end = place + segments.reduce(0, +)
      var isOn = false
      for segment in segments {
        if packet == 1 {
          isOn = true
          places.append(place..<place + segment)
          length += segment
        }
        place += segment
        if segment < 255 {
          packet += 1
          if packet > 1 { break }
        }
      }
      if isOn { pages.append(at..<end) }
      if packet > 1 { return (places, pages) }
      at = end
    }
    return ([], [])
  }

  /// Writes a page's checksum.
  private static func check(_ page: Range<Int>, of descriptor: Int32) -> Bool {
    var bytes = Chunks.bytes(descriptor, at: page.lowerBound, count: page.count)
    guard bytes.count == page.count else { return false }
    for n in 22..<26 { bytes[n] = 0 }
    var sum: UInt32 = 0
    for byte in bytes {
      sum ^= UInt32(byte) << 24
      for _ in 0..<8 { sum = sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
    }
    return pwrite(descriptor, little(Int(sum)), 4, off_t(page.lowerBound + 22)) == 4
  }
}
