import CSockets
import Glibc

/// One end of a connection between a running Pinna and a program of its user (SOCK_SEQPACKET). Packets arrive whole and
/// in order. No function waits.
///
/// Thread: any.
package final class PacketSocket: Sendable {
  private let file: FileDescriptor
  package var descriptor: Int32 { file.number }

  private init(_ file: FileDescriptor) { self.file = file }

  /// An unconnected socket; its number is negative on failure.
  package static func make() -> FileDescriptor {
    let type = SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    return FileDescriptor(socket(AF_UNIX, Int32(type), 0))
  }

  /// Connects to the socket at `path`.
  /// - Returns: no socket but `errno` on failure. EAGAIN: the listener's queue is full now.
  static func connect(to path: String) -> (socket: PacketSocket?, error: Int32) {
    let file = make()
    guard withSocketAddress(path, { Glibc.connect(file.number, $0, $1) }) == 0 else { return (nil, errno) }
    return (PacketSocket(file), 0)
  }

  /// The next connection in a listener's queue.
  /// - Returns: no socket but `errno` on failure. EAGAIN: the queue is empty.
  package static func accept(at listener: FileDescriptor) -> (socket: PacketSocket?, error: Int32) {
    let number = pinna_accept(listener.number)
    return number < 0 ? (nil, errno) : (PacketSocket(FileDescriptor(number)), 0)
  }

  /// Whether this user made the other end. Root's ends do not count: root can act as this user.
  package var isOurs: Bool { pinna_peer_user(descriptor) == Int64(getuid()) }

  /// Whether the other end is open.
  package var isOpen: Bool {
    var state = [pollfd(fd: descriptor, events: Int16(PINNA_POLLRDHUP), revents: 0)]
    return pinna_poll(&state, 1, 0) == 0
  }

  /// Ends the connection. A thread that waits for a packet learns it at once.
  func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  package enum Sent {
    case done
    /// The other end has not read enough yet, or the system lacks memory: try again later.
    case full
    case ended
  }

  package func send(_ packet: [UInt8]) -> Sent {
    if Glibc.send(descriptor, packet, packet.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) >= 0 {
      return .done
    }
    return [EAGAIN, EWOULDBLOCK, EINTR, ENOBUFS, ENOMEM].contains(errno) ? .full : .ended
  }

  package enum Received {
    /// - Parameter isCut: whether the packet was longer than the buffer.
    case packet(ArraySlice<UInt8>, isCut: Bool)
    case nothing
    case ended
  }

  /// The next packet. Files that were sent with it are closed.
  package func receive(_ buffer: inout [UInt8]) -> Received {
    var count = -1
    // An end with unread packets is reported before the last packets that it sent.
    repeat {
      count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT) | Int32(MSG_TRUNC))
    } while count < 0 && [ECONNRESET, EINTR].contains(errno)
    if count < 0 { return [EAGAIN, EWOULDBLOCK, ENOBUFS, ENOMEM].contains(errno) ? .nothing : .ended }
    // An empty packet looks like the end.
    if count == 0, !isOpen { return .ended }
    return .packet(buffer.prefix(count), isCut: count > buffer.count)
  }
}

/// Calls `body` with the address of the Unix socket at `path`, of which 107 bytes count.
package func withSocketAddress<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result)
  -> Result
{
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
  return withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
}

/// Whether a process listens at the socket at `path`. Errors that say nothing of the other end, such as missing file
/// descriptors, count as yes.
package func isListening(at path: String) -> Bool {
  ![ECONNREFUSED, ENOENT, ENOTDIR, EACCES, ELOOP].contains(PacketSocket.connect(to: path).error)
}
