import CSockets
import Foundation
import Messages
import Settings

/// A UDP socket that sends packets to a running Pinna and hears what comes back.
public class UDPSender {
  private let descriptor: Int32
  /// The other end: Pinna.
  var other = sockaddr_in()
  /// The port that it sends from and hears on.
  public let ownPort: UInt16

  /// - Parameter port: Pinna's, on 127.0.0.1.
  public convenience init(port: UInt16) {
    self.init(host: "127.0.0.1")
    other.sin_family = sa_family_t(AF_INET)
    other.sin_port = port.bigEndian
    inet_pton(AF_INET, "127.0.0.1", &other.sin_addr)
  }

  /// - Parameters:
  ///   - host: the address to listen at.
  ///   - ownPort: 0 for any free one.
  init(host: String, ownPort: UInt16 = 0) {
    descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = ownPort.bigEndian
    inet_pton(AF_INET, host, &address.sin_addr)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    self.ownPort = withUnsafeMutablePointer(to: &address) { [descriptor] in
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length)
        getsockname(descriptor, $0, &length)
      }
      return UInt16(bigEndian: $0.pointee.sin_port)
    }
  }

  deinit { close(descriptor) }

  public func send(_ packet: [UInt8]) {
    _ = withUnsafePointer(to: other) { [descriptor] in
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, packet, packet.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  public func send(_ path: String, _ arguments: OSCMessage.Argument...) {
    send(OSCMessage(path, arguments).packet)
  }

  /// The next packet, and who sent it; nil if none arrives in time.
  func received(seconds: Double) -> (packet: [UInt8], sender: sockaddr_in)? {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&poll, 1, Int32(seconds * 1000)) > 0 else { return nil }
    var buffer = [UInt8](repeating: 0, count: 70_000)
    var sender = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let count = withUnsafeMutablePointer(to: &sender) { [descriptor] in
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        recvfrom(descriptor, &buffer, buffer.count, 0, $0, &length)
      }
    }
    return count >= 0 ? (Array(buffer.prefix(count)), sender) : nil
  }

  /// The next packet; nil if none arrives in time.
  public func packet(seconds: Double) -> [UInt8]? { received(seconds: seconds)?.packet }

  /// The next message; nil if none arrives in time.
  public func message(seconds: Double) -> OSCMessage? {
    packet(seconds: seconds).flatMap { OSCMessage(packet: $0) }
  }

  /// The next message that `isWanted` accepts, skipping others; nil if none arrives in time.
  public func message(seconds: Double, where isWanted: (OSCMessage) -> Bool) -> OSCMessage? {
    let end = ContinuousClock.now + .seconds(seconds)
    while .now < end {
      let left = (end - .now) / .seconds(1)
      if let message = message(seconds: max(0, left)), isWanted(message) { return message }
    }
    return nil
  }

  /// Sends a request with a number of its own.
  /// - Returns: the answer of that number; nil if none arrives in time.
  public func ask(_ path: String, _ arguments: [OSCMessage.Argument] = [], seconds: Double = 5) -> Answer? {
    let number = "#\(UInt32.random(in: 0 ... .max))"
    send(OSCMessage(path, arguments + [.string(number)]).packet)
    guard
      let words = message(seconds: seconds, where: { $0.path == "/pinna/reply" && $0.words.last == number })?
        .words, words.count == 3, let status = Int32(words[0]).flatMap(ExitStatus.init)
    else { return nil }
    return Answer(status, words[1])
  }
}

extension PinnaGraph {
  /// The port that Pinna announced at its start; nil without `--osc-port`.
  public var oscPort: UInt16? {
    program.errorText.firstMatch(of: #/OSC over UDP on 127\.0\.0\.1:(\d+)/#).flatMap { UInt16($0.output.1) }
  }

  /// The token in its file.
  public func oscToken() throws -> String {
    try String(contentsOfFile: home.runtimeFolder + "/pinna/pinna.token", encoding: .utf8)
      .trimmingCharacters(in: .newlines)
  }

  /// A sender to the UDP port.
  /// - Parameter feedback: what it subscribes to; nil for a sender that has not subscribed.
  public func udpSender(feedback: String? = "state") throws -> UDPSender {
    guard let oscPort else { throw SupportError("no port in: \(program.errorText)") }
    let sender = UDPSender(port: oscPort)
    if let feedback {
      let answer = sender.ask("/pinna/subscribe", [.string(try oscToken()), .string(feedback)])
      guard answer?.status == .done else { throw SupportError("no subscription: \(answer as Any)") }
    }
    return sender
  }
}
