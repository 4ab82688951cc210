/// What libmysofa 1.3.1 refuses a whole file for, though no response needs it. It is changed in the bytes before
/// libmysofa reads them.
///
/// - Source: HDF5 File Format Specification, version 3.0, III.G (fractal heap), IV.A.1.b (object header, version 2)
///   and
///   IV.A.2.q (continuation).
extension SofaOutline {
  /// No real file has as many continuations: bounds the work on hostile ones.
  private static let mostContinuations = 10_000

  package func simplify() {
    guard bytes.count > 15 else { return }
    // Offsets and lengths of 8 bytes, as everybody writes them.
    let widths = bytes[8] < 2 ? 13 : 9
    guard bytes[widths] == 8, bytes[widths + 1] == 8 else { return }
    neglectLongAttributes()
    neglectOtherAttributes()
  }

  /// Attributes of more than 4 kB, such as a long History, stand apart from the others; the heap says how many there
  /// are.
  private func neglectLongAttributes() {
    let number = 86..<94
    for at in offsets(of: Array("FRHP\0".utf8)) where at + number.upperBound <= bytes.count {
      for byte in number { bytes[at + byte] = 0 }
    }
  }

  /// Attributes that are read. Others are mostly netCDF's own, such as the lists of what has a dimension.
  private static let attributes = ["Conventions", "DataType", "Type", "Units", "CLASS", "NAME"].map {
    $0 + "\0"
  }

  /// libmysofa reads some 20 continuations of object headers in a file and no more: files with a few variables more
  /// have them. Those that hold other attributes only become gaps, which are skipped.
  private func neglectOtherAttributes() {
    var left = Self.mostContinuations
    for at in offsets(of: Array("OHDR\u{2}".utf8)) where at + 6 < bytes.count {
      let flags = bytes[at + 5]
      let sizeAt = at + 6 + (flags & 0x20 == 0 ? 0 : 16) + (flags & 0x10 == 0 ? 0 : 4)
      let width = 1 << Int(flags & 3)
      guard let size = number(width, at: sizeAt), (0...bytes.count - sizeAt - width).contains(size) else {
        continue
      }
      var open = [sizeAt + width..<sizeAt + width + size]
      while let chunk = open.popLast() {
        for message in messages(in: chunk, hasOrder: flags & 4 != 0) where message.type == 16 {
          guard left > 0 else { return }
          left -= 1
          guard let next = continuation(message) else { continue }
          if messages(in: next, hasOrder: flags & 4 != 0).allSatisfy(isNeedless) {
            bytes[message.at] = 0
          } else {
            open.append(next)
          }
        }
      }
    }
  }

  /// A message of an object header.
  private struct Message {
    /// Where its header begins, with the type.
    let at: Int
    let type: UInt8
    let content: Range<Int>
  }

  private func messages(in range: Range<Int>, hasOrder: Bool) -> [Message] {
    var messages: [Message] = []
    var at = range.lowerBound
    let header = hasOrder ? 6 : 4
    while at + header <= range.upperBound, let size = number(2, at: at + 1),
      at + header + size <= range.upperBound
    {
      messages.append(Message(at: at, type: bytes[at], content: at + header..<at + header + size))
      at += header + size
    }
    return messages
  }

  /// The messages of the block that `message` leads to, between its signature and its checksum.
  private func continuation(_ message: Message) -> Range<Int>? {
    guard message.content.count == 16, let start = number(8, at: message.content.lowerBound),
      let size = number(8, at: message.content.lowerBound + 8), (8...bytes.count).contains(size),
      (0...bytes.count - size).contains(start), has("OCHK", at: start)
    else { return nil }
    return start + 4..<start + size - 4
  }

  private func isNeedless(_ message: Message) -> Bool {
    // A gap, or an attribute, whose name stands behind 8 or 9 bytes.
    message.type == 0
      || message.type == 12
        && !Self.attributes.contains { name in
          [8, 9].contains { has(name, at: message.content.lowerBound + $0) }
        }
  }

  private func has(_ text: String, at offset: Int) -> Bool {
    offset + text.utf8.count <= bytes.count
      && bytes[offset..<offset + text.utf8.count].elementsEqual(text.utf8)
  }
}
