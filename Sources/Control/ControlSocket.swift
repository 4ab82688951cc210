import CSockets
import FoundationEssentials
import Glibc
import Messages
import Processor
import Settings

/// The Unix socket at which a running Pinna accepts the connections of programs, receives their OSC requests and
/// answers them.
///
/// Not liblo's server: this socket has mode 0600 in a folder of mode 0700, replaces a stale socket, and is made again
/// if it is removed (`NamedSocket`). It accepts connections of this user's processes only; the kernel says who
/// connects.
///
/// Connections are served in turn, one request each, those of a bundle too. A program that leaves answers unread is not
/// served until it has read them, so that it delays no other. It is disconnected if it reads nothing for `patience`.
///
/// Thread: control thread. No function waits for a program.
public final class ControlSocket {
  /// Further connections wait in the kernel until one ends.
  static let limit = 256
  /// How long a connection may leave answers unread.
  static let patience = Duration.seconds(5)
  /// How long a connection may be unused while others wait for its place. A program sends its request as soon as it is
  /// connected.
  static let unusedPatience = Duration.seconds(1)
  /// The most bytes of unread answers.
  static let unreadLimit = 32 << 20

  private var namedSocket: NamedSocket
  /// Name of this Pinna.
  var name: String { namedSocket.name }
  /// Whether no other process has taken the name.
  var ownsName: Bool { namedSocket.ownsName }
  /// Why the socket's files, which others removed, cannot be made again; nil while all is well.
  package var obstacle: Failure? { namedSocket.obstacle }
  /// Packets dropped because they were malformed, and connections of other users.
  public private(set) var droppedPackets = 0
  /// The connection that was served longest ago comes first.
  private var connections: [Connection] = []
  private var lastNumber = 0
  /// Closed to accept a connection when this process has no other descriptor left.
  private var spare: FileDescriptor?
  /// When to accept connections again after a failure.
  private var nextAccept = ContinuousClock.now
  private var buffer = [UInt8](repeating: 0, count: OSCShape.longestPacket)

  /// The sender of a request, to reply to.
  public struct Sender: Sendable, Equatable {
    /// Number of its connection, which is never used again.
    let connection: Int
    /// Number of the request, which its replies repeat; nil if it has none.
    let number: String?

    package init(connection: Int, number: String?) { (self.connection, self.number) = (connection, number) }
  }

  private final class Connection {
    let number: Int
    let socket: PacketSocket
    /// Requests of a bundle that have not been returned yet.
    var waiting: [(message: OSCMessage, number: String?)] = []
    /// Packets that the program has not made room for.
    var unsent: [[UInt8]] = []
    /// When it was last read from or sent to.
    var lastProgress = ContinuousClock.now
    /// Number of its requests that have not been answered.
    var unanswered = 0
    var hasSession = false

    init(_ number: Int, _ socket: PacketSocket) { (self.number, self.socket) = (number, socket) }
  }

  public init(
    name: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(Failure) {
    namedSocket = try NamedSocket(name: name, environment: environment)
  }

  // MARK: Requests

  /// Waits up to `milliseconds`, or until another descriptor is readable, and returns the next request.
  ///
  /// Replies to a malformed packet with usage information and returns its sender without a message. The requests of a
  /// bundle are returned one by one.
  public func receive(milliseconds: Int32, or others: [Int32] = []) -> (message: OSCMessage?, sender: Sender)?
  {
    namedSocket.restore()
    if spare == nil { spare = FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)) }
    sendUnsent()
    // What these wait for wakes nobody.
    let isBusy = .now < nextAccept || connections.contains { !$0.unsent.isEmpty }
    return next(milliseconds: isBusy ? min(milliseconds, 10) : milliseconds, or: others)
  }

  /// The next request of the connections that are ready; bounded, so that malformed packets cannot keep the thread
  /// here.
  private func next(milliseconds: Int32, or others: [Int32] = []) -> (message: OSCMessage?, sender: Sender)? {
    let listened = connections.filter(\.unsent.isEmpty)
    let isReady = listened.contains { !$0.waiting.isEmpty }
    let listener = .now < nextAccept ? -1 : namedSocket.listener.number
    var state = ([listener] + listened.map(\.socket.descriptor) + others).map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    guard pinna_poll(&state, Int32(state.count), isReady ? 0 : milliseconds) > 0 || isReady else {
      return nil
    }
    var ready = zip(listened, state.dropFirst()).filter { !$0.waiting.isEmpty || $1.revents != 0 }.map {
      $0.0
    }
    if state[0].revents != 0 { ready += accept() }
    for connection in ready.prefix(16) {
      if !connection.waiting.isEmpty { return nextWaiting(connection) }
      switch connection.socket.receive(&buffer) {
      case .nothing: continue
      case .ended: close(connection)
      case .packet(let bytes, let isCut): return read(bytes, isCut, connection)
      }
    }
    return nil
  }

  /// The next request of the packet that was read last.
  private func nextWaiting(_ connection: Connection) -> (message: OSCMessage?, sender: Sender) {
    moveToEnd(connection)
    let (message, number) = connection.waiting.removeFirst()
    return (message, Sender(connection: connection.number, number: number))
  }

  /// All others are served before it.
  private func moveToEnd(_ connection: Connection) {
    guard let place = connections.firstIndex(where: { $0 === connection }) else { return }
    connections.append(connections.remove(at: place))
  }

  private func read(_ bytes: ArraySlice<UInt8>, _ isCut: Bool, _ connection: Connection)
    -> (message: OSCMessage?, sender: Sender)
  {
    connection.lastProgress = .now
    do throws(Failure) {
      connection.waiting = try OSCPacket.messages(in: bytes, isCut: isCut)
      connection.unanswered += connection.waiting.count
      return nextWaiting(connection)
    } catch {
      moveToEnd(connection)
      droppedPackets += 1
      connection.unanswered += 1
      let sender = Sender(connection: connection.number, number: nil)
      send(Answer(error).message, to: sender)
      return (nil, sender)
    }
  }

  // MARK: Connections

  /// Whether the sender keeps its connection open.
  public func isThere(_ sender: Sender) -> Bool { connection(of: sender) != nil }

  /// Keeps the sender's connection open while it is unused, because a session's events are sent there.
  func noteSession(of sender: Sender) { connection(of: sender)?.hasSession = true }

  private func connection(of sender: Sender) -> Connection? {
    connections.first { $0.number == sender.connection }
  }

  private func close(_ connection: Connection) { connections.removeAll { $0 === connection } }

  /// Accepts waiting connections.
  private func accept() -> [Connection] {
    var accepted: [Connection] = []
    while accepted.count < 16 {
      guard makeRoom() else {
        nextAccept = .now + .milliseconds(50)
        break
      }
      var (socket, error) = PacketSocket.accept(at: namedSocket.listener)
      if [EMFILE, ENFILE].contains(error), spare != nil {
        spare = nil
        (socket, error) = PacketSocket.accept(at: namedSocket.listener)
      }
      guard let socket else {
        if error != EAGAIN { nextAccept = .now + .milliseconds(50) }
        break
      }
      guard socket.isOurs else {
        droppedPackets += 1
        continue
      }
      lastNumber += 1
      accepted.append(Connection(lastNumber, socket))
      connections.append(accepted.last!)
    }
    return accepted
  }

  /// Whether one more connection may be accepted. At the limit, closes one that nobody uses.
  private func makeRoom() -> Bool {
    if connections.count < Self.limit { return true }
    let unusedSince = ContinuousClock.now - Self.unusedPatience
    guard
      let unused = connections.first(where: {
        $0.unanswered == 0 && !$0.hasSession && $0.lastProgress < unusedSince
      })
    else { return false }
    close(unused)
    return true
  }

  // MARK: End

  /// Removes the socket file, replies to all queued requests with `answer`, and ends all connections.
  public func leave(_ answer: OSCMessage) {
    namedSocket.leave()
    answerQueued(answer)
    namedSocket.stopListening()
    connections = []
  }

  /// Continues with another name. Replies to all queued requests with `answer`, and keeps the connections.
  func rename(to other: NamedSocket, _ answer: OSCMessage) {
    namedSocket.leave()
    answerQueued(answer)
    namedSocket = other
  }

  private func answerQueued(_ answer: OSCMessage) {
    // Bounded: a program may keep sending.
    for _ in 0..<Self.limit {
      if let (message, sender) = next(milliseconds: 0), message != nil { send(answer, to: sender) }
    }
    sendUnsent()
  }

  // MARK: Answers

  /// Sends a reply, without waiting for its receiver. Sends nothing to a program that has ended its connection.
  public func send(_ message: OSCMessage, to sender: Sender) {
    guard let connection = connection(of: sender) else { return }
    let answer = Answer(message)
    if answer != nil { connection.unanswered -= 1 }
    if connection.unsent.isEmpty { connection.lastProgress = .now }
    connection.unsent += (answer?.messages ?? [message]).map { $0.numbered(sender.number).packet }
    sendUnsent(connection)
    let unread = connections.reduce(0) { $0 + $1.unsent.reduce(0) { $0 + $1.count } }
    if unread > Self.unreadLimit { close(connection) }
  }

  /// Sends progress for a request that has a number. Dropped if earlier packets wait, because the next report
  /// supersedes it.
  /// - Parameters:
  ///   - text: what is being done.
  ///   - part: completed fraction, from 0 to 1.
  public func sendProgress(_ text: String, part: Double, to sender: Sender) {
    guard sender.number != nil, let connection = connection(of: sender), connection.unsent.isEmpty else {
      return
    }
    _ = connection.socket.send(
      RequestProgress(text: text, part: part).message.numbered(sender.number).packet)
  }

  /// Sends what programs have made room for, and disconnects those that read nothing.
  private func sendUnsent() {
    for connection in connections where !connection.unsent.isEmpty {
      sendUnsent(connection)
      if !connection.unsent.isEmpty, .now - connection.lastProgress > Self.patience { close(connection) }
    }
  }

  private func sendUnsent(_ connection: Connection) {
    while let packet = connection.unsent.first {
      switch connection.socket.send(packet) {
      case .done:
        connection.unsent.removeFirst()
        connection.lastProgress = .now
      case .full: return
      case .ended: return close(connection)
      }
    }
  }
}
