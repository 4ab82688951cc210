import CFiles
import Glibc

/// A folder held open by its descriptor. Its files stay accessible if the folder is renamed or moved.
///
/// Thread: any. Each call may wait for the disk.
public final class OpenFolder: Sendable {
  /// The working directory. Names may be relative or absolute paths.
  public static let working = OpenFolder(owning: AT_FDCWD, path: "")

  package let descriptor: Int32
  /// The path at which it was opened.
  private let givenPath: String

  /// - Parameter descriptor: of an open folder. This object closes it.
  package init(owning descriptor: Int32, path: String) {
    self.descriptor = descriptor
    givenPath = path
  }

  /// Nil if there is no such folder, or it cannot be read.
  package convenience init?(path: String) {
    let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    self.init(owning: descriptor, path: path)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Whether the original path now leads to another folder, or to none.
  package var isMoved: Bool {
    var (own, there) = (stat(), stat())
    guard descriptor >= 0, fstat(descriptor, &own) == 0 else { return false }
    return stat(givenPath, &there) != 0 || there.st_ino != own.st_ino || there.st_dev != own.st_dev
  }

  /// Whether the folder was deleted.
  package var isRemoved: Bool { isMoved && movedPath == nil }

  /// The folder's present path, or its original path if it was deleted.
  public var path: String { isMoved ? movedPath ?? givenPath : givenPath }

  /// The present path of a moved folder; nil if it was deleted. The kernel then reports the old path followed by
  /// " (deleted)".
  private var movedPath: String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
    guard count > 0 else { return nil }
    let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    var (own, there) = (stat(), stat())
    guard fstat(descriptor, &own) == 0, stat(path, &there) == 0, own.st_ino == there.st_ino,
      own.st_dev == there.st_dev
    else { return nil }
    return path
  }

  public func path(of name: String) -> String { descriptor == AT_FDCWD ? name : "\(path)/\(name)" }

  /// Creates a file. Never follows a symbolic link.
  /// - Returns: its descriptor; negative with `errno` if the name exists.
  package func create(_ name: String) -> Int32 {
    openat(descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
  }

  /// Opens an existing file. Does not follow symbolic links, and does not wait for the writer of a FIFO.
  package func open(_ name: String, _ flags: Int32) -> Int32 {
    openat(descriptor, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
  }

  package func contains(_ name: String) -> Bool { kind(of: name) != nil }

  /// The kind of file that `name` is, such as `S_IFREG`; links are not followed. Nil if there is none.
  package func kind(of name: String) -> mode_t? {
    var information = stat()
    guard fstatat(descriptor, name, &information, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    return information.st_mode & S_IFMT
  }

  /// Whether `name` still is the file that the descriptor `file` refers to, and was not replaced.
  package func has(_ name: String, as file: Int32) -> Bool {
    var (own, there) = (stat(), stat())
    return fstat(file, &own) == 0 && fstatat(descriptor, name, &there, AT_SYMLINK_NOFOLLOW) == 0
      && own.st_ino == there.st_ino && own.st_dev == there.st_dev
  }

  package func remove(_ name: String) { unlinkat(descriptor, name, 0) }

  /// Removes `name` if it still is the file that the descriptor `file` refers to.
  package func remove(_ name: String, as file: Int32) { if has(name, as: file) { remove(name) } }

  /// Renames `name`; replaces an existing file.
  /// - Returns: 0 on success.
  package func rename(_ name: String, to other: String) -> Int32 {
    renameat(descriptor, name, descriptor, other)
  }

  /// Renames `name` unless `other` exists. On file systems without an atomic way (RENAME_NOREPLACE), it uses a hard
  /// link. Without hard links, it creates an empty file to claim the name, and replaces that.
  /// - Returns: 0 on success.
  package func renameWithoutReplacing(_ name: String, _ other: String) -> Int32 {
    if pinna_rename_noreplace(descriptor, name, other) == 0 { return 0 }
    guard errno == EINVAL || errno == ENOSYS else { return -1 }
    if linkat(descriptor, name, descriptor, other, 0) == 0 { return unlinkat(descriptor, name, 0) }
    guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { return -1 }
    let claim = create(other)
    guard claim >= 0 else { return -1 }
    let status = rename(name, to: other)
    let reason = errno
    if status != 0 { remove(other, as: claim) }
    close(claim)
    errno = reason
    return status
  }
}
