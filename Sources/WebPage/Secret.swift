/// The token that the page's address carries at first, and its cookie afterwards. A value; any thread.
package struct Secret: Sendable {
  /// 160 random bits in hexadecimal.
  package let text: String

  /// Swift's generator is the system's (getrandom).
  package init() {
    text = (0..<20).map { _ in
      let byte = UInt8.random(in: 0...255)
      return String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }

  package init(_ text: String) { self.text = text }

  /// Takes equally long for every candidate of the same length.
  package func matches(_ candidate: String) -> Bool {
    let (own, other) = (Array(text.utf8), Array(candidate.utf8))
    guard own.count == other.count, !own.isEmpty else { return false }
    return zip(own, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
