import FoundationEssentials
import Glibc
import Messages
import Processor

/// The token that OSC over UDP asks for, in a file that only this user can read: `NAME.token` in the runtime folder.
///
/// A new token is made at each start. The caller owns the name (`NamedSocket`), so a file that exists is a leftover.
///
/// Thread: any, one at a time.
final class TokenFile {
  let path: String
  /// 128 random bits in hexadecimal.
  let token: String
  /// The file, open so that its inode is not used again; nil once it has been removed.
  private var file: FileDescriptor?

  /// - Parameter token: an existing token, for a Pinna that takes another name; nil for a new one.
  init(name: String, environment: [String: String], token known: String? = nil) throws(Failure) {
    path = "\(RuntimeFolder.path(environment: environment))/\(name).token"
    // Swift's generator is the system's (getrandom).
    token =
      known
      ?? (0..<16).map { _ in
        let byte = UInt8.random(in: 0...255)
        return String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
      }.joined()
    file = try write()
  }

  /// Replaces what is at the path.
  private func write() throws(Failure) -> FileDescriptor {
    // Also an empty folder.
    Glibc.remove(path)
    let file = FileDescriptor(open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
    guard file.number >= 0 else { throw Self.failure(path) }
    let line = Array((token + "\n").utf8)
    guard fchmod(file.number, 0o600) == 0, Glibc.write(file.number, line, line.count) == line.count else {
      let failure = Self.failure(path)
      unlink(path)
      throw failure
    }
    return file
  }

  /// Whether the file at the path is the one that was written.
  private func isThere(_ file: FileDescriptor) -> Bool {
    Inode(descriptor: file.number) == Inode(path: path)
  }

  /// Makes the file again if another program removed or replaced it.
  func restore() throws(Failure) {
    guard let known = file, !isThere(known) else { return }
    file = try write()
  }

  private static func failure(_ path: String) -> Failure {
    Failure(
      .failed,
      "cannot write the token file \(path): \(String(cString: strerror(errno))); move away what is there, free some space, "
        + "or leave out --osc-port"
    )
  }

  deinit { remove() }

  /// Removes the file, unless another has taken its place.
  func remove() {
    if let file, isThere(file) { unlink(path) }
    file = nil
  }

  /// Whether `text` is the token. Takes equally long for every text of the token's length.
  func matches(_ text: String) -> Bool {
    let (a, b) = (Array(text.utf8), Array(token.utf8))
    guard a.count == b.count else { return false }
    return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
