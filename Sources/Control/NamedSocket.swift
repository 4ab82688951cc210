import FoundationEssentials
import Glibc
import Messages
import Processor
import Settings

/// The name of a running Pinna: the socket `NAME.sock` in the runtime folder, and the lock file beside it. The process
/// that holds the lock owns the name; the kernel releases the lock when that process dies.
///
/// Other programs may remove these files at any time. The owner then keeps the name and makes them again. Inodes
/// identify its files: an inode that is held open is never reused.
///
/// Thread: control thread.
final class NamedSocket {
  let path: String
  private(set) var listener: FileDescriptor
  private var lock: FileDescriptor
  let name: String
  private let environment: [String: String]
  /// Inode of the socket file; nil after `leave`.
  private var inode: Inode?
  private var nextCheck = ContinuousClock.now + .seconds(1)
  /// Why removed files could not be made again at the last attempt.
  private(set) var obstacle: Failure?

  init(
    name: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(Failure) {
    path = try RuntimeFolder.socket(named: name, environment: environment)
    try RuntimeFolder.prepare(environment: environment)
    lock = try Self.takeLock(path + ".lock", name)
    listener = try Self.listen(path, name)
    inode = Inode(path: path)
    self.name = name
    self.environment = environment
  }

  deinit { leave() }

  /// Removes the socket file, unless another process has replaced it.
  func leave() {
    if let inode, inode == Inode(path: path) { unlink(path) }
    inode = nil
  }

  /// Refuses all connections that have not been accepted.
  func stopListening() { listener = FileDescriptor(-1) }

  /// Whether no other process has taken the name.
  var ownsName: Bool { Inode(descriptor: lock.number) == Inode(path: path + ".lock") }

  /// Once a second: makes removed files again, unless another process owns the name now.
  func restore(now: ContinuousClock.Instant = .now) {
    guard now >= nextCheck, let inode else { return }
    nextCheck = now + .seconds(1)
    let hasLock = ownsName
    let hasSocket = inode == Inode(path: path)
    guard !hasLock || !hasSocket else {
      obstacle = nil
      return
    }
    // A failure is retried in the next second.
    do throws(Failure) {
      try RuntimeFolder.prepare(environment: environment)
      if !hasLock { lock = try Self.takeLock(path + ".lock", name) }
      if !hasSocket {
        listener = try Self.listen(path, name)
        self.inode = Inode(path: path)
      }
      obstacle = nil
    } catch { obstacle = error }
  }

  private static func takeLock(_ path: String, _ name: String) throws(Failure) -> FileDescriptor {
    for _ in 0..<10 {
      let lock = FileDescriptor(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600))
      guard lock.number >= 0 else {
        throw Failure(.failed, "cannot open \(path): \(String(cString: strerror(errno)))")
      }
      fchmod(lock.number, 0o600)
      guard flock(lock.number, LOCK_EX | LOCK_NB) == 0 else { throw nameTaken(name) }
      // A lock on a file that was removed after `open` would exclude nobody.
      if Inode(descriptor: lock.number) == Inode(path: path) { return lock }
    }
    throw Failure(
      .failed, "cannot lock \(path): another program removes it repeatedly; find and stop that program")
  }

  private static func listen(_ path: String, _ name: String) throws(Failure) -> FileDescriptor {
    // The owner of the socket may have lost its lock file.
    guard !isListening(at: path) else { throw nameTaken(name) }
    let listener = PacketSocket.make()
    // Also an empty folder.
    remove(path)
    // Until `chmod` only the folder's mode keeps other users out: a library must not change the process's umask.
    guard listener.number >= 0, withSocketAddress(path, { bind(listener.number, $0, $1) }) == 0,
      chmod(path, 0o600) == 0, Glibc.listen(listener.number, Int32(ControlSocket.limit)) == 0
    else {
      let reason = String(cString: strerror(errno))
      guard !RuntimeFolder.isBlocked(path) else { throw RuntimeFolder.blocked(path) }
      throw Failure(.failed, "cannot make the control socket \(path): \(reason)")
    }
    return listener
  }

  private static func nameTaken(_ name: String) -> Failure {
    Failure(
      .failed,
      "a Pinna named \"\(name)\" is running already; choose another name with --name, or stop that one")
  }
}
