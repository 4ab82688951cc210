import Messages
import Settings

/// The token that OSC over UDP asks for, in `NAME.token`. A new token is made at each start.
///
/// Thread: any.
final class TokenFile {
  /// 128 random bits in hexadecimal.
  let token: String
  private let file: RuntimeFile
  var path: String { file.path }

  /// - Parameter token: an existing token, for a Pinna that takes another name; nil for a new one.
  init(name: String, environment: [String: String], token known: String? = nil) throws(Failure) {
    // Swift's generator is the system's (getrandom).
    token =
      known
      ?? (0..<16).map { _ in
        let byte = UInt8.random(in: 0...255)
        return String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
      }.joined()
    file = try RuntimeFile(
      name: name, kind: "token", text: token, remedy: "leave out --osc-port", environment: environment)
  }

  /// Makes the file again if another program removed or replaced it.
  func restore() throws(Failure) { try file.restore() }

  /// Removes the file, unless another has taken its place.
  func remove() { file.remove() }

  /// Whether `text` is the token. Takes equally long for every text of the token's length.
  func matches(_ text: String) -> Bool {
    let (a, b) = (Array(text.utf8), Array(token.utf8))
    guard a.count == b.count else { return false }
    return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
