import CSockets
import Foundation
import Messages

/// A connection to a running Pinna's control socket: sends arbitrary bytes and receives the answers.
public final class ControlSender {
  public struct Reply: Sendable {
    public let status: Int32
    public let text: String
  }

  private let descriptor: Int32
  private let drains: Bool
  private var buffer = [UInt8](repeating: 0, count: 70_000)

  /// - Parameter drains: whether it discards all answers, while it sends.
  public init(runtimeFolder: String, name: String = "pinna", drains: Bool = false) throws {
    self.drains = drains
    descriptor = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let path = "\(runtimeFolder)/pinna/\(name).sock"
    guard withSocketAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
      throw SupportError("nobody listens at \(path): \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(descriptor) }

  /// Sends a packet; waits up to `seconds` while the receiver reads nothing. Returns false if it was not sent.
  /// - Parameter file: a descriptor to send along.
  @discardableResult
  public func send(_ packet: [UInt8], file: Int32 = -1, seconds: Double = 30) -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while true {
      if drains { drain() }
      if sendNow(packet, file) == packet.count { return true }
      guard errno == EAGAIN, .now < deadline else { return false }
      usleep(500)
    }
  }

  /// Discards the answers that have arrived.
  public func drain() { while nextPacket() != nil {} }

  /// Ends only this direction: the other end reads the end of file after what was sent.
  public func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  private func sendNow(_ packet: [UInt8], _ file: Int32) -> Int {
    let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    guard file >= 0 else { return Glibc.send(descriptor, packet, packet.count, flags) }
    // SCM_RIGHTS with one descriptor: a header of 16 bytes, 4 bytes, and padding.
    var control = [UInt8](repeating: 0, count: 24)
    control.withUnsafeMutableBytes {
      $0.storeBytes(of: 20, toByteOffset: 0, as: Int.self)
      $0.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
      $0.storeBytes(of: 1, toByteOffset: 12, as: Int32.self)
      $0.storeBytes(of: file, toByteOffset: 16, as: Int32.self)
    }
    var packet = packet
    return packet.withUnsafeMutableBytes { bytes in
      control.withUnsafeMutableBytes { control in
        var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
        return withUnsafeMutablePointer(to: &part) { part in
          var message = msghdr()
          message.msg_iov = part
          message.msg_iovlen = 1
          message.msg_control = control.baseAddress
          message.msg_controllen = control.count
          return sendmsg(descriptor, &message, flags)
        }
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
    return nextPacket().flatMap { OSCMessage(packet: $0) }
  }

  private func nextPacket() -> ArraySlice<UInt8>? {
    let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    return count > 0 ? buffer.prefix(count) : nil
  }
}
