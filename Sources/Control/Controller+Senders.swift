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
  /// Waits up to `milliseconds` for requests, or until an event wakes this thread. Returns at most one request of each
  /// socket, so that neither can keep the other waiting.
  func requests(within milliseconds: Int32) -> [(message: OSCMessage, sender: Sender)] {
    let patience = udp?.hasRequests == true ? 0 : milliseconds
    var requests: [(message: OSCMessage, sender: Sender)] = []
    if let (message, sender) = socket.receive(
      milliseconds: patience,
      or: [
        events.wake, udp?.descriptor ?? -1, poses?.descriptor ?? -1, nsm?.socket.descriptor ?? -1,
      ]),
      let message
    {
      requests.append((message, .local(sender)))
    }
    if let (message, sender) = udp?.receive() { requests.append((message, .udp(sender))) }
    return requests
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

  var droppedPackets: Int {
    socket.droppedPackets + (udp?.droppedPackets ?? 0) + (poses?.droppedPackets ?? 0)
      + (nsm?.socket.droppedPackets ?? 0)
  }
}
