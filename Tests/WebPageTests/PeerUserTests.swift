import CMicrohttpd
import Glibc
import Testing
import Threads
import WebPage

@Suite("Users at the other end of a connection") struct PeerUserTests {
  /// As proc(5) describes it: a listener on 8080, user 1001's connection from port 50000, our end of it, user 1002's from
  /// 50001 over an IPv6 socket, and one from 50002 that its program has closed.
  static let table = """
      sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
       0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 559 1 0 100 0 0 10 0
       1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 560 1 0 20 4 30 10 -1
       2: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 561 1 0 20 4 30 10 -1
       3: 0000000000000000FFFF00000100007F:C351 0000000000000000FFFF00000100007F:1F90 01 00000000:00000000 00:00000000 00000000  1002        0 562 1 0 20 4 30 10 -1
       4: 0100007F:C352 0100007F:1F90 05 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4 30 10 -1
    """

  @Test("R24: the kernel's table names the user of the other end, whatever the kind of its socket")
  func table() {
    func user(_ peer: UInt16, _ port: UInt16 = 8080) -> uid_t? {
      PeerUser.user(from: INADDR_LOOPBACK.bigEndian, peer, to: port, in: Self.table)
    }
    #expect(user(50_000) == 1001)
    #expect(user(50_001) == 1002)
    #expect(user(50_002) == nil && user(50_003) == nil && user(50_000, 8081) == nil)
    #expect(PeerUser.user(from: INADDR_LOOPBACK.bigEndian, 50_000, to: 8080, in: "") == nil)
    // From another address of the loopback interface.
    #expect(PeerUser.user(from: in_addr_t(0x7F00_0002).bigEndian, 50_000, to: 8080, in: Self.table) == nil)
  }

  @Test(
    "R24: the kernel names this user for a real connection of either kind, in both ways, until its program closes it: then it is not ours"
  )
  func connections() throws {
    for family in [AF_INET, AF_INET6] {
      let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
      let (listener, client) = (socket(AF_INET, type, 0), socket(family, type, 0))
      defer { close(listener) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      func withAddress(_ body: (UnsafeMutablePointer<sockaddr>) -> Int32) -> Int32 {
        withUnsafeMutablePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
      }
      try #require(withAddress { bind(listener, $0, length) } == 0 && listen(listener, 1) == 0)
      try #require(withAddress { getsockname(listener, $0, &length) } == 0)
      let port = UInt16(bigEndian: address.sin_port)
      if family == AF_INET {
        try #require(withAddress { connect(client, $0, length) } == 0)
      } else {
        // ::ffff:127.0.0.1
        var mapped = sockaddr_in6()
        mapped.sin6_family = sa_family_t(AF_INET6)
        mapped.sin6_port = port.bigEndian
        withUnsafeMutableBytes(of: &mapped.sin6_addr) {
          $0.copyBytes(from: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1])
        }
        let isConnected = withUnsafePointer(to: &mapped) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(client, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
          }
        }
        try #require(isConnected)
      }
      let accepted = withAddress { accept(listener, $0, &length) }
      defer { close(accepted) }
      let (from, peer) = (address.sin_addr.s_addr, UInt16(bigEndian: address.sin_port))
      func users() -> [uid_t?] {
        let texts = ["/proc/net/tcp", "/proc/net/tcp6"].map { SmallFile.text($0) ?? "" }
        return [
          uid_t(exactly: pinna_tcp_user(from, peer.bigEndian, INADDR_LOOPBACK.bigEndian, port.bigEndian)),
          texts.lazy.compactMap { PeerUser.user(from: from, peer, to: port, in: $0) }.first,
          PeerUser.user(from: from, peer, to: port),
        ]
      }
      func isOurs() -> Bool { withAddress { PeerUser.isOurs($0, to: port) ? 1 : 0 } == 1 }
      #expect(users() == [getuid(), getuid(), getuid()] && isOurs(), "\(family)")
      // Our end stays.
      close(client)
      #expect(users() == [nil, nil, nil] && !isOurs(), "\(family)")
    }
  }
}
