import Glibc
import Numerics
import Text

/// What a SOFA file declares about itself, found in its bytes. libmysofa reads the rest; where it does not, it gives a
/// number, which says nothing to anybody.
///
/// - Source: HDF5 File Format Specification, version 3.0, II.A (superblock), III.G (fractal heap) and IV.A.2.m
///   (attribute message).
package struct SofaOutline {
  let bytes: UnsafeMutableRawBufferPointer

  package init(_ bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

  /// - Throws: `DesignError` with the rest of a sentence that begins with the file's name, unless the file says that
  ///   it is SOFA with impulse responses, or does not say what it is.
  package func check() throws(DesignError) {
    if starts(with: [0x43, 0x44, 0x46]) {
      throw DesignError(
        "is netCDF in its classic form, not a SOFA file; convert it to netCDF-4, for example with: nccopy -k nc4"
      )
    }
    guard starts(with: [0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A, 0x1A, 0x0A]) else {
      throw DesignError("is not a SOFA file: it does not begin like one (HDF5); give \(SofaFile.kind)")
    }
    guard let end = endOfFile, (0...bytes.count).contains(end) else {
      throw DesignError("ends before its end; copy it again")
    }
    if let conventions = attribute("Conventions"), conventions != "SOFA" {
      throw DesignError(
        "is not a SOFA file: its Conventions are \(conventions.quoted), not \"SOFA\"; give \(SofaFile.kind)")
    }
    guard let type = attribute("DataType"), !["FIR", "FIR-E"].contains(type) else { return }
    switch type {
    case "TF", "TF-E": throw Self.otherData("transfer functions", type)
    case "SOS", "SOS-E": throw Self.otherData("second-order sections", type)
    default: throw DesignError("has data of type \(type.quoted), not \"FIR\"; give \(SofaFile.kind)")
    }
  }

  /// How long the file says it is, in bytes; 0 if its numbers have another size, and nil if it ends before it says so.
  private var endOfFile: Int? {
    guard let version = number(1, at: 8), let size = number(1, at: version < 2 ? 13 : 9) else { return nil }
    // Versions 0 and 1 say it behind their counts of the trees' nodes.
    return size == 8 ? number(8, at: [40, 44, 28, 28, 28][min(version, 4)]) : 0
  }

  private static func otherData(_ content: String, _ type: String) -> DesignError {
    DesignError(
      "holds \(content) (data of type \"\(type)\"), not impulse responses (\"FIR\"); convert it, or export it again "
        + "as \(SofaFile.kind)")
  }

  /// The text of the first attribute of that name, if it is stored as a string of fixed length.
  package func attribute(_ name: String) -> String? {
    let name = Array(name.utf8) + [0]
    for at in offsets(of: name) {
      if let value = value(ofNameAt: at, length: name.count) { return value }
    }
    return nil
  }

  /// - Parameter length: of the name, with its zero.
  private func value(ofNameAt at: Int, length: Int) -> String? {
    for (version, header) in [(3, 9), (2, 8), (1, 8)] as [(UInt8, Int)] {
      let start = at - header
      guard start >= 0, bytes[start] == version, number(2, at: start + 2) == length,
        let typeSize = number(2, at: start + 4), let spaceSize = number(2, at: start + 6)
      else { continue }
      func padded(_ size: Int) -> Int { version == 1 ? (size + 7) / 8 * 8 : size }
      let type = at + padded(length)
      let text = type + padded(typeSize) + padded(spaceSize)
      // Class 3 is a string.
      guard let count = number(4, at: type + 4), bytes[type] & 0xF == 3, count <= 1024,
        text + count <= bytes.count
      else { continue }
      return String(decoding: bytes[text..<text + count].prefix { $0 != 0 }, as: UTF8.self)
    }
    return nil
  }

  /// Little-endian.
  func number(_ width: Int, at offset: Int) -> Int? {
    guard offset >= 0, offset + width <= bytes.count else { return nil }
    return (0..<width).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
  }

  private func starts(with signature: [UInt8]) -> Bool {
    bytes.prefix(signature.count).elementsEqual(signature)
  }

  func offsets(of pattern: [UInt8]) -> some Sequence<Int> {
    sequence(state: 0) { [bytes] (from: inout Int) -> Int? in
      while from + pattern.count <= bytes.count {
        let rest = bytes.count - from - pattern.count + 1
        guard let found = memchr(bytes.baseAddress! + from, Int32(pattern[0]), rest) else { return nil }
        let at = found - bytes.baseAddress!
        from = at + 1
        if memcmp(found, pattern, pattern.count) == 0 { return at }
      }
      return nil
    }
  }
}
