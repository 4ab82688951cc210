import CSockets
import Foundation
import Synchronization

/// A client's socket, bound to a random path in a folder that only this user can enter. `deinit` removes it.
///
/// Thread: any, one at a time.
final class ClientSocket: Sendable {
  private let descriptor: Int32
  private let path: String
  private let buffer = Mutex([UInt8](repeating: 0, count: OSCShape.longestPacket + 4))

  /// - Throws: if the socket cannot be made. Does not require a running Pinna.
  init(environment: [String: String]) throws(Failure) {
    try RuntimeFolder.prepareClients(environment: environment)
    path = try RuntimeFolder.newClient(environment: environment)
    descriptor = makeDatagramSocket()
    askForCredentials(descriptor)
    guard withSocketAddress(path, { bind(descriptor, $0, $1) }) == 0 else {
      throw Failure(
        .failed, "cannot make the client socket \(path): \(String(cString: strerror(errno)))")
    }
    // The server may write to it whatever the umask is.
    chmod(path, 0o600)
    var slice = timeval(tv_sec: 0, tv_usec: Int(Self.slice / .microseconds(1)))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &slice, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit {
    unlink(path)
    close(descriptor)
  }

  /// Longest single wait. After each slice, the caller checks whether the server is still running.
  static let slice = Duration.milliseconds(250)

  /// Sends a packet to the server at `path`. If the server's queue is full, waits for one slice.
  func send(_ packet: [UInt8], to path: String) -> Sent {
    withSocketAddress(path) { sendPacket(packet, through: descriptor, to: $0, $1) }
  }

  struct ReceivedMessage {
    let message: OSCMessage
    let number: String?
  }

  /// Waits up to `patience` for the next message from a process of this user. Replaces the envelope of a `LargeAnswer`
  /// with the answer itself.
  func receive(within patience: Duration) -> ReceivedMessage? {
    let deadline = ContinuousClock.now + patience
    while true {
      let left = max(.zero, deadline - .now)
      guard pinna_wait([descriptor], 1, Int32((left / .milliseconds(1)).rounded(.up))) != 0 else {
        return nil
      }
      if let received = next() { return received }
      guard .now < deadline else { return nil }
    }
  }

  private func next() -> ReceivedMessage? {
    buffer.withLock { buffer in
      guard let packet = Datagram(from: descriptor, buffer: &buffer, wantsFile: true), packet.isOurs,
        !packet.isCut, let split = OSCMessage(packet: packet.bytes)?.split
      else { return nil }
      guard let file = packet.file else {
        return ReceivedMessage(message: split.message, number: split.number)
      }
      guard let large = LargeAnswer.open(file)?.split, large.number == split.number else { return nil }
      return ReceivedMessage(message: large.message, number: large.number)
    }
  }
}
