import FoundationEssentials
import Glibc
import Messages
import Processor
import Settings
import Text

/// The address of a session manager, from NSM_URL: `osc.udp://HOST:PORT/`.
package struct NSMAddress: Hashable, Sendable, CustomStringConvertible {
  let host: String
  let port: UInt16

  package var description: String { "osc.udp://\(host):\(port)/" }

  /// - Throws: why the URL is not usable.
  package init(url: String) throws(Failure) {
    let scheme = "osc.udp://"
    guard url.lowercased().hasPrefix(scheme) else { throw Self.unusable(url) }
    let rest = url.dropFirst(scheme.count).prefix { $0 != "/" }
    guard let colon = rest.lastIndex(of: ":"), let port = UInt16(rest[rest.index(after: colon)...]), port > 0
    else { throw Self.unusable(url) }
    // An IPv6 address stands in brackets.
    let host = rest[..<colon].trimmed { "[]".unicodeScalars.contains($0) }
    guard !host.isEmpty, host.utf8.count <= 255, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw Self.unusable(url)
    }
    self.host = host
    self.port = port
  }

  private static func unusable(_ url: String) -> Failure {
    Failure(.usage, "NSM_URL is \"\(url.prefix(100))\", and not of the form osc.udp://HOST:PORT/")
  }

  /// Asks the system for the numbers of the address, IPv4 first, because session managers listen there. May wait for
  /// a name server.
  ///
  /// Thread: a job's.
  func resolved() throws(Failure) -> UDPAddress {
    guard
      let address = UDPAddress.resolve(host, port: port, family: AF_INET)
        ?? UDPAddress.resolve(host, port: port, family: AF_INET6)
    else { throw Failure(.failed, "the host \(host) of NSM_URL is unknown") }
    return address
  }
}
