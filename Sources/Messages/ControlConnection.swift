import CSockets
import Glibc
import Synchronization

/// A program's connection to a running Pinna.
///
/// Thread: any.
final class ControlConnection: Sendable {
  private let socket: PacketSocket

  private struct Incoming {
    var buffer = [UInt8](repeating: 0, count: OSCShape.longestPacket)
    var parts = AnswerParts()
  }
  private let incoming = Mutex(Incoming())

  init(_ socket: PacketSocket) { self.socket = socket }

  /// Whether the Pinna at the other end keeps the connection open.
  var isOpen: Bool { socket.isOpen }

  /// Ends the connection. A thread in `receive` returns at once.
  func shutDown() { socket.shutDown() }

  func send(_ packet: [UInt8]) -> PacketSocket.Sent { socket.send(packet) }

  enum Received {
    /// A message without its number, and the number. An answer is whole.
    case message(OSCMessage, number: String?)
    case nothing
    case ended
  }

  /// Waits for the next message.
  /// - Parameter deadline: nil waits until the connection ends.
  func receive(until deadline: ContinuousClock.Instant?) -> Received {
    while true {
      switch incoming.withLock({ next(&$0) }) {
      case .nothing: break
      case let received: return received
      }
      var left: Int32 = -1
      if let deadline {
        guard .now < deadline else { return .nothing }
        left = Int32(min(60_000, ((deadline - .now) / .milliseconds(1)).rounded(.up)))
      }
      var state = [pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)]
      _ = pinna_poll(&state, 1, left)
    }
  }

  /// Reads up to the next whole message, skipping malformed packets.
  private func next(_ incoming: inout Incoming) -> Received {
    while true {
      switch socket.receive(&incoming.buffer) {
      case .nothing: return .nothing
      case .ended: return .ended
      case .packet(let bytes, let isCut):
        guard !isCut, let (message, number) = OSCMessage(packet: bytes)?.split,
          let whole = incoming.parts.join(message)
        else { continue }
        return .message(whole, number: number)
      }
    }
  }
}
