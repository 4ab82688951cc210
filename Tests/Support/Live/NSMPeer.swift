import CSockets
import Foundation
import Messages

/// The server's side of the NSM protocol: a session manager of one client, on a UDP socket of its own.
public final class NSMPeer: UDPSender {
  public var port: UInt16 { ownPort }
  /// Everything that has come from the client so far.
  public private(set) var messages: [OSCMessage] = []

  /// - Parameters:
  ///   - host: the address to listen at; by default all addresses, as session managers do.
  ///   - port: 0 for any free one.
  public init(host: String = "0.0.0.0", port: UInt16 = 0) { super.init(host: host, ownPort: port) }

  /// The value of NSM_URL.
  public func url(host: String = "127.0.0.1") -> String { "osc.udp://\(host):\(port)/" }

  /// The port of the client's socket, from its announcement.
  public var clientPort: UInt16 { UInt16(bigEndian: other.sin_port) }

  /// The next message; nil if none arrives in time.
  public override func message(seconds: Double) -> OSCMessage? {
    guard let (packet, sender) = received(seconds: seconds), let message = OSCMessage(packet: packet) else {
      return nil
    }
    if message.path == "/nsm/server/announce" { other = sender }
    messages.append(message)
    return message
  }

  /// The next message that `isWanted` accepts, skipping others; nil if none arrives in time.
  public func message(where isWanted: (OSCMessage) -> Bool = { _ in true }) -> OSCMessage? {
    message(seconds: 10, where: isWanted)
  }

  /// Sends to the client of `other` from now on, as somebody who knows its port can.
  public func imitate(_ other: NSMPeer) { self.other = other.other }

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
