import CSockets
import Foundation

/// The datagram socket on which a running Pinna is told what to do.
///
/// Our own rather than liblo's: 0600 in a 0700 folder, a stale one is reclaimed, and one that is removed is made again
/// (`SocketPlace`).
///
/// Only this user's processes are heard: the kernel says with each packet whose it is (SCM_CREDENTIALS). Only a socket
/// that this user has bound to a path is answered, and it stays the one that is answered whatever is put at its path later.
///
/// Threads: the control thread, for everything. Nothing here waits for a sender, nor longer than `DiskThread.patience` for
/// the disk that its socket is on.
public final class ControlSocket {
  private let place: SocketPlace
  private var descriptor: Int32 { place.socket.number }
  /// Packets that were no plain OSC message, or another user's, or from an address that anybody may take over, or from a
  /// socket on a disk that did not answer.
  public private(set) var droppedPackets = 0
  private var unsent = UnsentAnswers()
  private var broom: ClientBroom
  private let reach: SenderReach
  private var buffer = [UInt8](repeating: 0, count: OSCShape.longestPacket + 4)

  /// Somebody who sent a request, to answer to.
  public struct Sender: Sendable, Equatable {
    let origin: Datagram.Origin
    /// Of the request; what is said because of it ends with this.
    let number: String?

    /// Whether it is an address that stays its own, however long it is kept.
    var isHeld: Bool { if case .held(let socket) = origin { socket.isHeld } else { false } }
  }

  public init(
    name: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(Failure) {
    place = try SocketPlace(name: name, environment: environment)
    let clients = RuntimeFolder.clients(environment: environment)
    broom = ClientBroom(folder: clients)
    reach = SenderReach(clients: clients)
  }

  // MARK: Requests

  /// The next request, waiting for one up to `milliseconds`, or until `wake` is readable. What is not one plain OSC
  /// message is counted, answered with how to ask, and returned without a message. Another user's packets are dropped
  /// and counted.
  public func receive(milliseconds: Int32, or wake: Int32 = -1) -> (message: OSCMessage?, sender: Sender)? {
    retry()
    place.restore()
    broom.sweep()
    let patience = unsent.isEmpty ? milliseconds : min(milliseconds, 10)
    guard pinna_wait(descriptor, wake, patience) & 1 != 0 else { return nil }
    return next()
  }

  /// The next request of ours among the next few packets.
  private func next() -> (message: OSCMessage?, sender: Sender)? {
    for _ in 0..<16 {
      guard let packet = Datagram(from: descriptor, buffer: &buffer, wantsFile: false) else { return nil }
      guard packet.isOurs, let origin = packet.origin(through: reach) else {
        droppedPackets += 1
        continue
      }
      let read = packet.isCut ? nil : OSCMessage(packet: packet.bytes)?.split
      let sender = Sender(origin: origin, number: read?.number)
      let complaint: String? =
        if case .anybodys = sender.origin {
          "bind your socket to a path, such as one in \(broom.folder): anybody may take over an abstract address, "
            + "and would hear what you are told"
        } else if read == nil {
          "that is not one OSC message of strings, integers, floats, T, F, N and I in at most "
            + "\(OSCShape.longestPacket) bytes; the methods are listed by: pinna help --markdown methods"
        } else {
          nil
        }
      guard let complaint else { return (read?.message, sender) }
      droppedPackets += 1
      send(Answer(.usage, complaint).message, to: sender)
      return (nil, sender)
    }
    return nil
  }

  /// Whether a sender's socket is still there; false where it never had an address.
  public func isThere(_ sender: Sender) -> Bool {
    if case .held = sender.origin { !hasGone(sender) } else { false }
  }

  /// Whether a sender had an address, at which nobody listens any more; a disk that does not answer says nothing of it.
  public func hasGone(_ sender: Sender) -> Bool {
    guard case .held(let socket) = sender.origin else { return false }
    let outcome = reach.reach(socket.path) { Control.hasGone { address in socket.withAddress(address) } }
    guard case .done(let hasGone) = outcome else { return false }
    return hasGone
  }

  /// From now on nobody finds us; whoever had already asked is answered.
  public func leave(_ answer: OSCMessage) {
    place.leave()
    // Bounded: somebody who is connected may go on asking.
    for _ in 0..<256 {
      guard let (message, sender) = next() else { break }
      if message != nil { send(answer, to: sender) }
    }
    retry()
  }

  // MARK: Answers

  /// Answers a sender that may have gone, and never waits for it.
  ///
  /// An answer leaves through a socket of its own: what a sender leaves unread counts against the socket that
  /// sent it, and would in the end keep everyone else's answers back. Only a sender that connected its socket to
  /// ours hears nobody else, and is answered from ours.
  ///
  /// A sender whose queue is full (ten packets, as Linux comes), or for whose answer the system has no memory just now,
  /// is tried again for a second, whenever requests are looked for; what is for the same sender waits behind it, so that
  /// answers come in their order.
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
          .failed, "there is no room for an answer of \(packet.count) bytes; free memory or descriptors")
        parcel.packet = refusal.message.numbered(sender.number).packet
        parcel.size = parcel.packet.count
      }
    }
    if unsent.holdsSome(for: sender.origin) || !sendNow(parcel) { unsent.add(parcel) }
  }

  /// Tells a sender that gave its request a number how far that is. It is dropped where the sender's queue is full:
  /// the next one says more.
  /// - Parameters:
  ///   - text: what is being done.
  ///   - part: of the whole, from 0 to 1.
  public func sendProgress(_ text: String, part: Double, to sender: Sender) {
    guard sender.number != nil, sender.origin != .nowhere, !unsent.holdsSome(for: sender.origin) else {
      return
    }
    let packet = RequestProgress(text: text, part: part).message.numbered(sender.number).packet
    _ = sendNow(Parcel(packet: packet, file: nil, size: packet.count, origin: sender.origin))
  }

  /// Tries again what found a queue full.
  private func retry() {
    if !unsent.isEmpty { unsent.retry(now: .now) { sendNow($0) } }
  }

  /// False where it is worth another try.
  private func sendNow(_ parcel: Parcel) -> Bool {
    guard case .held(let socket) = parcel.origin else {
      return Self.send(parcel, instead: place.socket) != .full
    }
    let ours = place.socket
    return switch reach.reach(socket.path, { Self.send(parcel, instead: ours) }) {
    case .done(let sent): sent != .full
    // The thread still tries.
    case .late: true
    case .busy: false
    }
  }

  /// Any thread.
  /// - Parameter ours: the control socket, for a sender that hears no other.
  private static func send(_ parcel: Parcel, instead ours: Datagram.FileDescriptor) -> Sent {
    let single = makeDatagramSocket()
    defer { if single >= 0 { close(single) } }
    // Out of descriptors, ours must do.
    let sent = send(parcel, through: single >= 0 ? single : ours.number)
    return sent == .gone && errno == EPERM ? send(parcel, through: ours.number) : sent
  }

  private static func send(_ parcel: Parcel, through socket: Int32) -> Sent {
    func send(_ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Sent {
      sendPacket(
        parcel.packet, through: socket, to: address, length, file: parcel.file?.number ?? -1,
        flags: Int32(MSG_DONTWAIT))
    }
    switch parcel.origin {
    case .nowhere: return .done
    case .anybodys(let bytes): return withSocketAddress(bytes: bytes, send)
    case .held(let socket): return socket.withAddress(send)
    }
  }
}

/// Has the kernel say with each packet that comes whose it is.
func askForCredentials(_ socket: Int32) {
  var yes: Int32 = 1
  setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &yes, socklen_t(MemoryLayout<Int32>.size))
}

/// A packet that waits until its receiver has room.
struct Parcel: Sendable {
  var packet: [UInt8]
  /// Of a large answer.
  let file: Datagram.FileDescriptor?
  /// What it takes in memory, in bytes.
  var size: Int
  var origin: Datagram.Origin
}

/// Answers that found their sender's queue full: so many, of so many bytes, and so many for each sender. What is beyond
/// is dropped: whoever leaves that many unread has stopped listening.
struct UnsentAnswers {
  static let limit = 256
  static let limitEach = 64
  static let limitBytes = 32 << 20

  private var parcels: [(parcel: Parcel, deadline: ContinuousClock.Instant)] = []

  var isEmpty: Bool { parcels.isEmpty }
  var count: Int { parcels.count }

  func holdsSome(for origin: Datagram.Origin) -> Bool { parcels.contains { $0.parcel.origin == origin } }

  mutating func add(_ parcel: Parcel, now: ContinuousClock.Instant = .now) {
    let bytes = parcels.reduce(parcel.size) { $0 + $1.parcel.size }
    let own = parcels.count { $0.parcel.origin == parcel.origin }
    guard parcels.count < Self.limit, own < Self.limitEach, bytes <= Self.limitBytes else { return }
    var parcel = parcel
    // One descriptor holds on to the sender, however many answers wait for it.
    if let known = parcels.first(where: { $0.parcel.origin == parcel.origin }) {
      parcel.origin = known.parcel.origin
    }
    parcels.append((parcel, now + .seconds(1)))
  }

  /// - Parameter send: false where it is worth another try.
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
