import Foundation

/// The place of a running Pinna in the runtime folder: the socket at `NAME.sock`, and the lock file beside it, whose
/// holder owns the name. The kernel lets go of a lock when its holder dies, however that happens.
///
/// Files there may be removed at any time, by whoever tidies up. Then whoever was there first keeps the name for as long as
/// it is reached, and makes again what is missing. Whose a file is, its inode says: held open, it is never used again.
///
/// Threads: the control thread.
final class SocketPlace {
  let path: String
  private(set) var socket: Datagram.FileDescriptor
  private var lock: Datagram.FileDescriptor
  private let name: String
  private let environment: [String: String]
  /// Of the socket's file; nil once it has been left.
  private var inode: Inode?
  private var nextLook = ContinuousClock.now + .seconds(1)

  private struct Inode: Equatable {
    let device: dev_t
    let number: ino_t

    /// Of what is at `path`; nil where nothing is.
    init?(path: String) {
      var file = stat()
      guard lstat(path, &file) == 0 else { return nil }
      (device, number) = (file.st_dev, file.st_ino)
    }

    init?(descriptor: Int32) {
      var file = stat()
      guard fstat(descriptor, &file) == 0 else { return nil }
      (device, number) = (file.st_dev, file.st_ino)
    }
  }

  init(name: String, environment: [String: String]) throws(Failure) {
    path = try RuntimeFolder.socket(named: name, environment: environment)
    try RuntimeFolder.prepare(environment: environment)
    lock = try Self.takeLock(path + ".lock", name)
    socket = try Self.bindSocket(path, name)
    inode = Inode(path: path)
    self.name = name
    self.environment = environment
  }

  deinit { leave() }

  /// From now on nobody finds us. Another's socket that has taken the place is left alone.
  func leave() {
    if let inode, inode == Inode(path: path) { unlink(path) }
    inode = nil
  }

  /// Once a second: makes again what was removed, unless another has the name now.
  func restore(now: ContinuousClock.Instant = .now) {
    guard now >= nextLook, let inode else { return }
    nextLook = now + .seconds(1)
    let hasLock = Inode(descriptor: lock.number) == Inode(path: path + ".lock")
    let hasSocket = inode == Inode(path: path)
    if hasLock, hasSocket { return }
    // What fails is tried again.
    guard (try? RuntimeFolder.prepare(environment: environment)) != nil else { return }
    if !hasLock {
      guard let lock = try? Self.takeLock(path + ".lock", name) else { return }
      self.lock = lock
    }
    if !hasSocket, let socket = try? Self.bindSocket(path, name) {
      self.socket = socket
      self.inode = Inode(path: path)
    }
  }

  /// Whether nobody holds the name whose socket is at `path`.
  static func isFree(_ path: String) -> Bool {
    let lock = Datagram.FileDescriptor(open(path + ".lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW))
    guard lock.number >= 0 else { return errno == ENOENT }
    return flock(lock.number, LOCK_SH | LOCK_NB) == 0
  }

  private static func takeLock(_ path: String, _ name: String) throws(Failure) -> Datagram.FileDescriptor {
    for _ in 0..<10 {
      let lock = Datagram.FileDescriptor(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600))
      guard lock.number >= 0 else {
        throw Failure(.failed, "cannot open \(path): \(String(cString: strerror(errno)))")
      }
      fchmod(lock.number, 0o600)
      guard flock(lock.number, LOCK_EX | LOCK_NB) == 0 else { throw isTaken(name) }
      // Removed since it was opened, it would keep nobody out.
      if Inode(descriptor: lock.number) == Inode(path: path) { return lock }
    }
    throw Failure(.failed, "\(path) is removed again and again")
  }

  private static func bindSocket(_ path: String, _ name: String) throws(Failure) -> Datagram.FileDescriptor {
    let socket = Datagram.FileDescriptor(makeDatagramSocket())
    guard socket.number >= 0 else {
      throw Failure(.failed, "cannot make the control socket \(path): \(String(cString: strerror(errno)))")
    }
    // Somebody listens there whose lock file was removed.
    guard hasGone(connecting: { withSocketAddress(path, $0) }) else { throw isTaken(name) }
    unlink(path)
    askForCredentials(socket.number)
    guard withSocketAddress(path, { bind(socket.number, $0, $1) }) == 0 else {
      throw Failure(.failed, "cannot make the control socket \(path): \(String(cString: strerror(errno)))")
    }
    // Until here the folder alone keeps others out: the umask is the process's, and not ours to change.
    chmod(path, 0o600)
    return socket
  }

  private static func isTaken(_ name: String) -> Failure {
    Failure(
      .failed,
      "a Pinna named \"\(name)\" is running already; choose another name with --name, or stop that one")
  }
}
