import Glibc
import Synchronization

/// The files that this process has read. A verb never writes what it reads, whatever names the file has.
///
/// Thread: any.
public enum ReadFiles {
  private struct Key: Hashable {
    let device: UInt
    let inode: UInt

    init(_ status: stat) { (device, inode) = (UInt(status.st_dev), UInt(status.st_ino)) }
  }

  /// Nil until somebody asks: in a process that lasts, a number may become that of another file.
  private static let keys = Mutex<Set<Key>?>(nil)

  /// Remembers files from now on. For a program that runs one verb.
  public static func remember() { keys.withLock { $0 = $0 ?? [] } }

  package static func add(_ descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    keys.withLock { _ = $0?.insert(Key(status)) }
  }

  static func contains(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return keys.withLock { $0?.contains(Key(status)) ?? false }
  }
}
