import CSockets
import Foundation

/// A packet received through a Unix socket.
///
/// Thread: any, except where stated otherwise.
package struct Datagram {
  package let bytes: ArraySlice<UInt8>
  /// Whether it was truncated, because it was longer than any valid message.
  package let isCut: Bool
  /// The sender's user ID; nil if the socket does not request credentials (SO_PASSCRED).
  let user: uid_t?
  package let address: sockaddr_un
  package let addressLength: Int
  /// The file descriptor that came with the packet, closed with the last reference; nil if it carries none.
  let file: FileDescriptor?

  package final class FileDescriptor: Sendable {
    package let number: Int32
    package init(_ number: Int32) { self.number = number }
    deinit { close(number) }
  }

  /// Receives the next packet; nil if none is queued. Never waits.
  package init?(from socket: Int32, buffer: inout [UInt8], wantsFile: Bool) {
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
  package var isOurs: Bool { user == getuid() }
}

/// Calls `body` with the address of the Unix socket at `path`. Any thread.
package func withSocketAddress<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result)
  -> Result
{
  withSocketAddress(bytes: Array(path.utf8.prefix(107)) + [0], body)
}

/// Calls `body` with an address given as bytes; an address that begins with a zero is abstract. Any thread.
package func withSocketAddress<Result>(bytes: [UInt8], _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result)
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
package enum Sent: Sendable {
  case done
  /// The receiver's queue is full, or the system lacks memory: retry later.
  case full
  /// The receiver has gone, or does not accept this sender: `errno` says which.
  case gone
}

/// Sends one packet through a datagram socket. Any thread.
/// - Parameter file: a file descriptor to send along; -1 for none.
package func sendPacket(
  _ packet: [UInt8], through socket: Int32, to address: UnsafePointer<sockaddr>, _ length: socklen_t,
  file: Int32 = -1, flags: Int32 = 0
) -> Sent {
  if pinna_send(socket, packet, packet.count, address, length, file, flags) >= 0 { return .done }
  // ETOOMANYREFS: too many sent file descriptors have not been received yet.
  return [EAGAIN, EWOULDBLOCK, EINTR, ENOBUFS, ENOMEM, ETOOMANYREFS].contains(errno) ? .full : .gone
}

/// An unbound datagram socket; negative on failure. Any thread.
package func makeDatagramSocket() -> Int32 {
  socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
}

/// Whether no process has a socket open at an address. Any thread.
///
/// Tries to connect. Other errors do not count: this process may be out of file descriptors, and EPERM means that the
/// socket is connected to another one.
/// - Parameter withAddress: calls its argument with the address.
package func hasGone(connecting withAddress: ((UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32) -> Bool
{
  let probe = makeDatagramSocket()
  defer { close(probe) }
  let status = withAddress { connect(probe, $0, $1) }
  return status != 0 && [ECONNREFUSED, ENOENT, ENOTDIR, EACCES, ELOOP].contains(errno)
}

/// Makes the kernel attach the sender's credentials to each received packet. Any thread.
package func askForCredentials(_ socket: Int32) {
  var yes: Int32 = 1
  setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &yes, socklen_t(MemoryLayout<Int32>.size))
}
