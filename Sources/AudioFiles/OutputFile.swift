import Glibc
import Threads

/// A file that is written for a user: whole under its name, or not there. It is written beside its place, and
/// renamed.
///
/// Links, folders, FIFOs and device nodes are never replaced, nor files of takes (`TakeFile`) and what the verb reads
/// (`ReadFiles`); other files only where that was asked for.
public struct OutputFile: Sendable {
  public let path: String
  private let replaces: Bool
  private let updates: Bool

  /// - Parameters:
  ///   - replacing: whether a file of that name may be replaced; `--force` of a verb.
  ///   - updating: whether the verb reads that file to write it again.
  /// - Throws: `AudioFileError` if something is there that stays. Nothing is written yet: a verb asks before it
  ///   computes.
  public init(_ path: String, replacing: Bool, updating: Bool = false) throws(AudioFileError) {
    guard !path.isEmpty else { throw AudioFileError("the file name is empty; give one") }
    guard !path.utf8.contains(0) else {
      throw AudioFileError("a path with a NUL cannot be written; give one without")
    }
    self.path = path
    (replaces, updates) = (replacing, updating)
    try check()
  }

  private func check() throws(AudioFileError) {
    guard let kind = OpenFolder.working.kind(of: path) else { return }
    guard kind == S_IFREG else {
      throw AudioFileError("\(path) is \(Self.title(of: kind)), which is not replaced; give another name")
    }
    if let claim = TakeFile.claim(on: path) {
      throw AudioFileError("\(path) \(claim), and is never replaced; give another name")
    }
    guard updates || !ReadFiles.contains(path) else {
      throw AudioFileError("\(path) is read here, and so is not replaced; give another name")
    }
    guard replaces else {
      throw AudioFileError("\(path) exists; give another name, or --force to replace it")
    }
  }

  private static func title(of kind: mode_t) -> String {
    switch kind {
    case S_IFLNK: "a symbolic link"
    case S_IFDIR: "a folder"
    case S_IFIFO: "a FIFO"
    case S_IFSOCK: "a socket"
    default: "a device"
    }
  }

  /// Waits for the disk.
  package func write(_ bytes: some Collection<UInt8>) throws(AudioFileError) {
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    let scratch = "\(folder).pinna-\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
    let descriptor = OpenFolder.working.create(scratch)
    guard descriptor >= 0 else { throw failure(errno) }
    let isWritten = Descriptor.writeAll(bytes, to: descriptor) && fdatasync(descriptor) == 0
    let reason = errno
    close(descriptor)
    guard isWritten else {
      unlink(scratch)
      throw failure(reason)
    }
    try adopt(scratch)
  }

  /// Gives the finished file at `scratch` its name, or removes it.
  package func adopt(_ scratch: String) throws(AudioFileError) {
    do throws(AudioFileError) {
      // What was put there meanwhile.
      try check()
      let folder = OpenFolder.working
      guard
        (replaces ? folder.rename(scratch, to: path) : folder.renameWithoutReplacing(scratch, path)) == 0
      else { throw failure(errno) }
    } catch {
      unlink(scratch)
      throw error
    }
  }

  private func failure(_ reason: Int32) -> AudioFileError {
    AudioFileError(
      "cannot write \(path): \(String(cString: strerror(reason))); check its folder and the disk, or give another"
    )
  }
}
