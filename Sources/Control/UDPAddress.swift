import CSockets
import Glibc
import Messages
import Processor

/// The address and port of a UDP socket, IPv4 or IPv6.
package struct UDPAddress: Hashable, Sendable, CustomStringConvertible {
  /// A `sockaddr_in` or `sockaddr_in6`.
  let bytes: [UInt8]

  package init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  /// Never waits.
  /// - Parameter host: an address in numbers; nil if it is not one.
  package init?(_ host: String, port: UInt16) {
    self.init(host, port: port, family: AF_UNSPEC, flags: AI_NUMERICHOST)
  }

  /// The address of `host`, an address in numbers or a name; nil if it has none. May wait for a name server.
  /// - Parameter family: IPv4 or IPv6, `AF_INET` or `AF_INET6`.
  static func resolve(_ host: String, port: UInt16, family: Int32) -> UDPAddress? {
    UDPAddress(host, port: port, family: family, flags: 0)
  }

  private init?(_ host: String, port: UInt16, family: Int32, flags: Int32) {
    var hints = addrinfo()
    hints.ai_family = family
    hints.ai_flags = AI_NUMERICSERV | flags
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let found else { return nil }
    defer { freeaddrinfo(found) }
    bytes = Array(UnsafeRawBufferPointer(start: found.pointee.ai_addr, count: Int(found.pointee.ai_addrlen)))
  }

  /// The address that `socket` is bound to.
  package init(of socket: Int32) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    bytes = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(socket, $0, &length) }
      return Array(UnsafeRawBufferPointer(start: pointer, count: Int(length)))
    }
  }

  /// A socket that is bound to this address.
  /// - Throws: the system's reason.
  func boundSocket() throws(SystemReason) -> FileDescriptor {
    let socket = makeSocket()
    guard socket.number >= 0, withSocketAddress({ bind(socket.number, $0, $1) }) == 0 else {
      throw SystemReason(text: String(cString: strerror(errno)))
    }
    return socket
  }

  struct SystemReason: Error { let text: String }

  var family: Int32 {
    bytes.withUnsafeBytes { Int32($0.loadUnaligned(as: sa_family_t.self)) }
  }

  /// The port number. IPv4 and IPv6 keep it at the same place, in network byte order.
  var port: UInt16 { bytes.count < 4 ? 0 : UInt16(bytes[2]) << 8 | UInt16(bytes[3]) }

  /// The same host with another port.
  func with(port: UInt16) -> UDPAddress {
    guard bytes.count >= 4 else { return self }
    return UDPAddress(bytes: bytes[..<2] + [UInt8(port >> 8), UInt8(port & 0xFF)] + bytes[4...])
  }

  /// Whether only this machine can send there.
  package var isLoopback: Bool { host == "::1" || family == AF_INET && host.hasPrefix("127.") }

  /// The address in numbers.
  var host: String { name(NI_NUMERICHOST).host }

  /// The address and the port, as in 127.0.0.1:9000 or [::1]:9000.
  package var description: String {
    let (host, port) = name(NI_NUMERICHOST | NI_NUMERICSERV)
    return family == AF_INET6 ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  private func name(_ flags: Int32) -> (host: String, port: String) {
    var (host, port) = ([CChar](repeating: 0, count: 64), [CChar](repeating: 0, count: 16))
    withSocketAddress { getnameinfo($0, $1, &host, 64, &port, 16, flags | NI_NUMERICSERV) }
    func text(_ buffer: [CChar]) -> String {
      String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return (text(host), text(port))
  }

  /// A socket that sends and receives datagrams without waiting; its number is negative on failure.
  func makeSocket() -> FileDescriptor {
    let type = SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    return FileDescriptor(socket(family, Int32(type), 0))
  }

  /// The next datagram at `socket`; nil with `errno` if there is none.
  static func receive(_ buffer: inout [UInt8], through socket: Int32)
    -> (bytes: ArraySlice<UInt8>, isCut: Bool, sender: UDPAddress)?
  {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let count = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        recvfrom(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT) | Int32(MSG_TRUNC), $0, &length)
      }
    }
    guard count >= 0 else { return nil }
    let sender = withUnsafeBytes(of: storage) { UDPAddress(bytes: $0.prefix(Int(length))) }
    return (buffer.prefix(count), count > buffer.count, sender)
  }

  /// Sends one datagram here, without waiting.
  /// - Returns: false if there is no room for it now.
  func send(_ packet: [UInt8], through socket: Int32) -> Bool {
    let count = withSocketAddress {
      sendto(socket, packet, packet.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), $0, $1)
    }
    return count >= 0 || ![EAGAIN, EWOULDBLOCK, EINTR, ENOBUFS, ENOMEM].contains(errno)
  }

  @discardableResult
  package func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var storage = sockaddr_storage()
    withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes.prefix($0.count)) }
    return withUnsafePointer(to: storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(bytes.count)) }
    }
  }
}
