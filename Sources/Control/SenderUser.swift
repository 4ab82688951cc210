import Glibc
import Messages
import Threads

/// The user whose program sent a datagram from this machine, as the kernel tells it.
///
/// A datagram carries no credentials, and trackers send no token; so the owner of the socket with the sender's address is
/// looked for.
///
/// Thread: any.
package enum SenderUser {
  private static let tables = ["/proc/net/udp", "/proc/net/udp6"]

  /// Whether this system tells.
  static var isKnown: Bool { access(tables[0], R_OK) == 0 }

  /// Whether programs of this user, and of no other, have a socket with this address of the loopback interface.
  static func isOurs(_ sender: UDPAddress) -> Bool {
    let owners = tables.flatMap { Self.owners(of: sender, in: SmallFile.text($0) ?? "") }
    return sender.isLoopback && !owners.isEmpty && owners.allSatisfy { $0 == getuid() }
  }

  /// The owners of the sockets that may have sent from an address: those of its port that are bound to it, or to all.
  /// - Parameter table: the text of /proc/net/udp, or of /proc/net/udp6, where programs that use IPv6 sockets for IPv4
  ///   stand.
  package static func owners(of sender: UDPAddress, in table: String) -> [uid_t] {
    let (address, port) = (sender.hexAddress, hex(sender.port, 4))
    return table.split(separator: "\n").compactMap { line in
      // Number, own end, other end, state, queues, timer, retransmissions, user.
      let fields = line.split(separator: " ", maxSplits: 8)
      guard fields.count > 7 else { return nil }
      let own = fields[1].split(separator: ":")
      guard own.count == 2, own[1] == port, own[0].hasSuffix(address) || own[0].allSatisfy({ $0 == "0" })
      else {
        return nil
      }
      return uid_t(fields[7])
    }
  }

  /// As the kernel prints it.
  static func hex(_ number: some FixedWidthInteger, _ digits: Int) -> String {
    let text = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: digits - text.count) + text
  }
}

extension UDPAddress {
  /// The address as the kernel's tables have it: numbers of 32 bits in the byte order of the processor.
  fileprivate var hexAddress: String {
    let address = family == AF_INET6 ? bytes.dropFirst(8).prefix(16) : bytes.dropFirst(4).prefix(4)
    return stride(from: address.startIndex, to: address.endIndex, by: 4).map { start in
      SenderUser.hex(
        address[start..<min(start + 4, address.endIndex)].reversed().reduce(UInt32(0)) {
          $0 << 8 | UInt32($1)
        }, 8)
    }.joined()
  }
}
