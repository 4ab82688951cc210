import Glibc

/// A named place in a WAV file.
public struct WAVCue: Hashable, Sendable {
  /// Counted from the file's first frame.
  public let frame: Int
  public let label: String

  /// Thread: any.
  public init(frame: Int, label: String) { (self.frame, self.label) = (frame, label) }
}

/// Adds cues and a title to a WAV or RF64 file that is complete: a chunk `cue `, its labels (`LIST adtl`) and `LIST INFO`,
/// behind the sound. The header keeps its length, as it must while a take is being written.
///
/// Thread: any; waits for the disk.
package enum WAVCues {
  /// - Parameters:
  ///   - title: of the sound; empty for none.
  ///   - private: the content of a chunk `pnna`, which only Pinna reads; empty for none.
  /// - Returns: whether the file has all of them. If not, it is as it was.
  static func append(
    _ cues: [WAVCue], title: String = "", private body: [UInt8] = [], to descriptor: Int32
  ) -> Bool {
    guard !cues.isEmpty || !title.isEmpty || !body.isEmpty else { return true }
    var information = stat()
    guard fstat(descriptor, &information) == 0 else { return false }
    let length = Int(information.st_size)
    return write(cues, title, body.isEmpty ? [] : chunk("pnna", body), at: length, of: length, to: descriptor)
  }

  /// Replaces the cues and the title behind the sound of a finished WAV file. Other chunks there stay. So does every byte
  /// behind the first place that holds no chunk.
  /// - Returns: whether the file has all of them. If not, or if it is another kind of file, it is as it was.
  package static func replace(
    in name: String, of folder: OpenFolder, _ cues: [WAVCue], title: String
  ) -> Bool {
    let descriptor = folder.open(name, O_RDWR)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var information = stat()
    guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return false }
    let size = Int(information.st_size)
    // What seems to be sound behind the length that the header states may be something else.
    guard let header = SoundHeader(descriptor, size: size), let end = header.end(ofSoundIn: size),
      header.statesSound
    else { return false }
    let file = Chunks(descriptor: descriptor, size: size, format: .riff)
    var others: [UInt8] = []
    // Some programs write no padding behind sound of odd length. What follows then is kept as it is.
    let aligned = file.aligned(end)
    let isPadded = file.chunksReachEnd(from: aligned) || file.bytes(at: end, count: 1) == [0]
    var next = isPadded ? aligned : end
    for found in next == aligned ? file.chunks(from: next) : [] {
      let content = file.bytes(at: found.start, count: min(max(found.length, 0), 1 << 28))
      guard content.count == found.length else { return false }
      let isReplaced = found.name == "cue " || found.name == "LIST" && isOwnList(content)
      if !isReplaced { others += chunk(found.name, content) }
      next = file.end(of: found) ?? size
    }
    guard size - next <= 1 << 28 else { return false }
    let rest = file.bytes(at: next, count: max(0, size - next))
    // A known chunk behind the sound tells it from the rest.
    if cues.isEmpty, title.isEmpty, others.isEmpty, !rest.isEmpty { others = chunk("JUNK", []) }
    others += rest
    return write(cues, title, others, at: end, of: size, to: descriptor) && fdatasync(descriptor) == 0
  }

  private static func isOwnList(_ content: [UInt8]) -> Bool {
    ["adtl", "INFO"].contains { content.starts(with: $0.utf8) }
  }

  /// Writes what stands behind the sound.
  /// - Parameters:
  ///   - others: whole chunks, behind the cues and the title.
  ///   - end: of the sound.
  ///   - length: of the file.
  private static func write(
    _ cues: [WAVCue], _ title: String, _ others: [UInt8], at end: Int, of length: Int, to descriptor: Int32
  ) -> Bool {
    // A cue's position has 32 bits.
    guard cues.allSatisfy({ (0...Int(UInt32.max)).contains($0.frame) }) else { return false }
    let head = Chunks.bytes(descriptor, at: 0, count: 28)
    guard head.count == 28 else { return false }
    let bytes =
      [UInt8](repeating: 0, count: end % 2) + (cues.isEmpty ? [] : chunks(cues))
      + (title.isEmpty ? [] : chunk("LIST", Array("INFO".utf8) + chunk("INAM", Array(title.utf8) + [0])))
      + others
    let riffLength = UInt64(end + bytes.count - 8)
    let isRF64 = head[0..<4].elementsEqual("RF64".utf8)
    guard isRF64 || head[0..<4].elementsEqual("RIFF".utf8) && riffLength <= UInt64(UInt32.max) else {
      return false
    }
    // RF64 has its length in the chunk ds64, which comes first.
    let (place, field) = isRF64 ? (20, riffLength.bytes(8)) : (4, riffLength.bytes(4))
    let old = Chunks.bytes(descriptor, at: end, count: length - end)
    guard old.count == length - end else { return false }
    let isDone =
      pwrite(descriptor, bytes, bytes.count, off_t(end)) == bytes.count
      && ftruncate(descriptor, off_t(end + bytes.count)) == 0
      && pwrite(descriptor, field, field.count, off_t(place)) == field.count
    if isDone { return true }
    _ = pwrite(descriptor, head, head.count, 0)
    _ = pwrite(descriptor, old, old.count, off_t(end))
    _ = ftruncate(descriptor, off_t(length))
    return false
  }

  /// Whether a file continues with cues, a title, or Pinna's own chunk from byte `offset` on, where its sound ends.
  static func begin(at offset: Int, of descriptor: Int32) -> Bool {
    var head = [UInt8](repeating: 0, count: 12)
    guard pread(descriptor, &head, head.count, off_t(offset + offset % 2)) == head.count else { return false }
    func number(_ at: Int) -> Int { (0..<4).reduce(0) { $0 | Int(head[at + $1]) << (8 * $1) } }
    // The length belongs to the number of cues, so that samples are not taken for them.
    if head[0..<4].elementsEqual("cue ".utf8) { return number(4) == 4 + 24 * number(8) }
    if head[0..<4].elementsEqual("LIST".utf8) { return head[8...].elementsEqual("INFO".utf8) }
    let isVersion = head[8] == UInt8(ascii: "v") && head[9...].allSatisfy { 48...57 ~= $0 }
    return head[0..<4].elementsEqual("pnna".utf8) && isVersion
  }

  private static func chunks(_ cues: [WAVCue]) -> [UInt8] {
    var points: [UInt8] = UInt64(cues.count).bytes(4)
    var labels: [UInt8] = Array("adtl".utf8)
    for (n, cue) in cues.enumerated() {
      let (number, frame) = (UInt64(n + 1), UInt64(cue.frame))
      points += number.bytes(4) + frame.bytes(4) + Array("data".utf8)
      points += UInt64(0).bytes(4) + UInt64(0).bytes(4) + frame.bytes(4)
      labels += chunk("labl", number.bytes(4) + Array(cue.label.utf8) + [0])
    }
    return chunk("cue ", points) + chunk("LIST", labels)
  }

  /// A chunk of a RIFF file; its length is even.
  private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    Array(name.utf8) + UInt64(body.count).bytes(4) + body + [UInt8](repeating: 0, count: body.count % 2)
  }
}

extension UInt64 {
  /// The lowest bytes, little-endian.
  fileprivate func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: self >> UInt64(8 * $0)) }
  }
}
