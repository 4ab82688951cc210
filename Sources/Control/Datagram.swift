import CSockets
import Foundation

/// A packet that has come through a Unix socket, as the kernel handed it over.
struct Datagram {
  let bytes: ArraySlice<UInt8>
  /// Cut off, since it was longer than any message may be.
  let isCut: Bool
  /// Nil where the socket was not told (SO_PASSCRED).
  let user: uid_t?
  fileprivate let address: sockaddr_un
  fileprivate let addressLength: Int
  /// Closed with the last reference; nil where the packet carries none.
  let file: FileDescriptor?

  final class FileDescriptor: Sendable {
    let number: Int32
    init(_ number: Int32) { self.number = number }
    deinit { close(number) }
  }

  /// The next packet, or nil; never waits.
  ///
  /// Any thread.
  init?(from socket: Int32, buffer: inout [UInt8], wantsFile: Bool) {
    let it = pinna_receive(socket, &buffer, buffer.count, wantsFile ? 1 : 0)
    guard it.length >= 0 else { return nil }
    bytes = buffer.prefix(it.length)
    isCut = it.length > buffer.count
    user = it.has_user != 0 ? it.user : nil
    address = it.address
    addressLength = Int(it.address_length) - MemoryLayout<sa_family_t>.size
    file = it.file >= 0 ? FileDescriptor(it.file) : nil
  }

  /// Whether a process of this user sent it. Root's do not count, which has other ways.
  var isOurs: Bool { user == getuid() }

  /// Where its sender is bound; nil where the disk that holds its socket does not answer.
  func origin(through reach: SenderReach) -> Origin? {
    guard addressLength > 0 else { return .nowhere }
    let bytes = withUnsafeBytes(of: address.sun_path) { Array($0.prefix(addressLength)) }
    guard let first = bytes.first, first != 0 else { return .anybodys(bytes) }
    let path = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    guard case .done(let socket) = reach.reach(path, { HeldSocket(path: path) }) else { return nil }
    return socket.map(Origin.held) ?? .nowhere
  }

  enum Origin: Sendable, Equatable {
    /// Unbound, or at a path that is not the sender's own: it cannot be answered.
    case nowhere
    /// An abstract address, which anybody may bind as soon as its owner has gone.
    case anybodys([UInt8])
    case held(HeldSocket)
  }
}

/// The socket of somebody who asked, at a path. It stays that socket: whatever is put at the path later is another one,
/// and is never sent what was meant for this.
final class HeldSocket: Sendable, Equatable {
  let path: String
  /// Of the socket's file, not opened; nil where this process has no descriptors left. Then the path must do, which only
  /// this user's programs can bind where it lies in a folder of theirs.
  private let file: Datagram.FileDescriptor?
  private let inode: [UInt64]

  var isHeld: Bool { file != nil }

  /// Nil where the path leads to no socket of this user.
  init?(path: String) {
    // Relative to the sender's working folder, which we do not know.
    guard path.hasPrefix("/") else { return nil }
    let held = pinna_hold(path)
    var information = stat()
    if held >= 0 {
      file = Datagram.FileDescriptor(held)
      guard fstat(held, &information) == 0 else { return nil }
    } else {
      guard errno == EMFILE || errno == ENFILE, lstat(path, &information) == 0 else { return nil }
      file = nil
    }
    guard information.st_mode & S_IFMT == S_IFSOCK, information.st_uid == getuid() else { return nil }
    self.path = path
    inode = [UInt64(information.st_dev), UInt64(information.st_ino)]
  }

  static func == (a: HeldSocket, b: HeldSocket) -> Bool { a.inode == b.inode }

  /// Calls `body` with an address that leads there and nowhere else.
  func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withSocketAddress(file.map { "/proc/self/fd/\($0.number)" } ?? path, body)
  }
}

/// Calls `body` with the address of the Unix socket at `path`.
func withSocketAddress<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result)
  -> Result
{
  withSocketAddress(bytes: Array(path.utf8.prefix(107)) + [0], body)
}

/// The same for an address byte by byte; one that begins with a zero is abstract.
func withSocketAddress<Result>(bytes: [UInt8], _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result)
  -> Result
{
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes.prefix($0.count)) }
  return withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      body($0, socklen_t(MemoryLayout<sa_family_t>.size + min(bytes.count, 108)))
    }
  }
}

/// What became of a packet that was sent.
enum Sent: Sendable {
  case done
  /// The receiver's queue is full, or the system has no memory for the packet just now: worth another try.
  case full
  /// The receiver is not there, or not reached in this way: `errno` says why.
  case gone
}

/// Sends one packet through a datagram socket, with a file where `file` is not -1.
func sendPacket(
  _ packet: [UInt8], through socket: Int32, to address: UnsafePointer<sockaddr>, _ length: socklen_t,
  file: Int32 = -1, flags: Int32 = 0
) -> Sent {
  if pinna_send(socket, packet, packet.count, address, length, file, flags) >= 0 { return .done }
  // ETOOMANYREFS: too many files are on their way to receivers that have not read them.
  return [EAGAIN, EWOULDBLOCK, EINTR, ENOBUFS, ENOMEM, ETOOMANYREFS].contains(errno) ? .full : .gone
}

/// A datagram socket, not bound.
func makeDatagramSocket() -> Int32 {
  socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
}

/// Whether a socket at an address that `connect` was just tried with has gone. What else may fail, such as a process out
/// of descriptors, says nothing of it; EPERM is a socket that is connected to another one.
func hasGone(connecting withAddress: ((UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32) -> Bool {
  let probe = makeDatagramSocket()
  defer { close(probe) }
  let status = withAddress { connect(probe, $0, $1) }
  return status != 0 && [ECONNREFUSED, ENOENT, ENOTDIR, EACCES, ELOOP].contains(errno)
}
