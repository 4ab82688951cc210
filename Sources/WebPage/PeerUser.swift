import CMicrohttpd
import Glibc
import Threads

/// The user at the other end of a connection within this machine, as the kernel tells it.
///
/// A connection carries no credentials. Tokens alone do not keep other users out: a browser is started with the page's
/// address on its command line, and sends cookies to every port of a host.
///
/// Thread: any.
package enum PeerUser {
  private static let tables = ["/proc/net/tcp", "/proc/net/tcp6"]

  /// Whether this system tells.
  static var isKnown: Bool { access(tables[0], R_OK) == 0 }

  /// Whether a program of this user made the connection from `peer` to `port` of 127.0.0.1, and still holds it.
  package static func isOurs(_ peer: UnsafePointer<sockaddr>, to port: UInt16) -> Bool {
    let address = peer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee }
    guard address.sin_family == sa_family_t(AF_INET) else { return false }
    return user(from: address.sin_addr.s_addr, UInt16(bigEndian: address.sin_port), to: port) == getuid()
  }

  /// Asks the kernel for one connection, or looks for it in the tables, which takes it some 20 ms.
  package static func user(from address: in_addr_t, _ peer: UInt16, to port: UInt16) -> uid_t? {
    let known = pinna_tcp_user(address, peer.bigEndian, INADDR_LOOPBACK.bigEndian, port.bigEndian)
    if known >= 0 { return uid_t(known) }
    return tables.lazy.compactMap { user(from: address, peer, to: port, in: SmallFile.text($0) ?? "") }.first
  }

  /// - Parameters:
  ///   - address, peer: of the other end; the address in network order.
  ///   - table: the text of /proc/net/tcp, or of /proc/net/tcp6, where programs that use IPv6 sockets for IPv4 stand.
  /// - Returns: the owner of the other end; nil if it is not there, or its program has closed it: the kernel calls root
  ///   the owner of such a socket.
  package static func user(from address: in_addr_t, _ peer: UInt16, to port: UInt16, in table: String)
    -> uid_t?
  {
    let loopback = INADDR_LOOPBACK.bigEndian
    let (own, other) = (
      Array("\(hex(address, 8)):\(hex(peer, 4))".utf8), Array("\(hex(loopback, 8)):\(hex(port, 4))".utf8)
    )
    for line in table.utf8.split(separator: UInt8(ascii: "\n")) {
      // Number, own end, other end, state (01 is ESTABLISHED), queues, timer, retransmissions, user.
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 8)
      guard fields.count > 7, fields[1].suffix(own.count).elementsEqual(own),
        fields[2].suffix(other.count).elementsEqual(other), fields[3].elementsEqual("01".utf8)
      else { continue }
      return uid_t(String(decoding: fields[7], as: UTF8.self))
    }
    return nil
  }

  /// As the kernel prints it: an address is one number in the byte order of the processor.
  private static func hex(_ number: some FixedWidthInteger, _ digits: Int) -> String {
    let text = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: digits - text.count) + text
  }
}
