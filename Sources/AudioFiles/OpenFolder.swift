import CFiles
import Glibc

/// A folder that is held open: its files stay within reach, however the folder is renamed or moved meanwhile.
///
/// Any thread may call everything here; each call may wait for the disk.
public final class OpenFolder: Sendable {
  /// Names are paths from the working folder, or from the root.
  public static let working = OpenFolder(owning: AT_FDCWD, path: "")

  package let descriptor: Int32
  /// Where it was when it was opened.
  private let givenPath: String

  /// - Parameter descriptor: of an open folder; closed with this.
  package init(owning descriptor: Int32, path: String) {
    self.descriptor = descriptor
    givenPath = path
  }

  /// Nil where there is no such folder, or it cannot be read.
  package convenience init?(path: String) {
    let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    self.init(owning: descriptor, path: path)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Whether another folder, or none, is where this one was.
  package var isMoved: Bool {
    var (own, there) = (stat(), stat())
    guard descriptor >= 0, fstat(descriptor, &own) == 0 else { return false }
    return stat(givenPath, &there) != 0 || there.st_ino != own.st_ino || there.st_dev != own.st_dev
  }

  /// Where it is by now.
  public var path: String {
    guard isMoved else { return givenPath }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
    guard count > 0 else { return givenPath }
    return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  public func path(of name: String) -> String { descriptor == AT_FDCWD ? name : "\(path)/\(name)" }

  /// A new file; negative, with `errno`, where the name is taken. Nothing is ever written through a link.
  package func create(_ name: String) -> Int32 {
    openat(descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
  }

  /// An existing file. Opening a FIFO that nobody writes to does not wait.
  package func open(_ name: String, _ flags: Int32) -> Int32 {
    openat(descriptor, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
  }

  package func contains(_ name: String) -> Bool {
    var information = stat()
    return fstatat(descriptor, name, &information, AT_SYMLINK_NOFOLLOW) == 0
  }

  /// Whether `name` still is the file that `file` has open, and not another that somebody put there.
  package func has(_ name: String, as file: Int32) -> Bool {
    var (own, there) = (stat(), stat())
    return fstat(file, &own) == 0 && fstatat(descriptor, name, &there, AT_SYMLINK_NOFOLLOW) == 0
      && own.st_ino == there.st_ino && own.st_dev == there.st_dev
  }

  package func remove(_ name: String) { unlinkat(descriptor, name, 0) }

  /// Removes `name` unless somebody put another file there.
  package func remove(_ name: String, as file: Int32) { if has(name, as: file) { remove(name) } }

  /// Renames, and replaces what has the name; 0 where that worked.
  package func rename(_ name: String, to other: String) -> Int32 {
    renameat(descriptor, name, descriptor, other)
  }

  /// Renames unless somebody has taken the name; 0 where that worked. Falls back to a hard link on old file systems.
  package func renameToFree(_ name: String, _ other: String) -> Int32 {
    if pinna_rename_to_free(descriptor, name, other) == 0 { return 0 }
    guard errno == EINVAL || errno == ENOSYS, linkat(descriptor, name, descriptor, other, 0) == 0 else {
      return -1
    }
    return unlinkat(descriptor, name, 0)
  }
}
