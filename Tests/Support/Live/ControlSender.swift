import CSockets
import Messages
import Foundation

/// A datagram socket connected to a running Pinna's control socket: sends arbitrary bytes and receives the
/// answers.
public final class ControlSender {
  public struct Reply: Sendable {
    public let status: Int32
    public let text: String
  }

  private let descriptor: Int32
  private var address = sockaddr_un()
  private let clientPath: String?
  private let removesFile: Bool

  /// - Parameters:
  ///   - answerable: false for a sender without an address, which cannot be answered.
  ///   - abstractName: an address in the abstract namespace, which anybody may take over.
  ///   - clientName: the name of its socket among the clients'; random by default.
  ///   - folder: the folder of its socket; the clients' folder by default.
  ///   - tidies: whether it removes its socket's file at its end, unlike a program that is killed.
  public init(
    runtimeFolder: String, name: String = "pinna", answerable: Bool = true, abstractName: String? = nil,
    clientName: String? = nil, folder: String? = nil, tidies: Bool = true
  ) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let own = clientName ?? "test-\(UInt32.random(in: 0 ... .max))"
    clientPath =
      answerable && abstractName == nil
      ? "\(folder ?? runtimeFolder + "/pinna/clients")/\(own)" : nil
    removesFile = tidies
    if let own = clientPath ?? abstractName.map({ "\u{0}" + $0 }) {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: own.utf8) }
      let bound = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sa_family_t>.size + own.utf8.count))
        }
      }
      guard bound == 0 else { throw SupportError("cannot bind \(own): \(String(cString: strerror(errno)))") }
    }
    address.sun_family = sa_family_t(AF_UNIX)
    let path = "\(runtimeFolder)/pinna/\(name).sock"
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    guard access(path, W_OK) == 0 else { throw SupportError("nobody listens at \(path)") }
  }

  deinit {
    close(descriptor)
    if removesFile, let clientPath { unlink(clientPath) }
  }

  /// Waits while the receiver's queue is full. Returns false if the receiver does not accept the packet.
  /// - Parameter file: a descriptor to send along.
  @discardableResult
  public func send(_ packet: [UInt8], file: Int32 = -1) -> Bool {
    withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        return pinna_send(descriptor, packet, packet.count, $0, size, file, 0) == packet.count
      }
    }
  }

  @discardableResult
  public func send(_ method: String, _ words: String...) -> Bool {
    send(OSCMessage(method, words.map { .string($0) }).packet)
  }

  /// Opens a session that ends with this sender. Returns its token, or nil if it was refused.
  /// - Parameter claims: whether the session claims the route.
  public func openSession(_ name: String, claims: Bool) -> String? {
    send("/pinna/session/open", name)
    let words = reply(seconds: 5)?.text.split(separator: "\"")
    guard let token = words?.last(where: { $0.hasPrefix("session-") }).map(String.init) else { return nil }
    guard claims else { return token }
    send("/pinna/session/claim", token, "on")
    return reply(seconds: 5)?.status == 0 ? token : nil
  }

  /// The next answer, skipping a session's events; nil if none arrives in time.
  public func reply(seconds: Double) -> Reply? {
    var next = message(seconds: seconds)
    while next?.path == "/pinna/event" { next = message(seconds: seconds) }
    guard let message = next, message.arguments.count >= 2,
      case .integer(let status) = message.arguments[0], case .string(let text) = message.arguments[1]
    else { return nil }
    return Reply(status: status, text: text)
  }

  /// The next packet; nil if none arrives in time.
  public func message(seconds: Double) -> OSCMessage? {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&poll, 1, Int32(seconds * 1000)) > 0 else { return nil }
    var buffer = [UInt8](repeating: 0, count: 70_000)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return count > 0 ? OSCMessage(packet: buffer.prefix(count)) : nil
  }
}
