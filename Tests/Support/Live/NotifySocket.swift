import CSockets
import Foundation

/// The service manager's end of sd_notify(3): a socket for datagrams.
public final class NotifySocket {
  /// The value of NOTIFY_SOCKET.
  public let name: String
  private let descriptor: Int32
  private var received: [String] = []

  /// - Parameter name: a path, or an abstract name after "@".
  public init(_ name: String) throws {
    self.name = name
    descriptor = socket(
      AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    let status = Self.withAddress(name) { [descriptor] in bind(descriptor, $0, $1) }
    guard status == 0 else { throw SupportError("\(name): \(String(cString: strerror(errno)))") }
  }

  deinit {
    close(descriptor)
    if name.hasPrefix("/") { unlink(name) }
  }

  private static func withAddress<Result>(
    _ name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(name.utf8)
    if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 } else { bytes.append(0) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(2 + bytes.count)) }
    }
  }

  /// All datagrams so far, but those that filled the queue.
  public var datagrams: [String] {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count >= 0 else { return received }
      let text = String(decoding: buffer[..<count], as: UTF8.self)
      if text != "full" { received.append(text) }
    }
  }

  /// Fills the queue, so that the next sender must wait.
  public func fill() throws {
    let sender = socket(
      AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    defer { close(sender) }
    while Self.withAddress(name, { sendto(sender, "full", 4, 0, $0, $1) }) == 4 {}
    guard errno == EAGAIN else {
      throw SupportError("the queue is not full: \(String(cString: strerror(errno)))")
    }
  }
}
