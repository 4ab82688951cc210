import FoundationEssentials
import Glibc
import Messages
import Settings
import Threads

/// A file of a running Pinna that only its user can read, in the runtime folder: `NAME.token`, `NAME.web`.
///
/// The caller owns the name (`NamedSocket`), so a file that exists is a leftover.
///
/// Thread: any.
package final class RuntimeFile: Sendable {
  package let path: String
  private let text: String
  /// What to do instead of writing the file.
  private let remedy: String
  /// The file, open so that its inode is not used again; nil once it has been removed.
  private let file: Locked<FileDescriptor?>

  /// - Parameters:
  ///   - kind: what follows the name: "token".
  ///   - text: one line.
  ///   - remedy: what to do where it cannot be written, such as "leave out --osc-port".
  package init(
    name: String, kind: String, text: String, remedy: String,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(Failure) {
    path = Self.path(name: name, kind: kind, environment: environment)
    (self.text, self.remedy) = (text, remedy)
    file = Locked(try Self.write(text, to: path, remedy))
  }

  /// The file's path, whether or not it exists.
  package static func path(
    name: String, kind: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String {
    "\(RuntimeFolder.path(environment: environment))/\(name).\(kind)"
  }

  /// Replaces what is at the path by a file of one line.
  /// - Returns: the file, open.
  @discardableResult
  package static func write(_ text: String, to path: String, _ remedy: String) throws(Failure)
    -> FileDescriptor
  {
    // Also an empty folder.
    Glibc.remove(path)
    let file = FileDescriptor(open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
    guard file.number >= 0 else { throw failure(path, remedy) }
    let line = Array((text + "\n").utf8)
    guard fchmod(file.number, 0o600) == 0, Glibc.write(file.number, line, line.count) == line.count else {
      let failure = failure(path, remedy)
      unlink(path)
      throw failure
    }
    return file
  }

  private static func failure(_ path: String, _ remedy: String) -> Failure {
    Failure(
      .failed,
      "cannot write the file \(path): \(String(cString: strerror(errno))); move away what is there, free some space, or "
        + remedy)
  }

  /// Whether the file at the path is the one that was written.
  private func isThere(_ file: FileDescriptor) -> Bool {
    Inode(descriptor: file.number) == Inode(path: path)
  }

  /// Makes the file again if another program removed or replaced it.
  func restore() throws(Failure) {
    try file.withLock { file throws(Failure) in
      guard let known = file, !isThere(known) else { return }
      file = try Self.write(text, to: path, remedy)
    }
  }

  deinit { remove() }

  /// Removes the file, unless another has taken its place.
  package func remove() {
    file.withLock { file in
      if let known = file, isThere(known) { unlink(path) }
      file = nil
    }
  }
}
