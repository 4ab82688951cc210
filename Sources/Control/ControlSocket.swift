import Foundation

/// The datagram socket on which a running Pinna is told what to do.
///
/// Our own rather than liblo's: 0600 in a 0700 folder, and a stale one is reclaimed. Who holds the lock file
/// owns the name; the kernel lets go of it when its holder dies, however that happens.
public final class ControlSocket {
  private let descriptor: Int32
  private let lock: Int32
  private let path: String
  /// Packets that were no plain OSC message.
  public private(set) var droppedPackets = 0
  /// Answers that found their sender's queue full.
  private var unsent: [(packet: [UInt8], sender: Sender, deadline: ContinuousClock.Instant)] = []
  private static let unsentLimit = 64

  /// The address of a sender, to answer to.
  public struct Sender: Sendable, Equatable {
    fileprivate let address: sockaddr_un
    fileprivate let length: socklen_t

    public static func == (a: Sender, b: Sender) -> Bool {
      withUnsafeBytes(of: a.address) { a in withUnsafeBytes(of: b.address) { $0.elementsEqual(a) } }
        && a.length == b.length
    }
  }

  public init(
    name: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(Failure) {
    path = try RuntimeFolder.socket(named: name, environment: environment)
    try RuntimeFolder.prepare(environment: environment)
    lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else {
      throw Failure(.failed, "cannot open \(path).lock: \(String(cString: strerror(errno)))")
    }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      close(lock)
      throw Failure(
        .failed,
        "a Pinna named \"\(name)\" is running already; choose another name with --name, or stop that one")
    }
    unlink(path)
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let old = umask(0o177)
    let bound = withSocketAddress(path) { bind(descriptor, $0, $1) }
    umask(old)
    guard bound == 0 else {
      // From here on deinit closes both.
      throw Failure(.failed, "cannot make the control socket \(path): \(String(cString: strerror(errno)))")
    }
    chmod(path, 0o600)
  }

  deinit {
    unlink(path)
    close(descriptor)
    close(lock)
  }

  /// The next request, waiting for one up to `milliseconds`, or until `wake` is readable. Packets that are no plain
  /// OSC message are dropped, and counted.
  public func receive(milliseconds: Int32, or wake: Int32 = -1) -> (message: OSCMessage?, sender: Sender)? {
    retry()
    var polls = [descriptor, wake].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    guard Glibc.poll(&polls, 2, milliseconds) > 0, polls[0].revents != 0 else { return nil }
    var buffer = [UInt8](repeating: 0, count: OSCShape.longestPacket + 4)
    var address = sockaddr_un()
    var length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let count = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        recvfrom(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT), $0, &length)
      }
    }
    guard count >= 0 else { return nil }
    let message = OSCMessage(packet: buffer.prefix(count))
    if message == nil { droppedPackets += 1 }
    return (message, Sender(address: address, length: length))
  }

  /// Whether somebody still listens there.
  func isThere(_ sender: Sender) -> Bool {
    guard sender.length > MemoryLayout<sa_family_t>.size else { return false }
    let own = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(own) }
    return withUnsafePointer(to: sender.address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(own, $0, sender.length) == 0 || errno == EPERM
      }
    }
  }

  /// From now on nobody finds us; whoever had already asked is answered.
  public func leave(_ answer: OSCMessage) {
    unlink(path)
    while let (_, sender) = receive(milliseconds: 0) { send(answer, to: sender) }
  }

  /// Answers a sender that may have gone, and never waits for it.
  ///
  /// An answer leaves through a socket of its own: what a sender leaves unread counts against the socket that
  /// sent it, and would in the end keep everyone else's answers back. Only a sender that connected its socket to
  /// ours hears nobody else, and is answered from ours.
  ///
  /// A sender whose queue is full (ten packets, as Linux comes) is tried again for a second, whenever requests are
  /// looked for; what is for the same sender waits behind it, so that answers come in their order.
  public func send(_ message: OSCMessage, to sender: Sender) {
    guard sender.length > MemoryLayout<sa_family_t>.size else { return }
    let packet = message.packet
    let mustWait = unsent.contains { $0.sender == sender }
    guard mustWait || !sendNow(packet, to: sender), unsent.count < Self.unsentLimit else { return }
    unsent.append((packet, sender, .now + .seconds(1)))
  }

  /// What a request is waiting for, before its answer.
  func sendProgress(_ text: String, part: Double, to sender: Sender) {}

  /// Tries again what found a queue full.
  private func retry() {
    guard !unsent.isEmpty else { return }
    let now = ContinuousClock.now
    var full: [Sender] = []
    unsent.removeAll { answer in
      if now > answer.deadline { return true }
      if full.contains(answer.sender) { return false }
      if sendNow(answer.packet, to: answer.sender) { return true }
      full.append(answer.sender)
      return false
    }
  }

  /// False where the sender's queue is full.
  private func sendNow(_ packet: [UInt8], to sender: Sender) -> Bool {
    let own = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(own) }
    return withUnsafePointer(to: sender.address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
        if sendto(own, packet, packet.count, flags, $0, sender.length) >= 0 { return true }
        if errno == EPERM, sendto(descriptor, packet, packet.count, flags, $0, sender.length) >= 0 {
          return true
        }
        return errno != EAGAIN
      }
    }
  }
}

/// Calls `body` with the address of the Unix socket at `path`.
func withSocketAddress<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result)
  -> Result
{
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { field in
    for (n, byte) in path.utf8.prefix(field.count - 1).enumerated() { field[n] = byte }
  }
  return withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
}
