import Messages
import Processor

/// The sender of a request, and where its answers go.
enum Sender: Sendable, Equatable {
  /// A program of this user, on the Unix socket.
  case local(ControlSocket.Sender)
  /// A subscriber over UDP.
  case udp(UDPSocket.Sender)
}

/// Requests from both sockets, and answers to their senders.
extension Controller {
  /// Waits up to `milliseconds` for something to come, or until an event wakes this thread. Takes at most one request of
  /// the control socket, and lets each source take some, so that none can keep the others waiting.
  func receive(within milliseconds: Int32) {
    let others = [events.wake] + sources.map(\.descriptor)
    if let (message, sender) = socket.receive(milliseconds: milliseconds, or: others), let message {
      receive(message.withFeedAsArgument, from: .local(sender))
    }
    for source in sources { source.receive(self) }
  }

  func send(_ answer: Answer, to sender: Sender) {
    switch sender {
    case .local(let sender): socket.send(answer.message, to: sender)
    case .udp(let sender): udp?.send(answer.message, to: sender)
    }
  }

  /// Over UDP no progress is sent: a request brings one datagram at most.
  func sendProgress(_ text: String, part: Double, to sender: Sender) {
    if case .local(let sender) = sender { socket.sendProgress(text, part: part, to: sender) }
  }

  /// Whether the sender's connection is open, or its subscription is alive.
  func isThere(_ sender: Sender) -> Bool {
    switch sender {
    case .local(let sender): socket.isThere(sender)
    case .udp(let sender): udp?.isThere(sender) ?? false
    }
  }

  /// Makes files in the runtime folder again that others removed, and says once why one cannot be made.
  func restoreFiles() {
    udp?.restore(ownsName: socket.ownsName)
    let obstacles = [socket.obstacle, udp?.obstacle].compactMap(\.self)
    for obstacle in obstacles where !reportedObstacles.contains(obstacle) {
      warn("a file that others removed cannot be made again: \(obstacle)")
    }
    reportedObstacles = obstacles
  }
}
