import CSockets
import Foundation
import Messages
import Processor

/// The datagram socket on which a running Pinna receives OSC requests.
///
/// Not liblo's server: this socket has mode 0600 in a folder of mode 0700, replaces a stale socket, and is made again
/// if it is removed (`NamedSocket`).
///
/// It accepts packets from this user's processes only; the kernel attaches the sender's user ID (SCM_CREDENTIALS). It
/// replies only to sockets that this user has bound to a path, and never to another socket bound to the same path
/// later.
///
/// Thread: control thread. No function waits for a sender, or longer than `DiskThread.patience` for the disk that holds
/// a sender's socket.
public final class ControlSocket {
  private let namedSocket: NamedSocket
  private var descriptor: Int32 { namedSocket.socket.number }
  /// Name of this Pinna.
  var name: String { namedSocket.name }
  /// Packets dropped because they were malformed, came from another user or an abstract address, or from a socket on a
  /// disk that did not answer.
  public private(set) var droppedPackets = 0
  private var unsent = UnsentAnswers()
  private var cleaner: ClientSocketCleaner
  private let senderSockets: SenderSocketAccess
  private var buffer = [UInt8](repeating: 0, count: OSCShape.longestPacket + 4)
  /// Requests of a bundle that have not been returned yet.
  private var waiting: [(message: OSCMessage, sender: Sender)] = []

  /// The sender of a request, to reply to.
  public struct Sender: Sendable, Equatable {
    let origin: Datagram.Origin
    /// Number of the request, which its replies repeat; nil if it has none.
    let number: String?

    /// Whether this process holds the sender's socket open, so that its address cannot be taken over.
    var isHeld: Bool { if case .held(let socket) = origin { socket.isHeld } else { false } }
  }

  public init(
    name: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(Failure) {
    namedSocket = try NamedSocket(name: name, environment: environment)
    let clients = RuntimeFolder.clients(environment: environment)
    cleaner = ClientSocketCleaner(folder: clients)
    senderSockets = SenderSocketAccess(clients: clients)
  }

  // MARK: Requests

  /// Waits up to `milliseconds`, or until another descriptor is readable, and returns the next request.
  ///
  /// Replies to a malformed packet with usage information and returns its sender without a message. Drops packets of
  /// other users. The requests of a bundle are returned one by one.
  public func receive(milliseconds: Int32, or others: [Int32] = []) -> (message: OSCMessage?, sender: Sender)?
  {
    retryUnsent()
    namedSocket.restore()
    cleaner.sweep()
    guard waiting.isEmpty else { return waiting.removeFirst() }
    let patience = unsent.isEmpty ? milliseconds : min(milliseconds, 10)
    let descriptors = [descriptor] + others
    guard pinna_wait(descriptors, Int32(descriptors.count), patience) & 1 != 0 else { return nil }
    return next()
  }

  /// The next request of this user among the next 16 packets; bounded, so that other users cannot keep the thread here.
  private func next() -> (message: OSCMessage?, sender: Sender)? {
    guard waiting.isEmpty else { return waiting.removeFirst() }
    for _ in 0..<16 {
      guard let packet = Datagram(from: descriptor, buffer: &buffer, wantsFile: false) else { return nil }
      guard packet.isOurs, let origin = packet.origin(through: senderSockets) else {
        droppedPackets += 1
        continue
      }
      let read = Result { () throws(Failure) in
        try OSCPacket.messages(in: packet.bytes, isCut: packet.isCut)
      }
      let messages = (try? read.get()) ?? []
      let sender = Sender(origin: origin, number: messages.first?.number)
      let complaint: String? =
        if case .abstract = origin {
          "bind your socket to a path, such as one in \(cleaner.folder): any program may take over an abstract address, "
            + "and would receive your replies"
        } else if case .failure(let failure) = read {
          failure.description
        } else {
          nil
        }
      guard let complaint else {
        waiting = messages.map { ($0.message, Sender(origin: origin, number: $0.number)) }
        return waiting.removeFirst()
      }
      droppedPackets += 1
      send(Answer(.usage, complaint).message, to: sender)
      return (nil, sender)
    }
    return nil
  }

  /// Whether a sender's socket still exists; false if it never had an address.
  public func isThere(_ sender: Sender) -> Bool {
    if case .held = sender.origin { !hasGone(sender) } else { false }
  }

  /// Whether a sender had an address and its socket is closed. False if the disk that holds the socket does not answer.
  public func hasGone(_ sender: Sender) -> Bool {
    guard case .held(let socket) = sender.origin else { return false }
    let outcome = senderSockets.perform(at: socket.path) {
      Messages.hasGone { address in socket.withAddress(address) }
    }
    guard case .done(let hasGone) = outcome else { return false }
    return hasGone
  }

  /// As `leave`; also frees the name at once, not only at the end of the process.
  func release(_ answer: OSCMessage) {
    leave(answer)
    namedSocket.release()
  }

  /// Removes the socket file and replies to all queued requests with `answer`.
  public func leave(_ answer: OSCMessage) {
    namedSocket.leave()
    // Bounded: a connected client may keep sending.
    for _ in 0..<256 {
      guard let (message, sender) = next() else { break }
      if message != nil { send(answer, to: sender) }
    }
    retryUnsent()
  }

  // MARK: Answers

  /// Sends a reply without waiting for the receiver, which may have gone.
  ///
  /// Each reply is sent from a temporary socket: unread packets count against the socket that sent them, and would
  /// block replies to everyone else. A sender that has connected its socket to the control socket receives from that
  /// one only, so it is answered from there.
  ///
  /// If the receiver's queue is full (ten packets by default on Linux) or the system lacks memory, `receive` retries
  /// for one second. Further replies to the same receiver queue behind it, so that they arrive in order.
  public func send(_ message: OSCMessage, to sender: Sender) {
    guard sender.origin != .nowhere else { return }
    let packet = message.numbered(sender.number).packet
    var parcel = Parcel(packet: packet, file: nil, size: packet.count, origin: sender.origin)
    if packet.count > OSCShape.longestPacket {
      if let large = LargeAnswer(packet: packet, number: sender.number) {
        parcel = Parcel(
          packet: large.envelope.packet, file: large.file, size: large.size, origin: sender.origin)
      } else {
        let refusal = Answer(
          .failed,
          "cannot send an answer of \(packet.count) bytes: out of memory or file descriptors; free some and try again"
        )
        parcel.packet = refusal.message.numbered(sender.number).packet
        parcel.size = parcel.packet.count
      }
    }
    if unsent.hasAnswers(for: sender.origin) || !sendNow(parcel) { unsent.add(parcel) }
  }

  /// Sends progress for a request that has a number. Dropped if the receiver's queue is full, because the next report
  /// supersedes it.
  /// - Parameters:
  ///   - text: what is being done.
  ///   - part: completed fraction, from 0 to 1.
  public func sendProgress(_ text: String, part: Double, to sender: Sender) {
    guard sender.number != nil, sender.origin != .nowhere, !unsent.hasAnswers(for: sender.origin) else {
      return
    }
    let packet = RequestProgress(text: text, part: part).message.numbered(sender.number).packet
    _ = sendNow(Parcel(packet: packet, file: nil, size: packet.count, origin: sender.origin))
  }

  /// Retries replies that found a queue full.
  private func retryUnsent() {
    if !unsent.isEmpty { unsent.retry(now: .now) { sendNow($0) } }
  }

  /// - Returns: false if the reply should be retried.
  private func sendNow(_ parcel: Parcel) -> Bool {
    guard case .held(let socket) = parcel.origin else {
      return Self.send(parcel, instead: namedSocket.socket) != .full
    }
    let control = namedSocket.socket
    return switch senderSockets.perform(at: socket.path, { Self.send(parcel, instead: control) }) {
    case .done(let sent): sent != .full
    // The disk thread is still sending it.
    case .late: true
    case .busy: false
    }
  }

  /// Sends from a temporary socket, or from `control` if the receiver accepts no other.
  ///
  /// Thread: control thread or disk thread.
  private static func send(_ parcel: Parcel, instead control: Datagram.FileDescriptor) -> Sent {
    let temporary = makeDatagramSocket()
    defer { if temporary >= 0 { close(temporary) } }
    // Out of file descriptors: fall back to the control socket.
    let sent = send(parcel, through: temporary >= 0 ? temporary : control.number)
    return sent == .gone && errno == EPERM ? send(parcel, through: control.number) : sent
  }

  /// Thread: control thread or disk thread.
  private static func send(_ parcel: Parcel, through socket: Int32) -> Sent {
    func send(_ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Sent {
      sendPacket(
        parcel.packet, through: socket, to: address, length, file: parcel.file?.number ?? -1,
        flags: Int32(MSG_DONTWAIT))
    }
    switch parcel.origin {
    case .nowhere: return .done
    case .abstract(let bytes): return withSocketAddress(bytes: bytes, send)
    case .held(let socket): return socket.withAddress(send)
    }
  }
}

/// A packet to send, with its receiver.
struct Parcel: Sendable {
  var packet: [UInt8]
  /// The memory file of a large answer.
  let file: Datagram.FileDescriptor?
  /// Memory use, in bytes.
  var size: Int
  var origin: Datagram.Origin
}

/// Replies that found the receiver's queue full. The store is bounded in number, in bytes and per receiver; excess
/// replies are dropped, because a receiver that leaves so many unread has stopped listening.
///
/// Thread: control thread.
struct UnsentAnswers {
  static let limit = 256
  static let limitEach = 64
  static let limitBytes = 32 << 20

  private var parcels: [(parcel: Parcel, deadline: ContinuousClock.Instant)] = []

  var isEmpty: Bool { parcels.isEmpty }
  var count: Int { parcels.count }

  func hasAnswers(for origin: Datagram.Origin) -> Bool { parcels.contains { $0.parcel.origin == origin } }

  mutating func add(_ parcel: Parcel, now: ContinuousClock.Instant = .now) {
    let bytes = parcels.reduce(parcel.size) { $0 + $1.parcel.size }
    let own = parcels.count { $0.parcel.origin == parcel.origin }
    guard parcels.count < Self.limit, own < Self.limitEach, bytes <= Self.limitBytes else { return }
    var parcel = parcel
    // All replies to one receiver share one file descriptor.
    if let known = parcels.first(where: { $0.parcel.origin == parcel.origin }) {
      parcel.origin = known.parcel.origin
    }
    parcels.append((parcel, now + .seconds(1)))
  }

  /// - Parameter send: returns false if the reply should be retried later.
  mutating func retry(now: ContinuousClock.Instant, send: (Parcel) -> Bool) {
    var full: [Datagram.Origin] = []
    parcels.removeAll { parcel, deadline in
      if now > deadline { return true }
      if full.contains(parcel.origin) { return false }
      if send(parcel) { return true }
      full.append(parcel.origin)
      return false
    }
  }
}
