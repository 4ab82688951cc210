import CSockets
import FoundationEssentials
import Glibc
import Messages
import Processor
import Settings
import Text

/// The UDP socket on which a running Pinna receives OSC requests and sends feedback.
///
/// UDP cannot know its sender. Only packets from an address that has subscribed with the token count; all others are
/// dropped without an answer. A reply is at most one datagram of `longestReply` bytes.
///
/// Thread: control thread. No function waits.
public final class UDPSocket {
  /// In bytes: fits into one frame of any network.
  package static let longestReply = 1400

  private let socket: FileDescriptor
  private var tokenFile: TokenFile
  private let environment: [String: String]
  /// Path of the Unix socket, which long answers are refused in favour of.
  private(set) var unixSocketPath: String
  /// The address and port that it listens on.
  package let address: UDPAddress
  /// Packets dropped because they were malformed, or did not come from a subscriber.
  package private(set) var droppedPackets = 0
  private(set) var subscribers = SubscriberRegister()
  /// Requests of a packet that have not been returned yet.
  private var waiting: [(message: OSCPacket.NumberedMessage, address: UDPAddress)] = []
  private var buffer = [UInt8](repeating: 0, count: OSCShape.longestPacket)
  /// Why the token file, which others removed, cannot be made again; nil while all is well.
  package private(set) var obstacle: Failure?
  /// When to look for the token file.
  private var nextCheck = ContinuousClock.now + .seconds(1)

  var descriptor: Int32 { socket.number }
  /// None while `receive` returns a request without a further packet.
  var patience: Duration? {
    waiting.isEmpty ? subscribers.nextLevels.map { max(.zero, $0 - .now) } : .zero
  }

  /// What to tell the operator at the start: the port and the token.
  public var announcement: String {
    "OSC over UDP on \(address), with the token \(tokenFile.token) (\(tokenFile.path))"
  }

  /// Why the address is dangerous; nil for loopback.
  public var warning: String? {
    address.isLoopback
      ? nil
      : "OSC listens on \(address): everyone who sees its packets on the network learns the token, and can control Pinna; "
        + "leave out --osc-address unless you trust that network"
  }

  /// The sender of a request, to reply to.
  package struct Sender: Sendable, Equatable {
    let address: UDPAddress
    /// Number of the request, which its reply repeats; nil if it has none.
    package let number: String?
    /// Whether the request itself contained the token.
    var hasToken = false
  }

  /// Makes the token file of the Pinna called `name`, whose `ControlSocket` exists.
  /// - Parameters:
  ///   - host: an address in numbers.
  ///   - port: 0 for any free one.
  public init(
    name: String, host: String = "127.0.0.1", port: UInt16,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(Failure) {
    self.environment = environment
    unixSocketPath = try RuntimeFolder.socket(named: name, environment: environment)
    guard let wanted = UDPAddress(host, port: port) else {
      throw Failure(
        .usage,
        "the OSC address \(host.quoted) is not usable; give an IP address in numbers, such as 127.0.0.1")
    }
    do throws(UDPAddress.SystemReason) { socket = try wanted.boundSocket() } catch {
      throw Failure(
        .failed,
        "cannot listen for OSC on \(wanted): \(error.text); choose another port with --osc-port, or 0 for any free one"
      )
    }
    address = UDPAddress(of: socket.number)
    tokenFile = try TokenFile(name: name, environment: environment)
  }

  /// Moves the token file to another name. Subscriptions and the token stay.
  func rename(to name: String) throws(Failure) {
    let path = try RuntimeFolder.socket(named: name, environment: environment)
    tokenFile = try TokenFile(name: name, environment: environment, token: tokenFile.token)
    unixSocketPath = path
  }

  /// Once a second: makes the token file again if it was removed.
  /// - Parameter ownsName: whether no other process has taken the name.
  package func restore(ownsName: @autoclosure () -> Bool, now: ContinuousClock.Instant = .now) {
    guard now >= nextCheck else { return }
    nextCheck = now + .seconds(1)
    guard ownsName() else { return }
    do throws(Failure) {
      try tokenFile.restore()
      obstacle = nil
    } catch { obstacle = error }
  }

  /// Tells subscribers of the state that Pinna has stopped, and removes the token file.
  package func leave(_ reason: String) {
    publish(state: [OSCMessage("/pinna/server", [.string("stopped")])], levels: [])
    tokenFile.remove()
  }

  // MARK: Requests

  /// The next request of a subscriber among the next 16 packets; bounded, so that a flood cannot keep the thread here.
  ///
  /// Replies to a malformed packet of a subscriber with usage information. The requests of a bundle are returned one by
  /// one.
  package func receive(now: ContinuousClock.Instant = .now) -> (message: OSCMessage, sender: Sender)? {
    if let request = nextWaiting(now) { return request }
    for _ in 0..<16 {
      guard let packet = UDPAddress.receive(&buffer, through: descriptor) else { return nil }
      let isSubscriber = subscribers.contains(packet.sender, at: now)
      guard isSubscriber || Self.mayBeSubscription(packet.bytes) else {
        droppedPackets += 1
        continue
      }
      do throws(Failure) {
        waiting = try OSCPacket.messages(in: packet.bytes, isCut: packet.isCut).map { ($0, packet.sender) }
        if let request = nextWaiting(now) { return request }
      } catch {
        droppedPackets += 1
        if isSubscriber { send(Answer(error).message, to: Sender(address: packet.sender, number: nil)) }
      }
    }
    return nil
  }

  /// The next request that counts. A request with the wrong token never does.
  private func nextWaiting(_ now: ContinuousClock.Instant) -> (message: OSCMessage, sender: Sender)? {
    while !waiting.isEmpty {
      let ((message, number), address) = waiting.removeFirst()
      if message.path == OSCMethod.subscribe {
        if let token = message.words.first, tokenFile.matches(token) {
          return (message, Sender(address: address, number: number, hasToken: true))
        }
      } else if subscribers.contains(address, at: now) {
        return (message, Sender(address: address, number: number))
      }
      droppedPackets += 1
    }
    return nil
  }

  /// Whether the packet of a stranger is worth parsing.
  private static func mayBeSubscription(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.count <= 1024 && bytes.starts(with: OSCMethod.subscribe.utf8)
  }

  // MARK: Subscriptions

  /// - Parameter port: the port of the sender's host that feedback goes to; nil for the one that it sends from.
  package func subscribe(_ sender: Sender, to feedback: Feedback, levelsPerSecond: Int, port: UInt16? = nil)
    throws(Failure)
  {
    if let port, sender.address.with(port: port) == address {
      throw Failure(
        .usage, "port \(port) is the one on which Pinna listens; give the one on which you listen")
    }
    try subscribers.subscribe(
      sender.address, to: feedback, levelsPerSecond: levelsPerSecond, port: port, now: .now)
  }

  package func unsubscribe(_ sender: Sender) { subscribers.unsubscribe(sender.address) }

  /// Whether the sender's subscription is alive.
  func isThere(_ sender: Sender) -> Bool { subscribers.contains(sender.address, at: .now) }

  /// Sends subscribers what has changed.
  /// - Parameters:
  ///   - state: the whole state, one message per path.
  ///   - levels: and what else is sent as often; empty if there are none.
  package func publish(
    state: @autoclosure () -> [OSCMessage], levels: @autoclosure () -> [OSCMessage],
    now: ContinuousClock.Instant = .now
  ) {
    subscribers.removeExpired(now)
    if subscribers.wantsState { subscribers.publish(state: state(), send: post) }
    if let due = subscribers.nextLevels, due <= now {
      subscribers.publish(levels: levels(), now: now, send: post)
    }
  }

  // MARK: Answers

  /// Sends a reply, unless the sender's subscription has ended meanwhile: to the sender, and where its feedback goes. A
  /// reply that does not fit into one datagram is replaced by a sentence.
  package func send(_ message: OSCMessage, to sender: Sender) {
    guard sender.hasToken || isThere(sender) else { return }
    var numbered = message.numbered(sender.number)
    let count = numbered.packet.count
    if count > Self.longestReply {
      let status = Answer(message)?.status ?? .failed
      let refusal = Answer(
        status == .done ? .failed : status,
        "the answer has \(count) bytes, and over UDP at most \(Self.longestReply) are sent; ask at the Unix socket "
          + "\(unixSocketPath), or use the command line")
      numbered = refusal.message.numbered(sender.number)
    }
    for address in Set([sender.address, subscribers.destination(of: sender.address) ?? sender.address]) {
      _ = post(numbered, to: address)
    }
  }

  /// Sends one datagram.
  /// - Returns: false if there is no room for it now.
  private func post(_ message: OSCMessage, to address: UDPAddress) -> Bool {
    let packet = message.packet
    guard packet.count <= Self.longestReply else { return true }
    return address.send(packet, through: descriptor)
  }
}
