import CSockets
import Foundation
import Synchronization

/// A client's socket: at a path that only this user can reach, and that is removed at its end.
///
/// Threads: any, one at a time.
final class ClientSocket: Sendable {
  private let descriptor: Int32
  private let path: String
  private let buffer = Mutex([UInt8](repeating: 0, count: OSCShape.longestPacket + 4))

  /// - Throws: where no Pinna can be asked from here; not where only none runs.
  init(environment: [String: String]) throws(Failure) {
    try RuntimeFolder.prepareClients(environment: environment)
    path = try RuntimeFolder.newClient(environment: environment)
    descriptor = makeDatagramSocket()
    askForCredentials(descriptor)
    guard withSocketAddress(path, { bind(descriptor, $0, $1) }) == 0 else {
      throw Failure(
        .failed, "cannot make a socket to ask Pinna through, \(path): \(String(cString: strerror(errno)))")
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

  /// How long anything here waits at once: after that somebody asks whether the other end is there.
  static let slice = Duration.milliseconds(250)

  /// Sends a packet to the server at `path`; waits a slice where the server's queue is full.
  func send(_ packet: [UInt8], to path: String) -> Sent {
    withSocketAddress(path) { sendPacket(packet, through: descriptor, to: $0, $1) }
  }

  struct Heard {
    let message: OSCMessage
    let number: String?
  }

  /// The next message, waiting for one up to `patience`. Of what comes, only this user's packets count; the sentence of
  /// a large answer is exchanged for what it announces.
  func receive(within patience: Duration) -> Heard? {
    let deadline = ContinuousClock.now + patience
    while true {
      let left = max(.zero, deadline - .now)
      guard pinna_wait(descriptor, -1, Int32((left / .milliseconds(1)).rounded(.up))) != 0 else { return nil }
      if let heard = next() { return heard }
      guard .now < deadline else { return nil }
    }
  }

  private func next() -> Heard? {
    buffer.withLock { buffer in
      guard let packet = Datagram(from: descriptor, buffer: &buffer, wantsFile: true), packet.isOurs,
        !packet.isCut, let split = OSCMessage(packet: packet.bytes)?.split
      else { return nil }
      guard let file = packet.file else { return Heard(message: split.message, number: split.number) }
      guard let large = LargeAnswer.open(file)?.split, large.number == split.number else { return nil }
      return Heard(message: large.message, number: large.number)
    }
  }
}
