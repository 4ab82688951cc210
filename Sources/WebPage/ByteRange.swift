/// The part of a file that a Range header asks for: what players need to seek. A value; any thread.
package enum ByteRange: Hashable, Sendable {
  case whole
  /// Offsets of the first and the last byte.
  case part(first: Int, last: Int)
  /// No byte of the file.
  case unsatisfiable

  /// A header that is malformed, or asks for several parts, counts as none (RFC 9110, 14.2).
  /// - Parameters:
  ///   - header: "bytes=0-499", "bytes=500-" or "bytes=-500".
  ///   - size: of the file, in bytes.
  package init(_ header: String?, size: Int) {
    guard let header, let match = header.wholeMatch(of: /bytes=([0-9]{0,18})-([0-9]{0,18})/) else {
      self = .whole
      return
    }
    switch (Int(match.output.1), Int(match.output.2)) {
    case (let first?, let last?):
      guard first <= last else {
        self = .whole
        return
      }
      self = first < size ? .part(first: first, last: min(last, size - 1)) : .unsatisfiable
    case (let first?, nil):
      self = first < size ? .part(first: first, last: size - 1) : .unsatisfiable
    case (nil, let count?):
      self = count > 0 && size > 0 ? .part(first: max(0, size - count), last: size - 1) : .unsatisfiable
    case (nil, nil): self = .whole
    }
  }
}
