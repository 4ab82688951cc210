import CSockets
import Foundation

/// A packet received through a Unix socket.
///
/// Thread: any, except where stated otherwise.
struct Datagram {
  let bytes: ArraySlice<UInt8>
  /// Whether it was truncated, because it was longer than any valid message.
  let isCut: Bool
  /// The sender's user ID; nil if the socket does not request credentials (SO_PASSCRED).
  let user: uid_t?
  fileprivate let address: sockaddr_un
  fileprivate let addressLength: Int
  /// The file descriptor that came with the packet, closed with the last reference; nil if it carries none.
  let file: FileDescriptor?

  final class FileDescriptor: Sendable {
    let number: Int32
    init(_ number: Int32) { self.number = number }
    deinit { close(number) }
  }

  /// Receives the next packet; nil if none is queued. Never waits.
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

  /// Whether a process of this user sent it. Root's packets are not accepted: root can act as this user.
  var isOurs: Bool { user == getuid() }

  /// The address of the sender's socket; nil if the disk that holds the socket does not answer.
  ///
  /// Thread: control thread.
  func origin(through senderSockets: SenderSocketAccess) -> Origin? {
    guard addressLength > 0 else { return .nowhere }
    let bytes = withUnsafeBytes(of: address.sun_path) { Array($0.prefix(addressLength)) }
    guard let first = bytes.first, first != 0 else { return .abstract(bytes) }
    let path = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    guard case .done(let socket) = senderSockets.perform(at: path, { HeldSocket(path: path) }) else {
      return nil
    }
    return socket.map(Origin.held) ?? .nowhere
  }

  enum Origin: Sendable, Equatable {
    /// Unbound, or bound to a path that belongs to another user: no reply is possible.
    case nowhere
    /// An abstract address, which any user may bind once its owner has gone.
    case abstract([UInt8])
    case held(HeldSocket)
  }
}

/// A sender's socket, identified by its inode rather than its path. Another socket that is bound to the same path later
/// never receives the replies.
///
/// Thread: any; immutable.
final class HeldSocket: Sendable, Equatable {
  let path: String
  /// An `O_PATH` descriptor of the socket's file; nil if this process has no file descriptors left. Then the path is
  /// used instead; in a folder of this user, only this user's programs can bind it.
  private let file: Datagram.FileDescriptor?
  private let inode: [UInt64]

  var isHeld: Bool { file != nil }

  /// Nil if there is no socket of this user at `path`. May hang with the disk that holds it.
  init?(path: String) {
    // A relative path is relative to the sender's working folder, which is unknown here.
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

  /// Calls `body` with an address that resolves to this socket only.
  func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withSocketAddress(file.map { "/proc/self/fd/\($0.number)" } ?? path, body)
  }
}

/// Calls `body` with the address of the Unix socket at `path`. Any thread.
func withSocketAddress<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result)
  -> Result
{
  withSocketAddress(bytes: Array(path.utf8.prefix(107)) + [0], body)
}

/// Calls `body` with an address given as bytes; an address that begins with a zero is abstract. Any thread.
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

/// The result of sending a packet.
enum Sent: Sendable {
  case done
  /// The receiver's queue is full, or the system lacks memory: retry later.
  case full
  /// The receiver has gone, or does not accept this sender: `errno` says which.
  case gone
}

/// Sends one packet through a datagram socket. Any thread.
/// - Parameter file: a file descriptor to send along; -1 for none.
func sendPacket(
  _ packet: [UInt8], through socket: Int32, to address: UnsafePointer<sockaddr>, _ length: socklen_t,
  file: Int32 = -1, flags: Int32 = 0
) -> Sent {
  if pinna_send(socket, packet, packet.count, address, length, file, flags) >= 0 { return .done }
  // ETOOMANYREFS: too many sent file descriptors have not been received yet.
  return [EAGAIN, EWOULDBLOCK, EINTR, ENOBUFS, ENOMEM, ETOOMANYREFS].contains(errno) ? .full : .gone
}

/// An unbound datagram socket; negative on failure. Any thread.
func makeDatagramSocket() -> Int32 {
  socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
}

/// Whether no process has a socket open at an address. Any thread.
///
/// Tries to connect. Other errors do not count: this process may be out of file descriptors, and EPERM means that the
/// socket is connected to another one.
/// - Parameter withAddress: calls its argument with the address.
func hasGone(connecting withAddress: ((UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32) -> Bool {
  let probe = makeDatagramSocket()
  defer { close(probe) }
  let status = withAddress { connect(probe, $0, $1) }
  return status != 0 && [ECONNREFUSED, ENOENT, ENOTDIR, EACCES, ELOOP].contains(errno)
}
