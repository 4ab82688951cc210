import CSockets
import Foundation
import Messages

/// The server's side of the NSM protocol: a session manager of one client, on a UDP socket of its own.
public final class NSMPeer {
  private let descriptor: Int32
  public let port: UInt16
  /// The address of the client, from its announcement.
  private var client = sockaddr_in()
  /// Everything that has come from the client so far.
  public private(set) var messages: [OSCMessage] = []

  /// - Parameters:
  ///   - host: the address to listen at; by default all addresses, as session managers do.
  ///   - port: 0 for any free one.
  public init(host: String = "0.0.0.0", port: UInt16 = 0) {
    descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    inet_pton(AF_INET, host, &address.sin_addr)
    address.sin_port = port.bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { [descriptor] in
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(descriptor, $0, length)
        _ = getsockname(descriptor, $0, &length)
      }
    }
    self.port = UInt16(bigEndian: address.sin_port)
  }

  deinit { close(descriptor) }

  /// The value of NSM_URL.
  public func url(host: String = "127.0.0.1") -> String { "osc.udp://\(host):\(port)/" }

  /// The port of the client's socket.
  public var clientPort: UInt16 { UInt16(bigEndian: client.sin_port) }

  /// The next message that `isWanted` accepts, skipping others; nil if none arrives in time.
  public func message(seconds: Double = 10, where isWanted: (OSCMessage) -> Bool = { _ in true })
    -> OSCMessage?
  {
    let end = ContinuousClock.now + .seconds(seconds)
    repeat {
      let left = max(0, (end - .now) / .milliseconds(1))
      var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard Glibc.poll(&poll, 1, Int32(left)) > 0 else { return nil }
      var buffer = [UInt8](repeating: 0, count: 70_000)
      var sender = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let count = withUnsafeMutablePointer(to: &sender) { [descriptor] pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          recvfrom(descriptor, &buffer, buffer.count, 0, $0, &length)
        }
      }
      guard count >= 0, let message = OSCMessage(packet: buffer.prefix(count)) else { continue }
      if message.path == "/nsm/server/announce" { client = sender }
      messages.append(message)
      if isWanted(message) { return message }
    } while .now < end
    return nil
  }

  /// Sends to the client of `other` from now on, as somebody who knows its port can.
  public func imitate(_ other: NSMPeer) { client = other.client }

  public func send(_ packet: [UInt8]) {
    _ = withUnsafePointer(to: client) { [descriptor] in
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, packet, packet.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  public func send(_ path: String, _ arguments: OSCMessage.Argument...) {
    send(OSCMessage(path, arguments).packet)
  }

  // MARK: The protocol

  /// Waits for the announcement, and welcomes the client.
  public func welcome() throws -> OSCMessage {
    guard let announcement = message(seconds: 20, where: { $0.path == "/nsm/server/announce" }) else {
      throw SupportError("nothing was announced")
    }
    send(
      "/reply", .string("/nsm/server/announce"), .string("hello"), .string("test manager"),
      .string(":server_control:"))
    return announcement
  }

  public func sendOpen(_ path: String, id: String) {
    send("/nsm/client/open", .string(path), .string("a session"), .string(id))
  }

  /// The answer to the request at `path`: nil for a reply, otherwise the code and the sentence of the error.
  public func outcome(of path: String, seconds: Double = 120) throws -> (code: Int, sentence: String)? {
    let answer = message(seconds: seconds) {
      ["/reply", "/error"].contains($0.path) && $0.arguments.first == .string(path)
    }
    guard let answer else { throw SupportError("\(path) was not answered; received: \(messages)") }
    if answer.path == "/reply", answer.words.count == 2 { return nil }
    guard answer.words.count == 3, let code = Int(answer.words[1]) else { throw SupportError("\(answer)") }
    return (code, answer.words[2])
  }

  /// Opens a project, and waits for the answer.
  public func open(_ path: String, id: String) throws -> (code: Int, sentence: String)? {
    sendOpen(path, id: id)
    return try outcome(of: "/nsm/client/open")
  }

  /// Has the client save, and waits for the answer.
  public func save() throws -> (code: Int, sentence: String)? {
    send("/nsm/client/save")
    return try outcome(of: "/nsm/client/save")
  }
}
