import CSockets
import Glibc
import Messages
import Processor
import Settings

/// The UDP socket to a session manager.
///
/// Only packets from the manager's address count. A manager that NSM_URL names by another loopback address, such as
/// 127.0.1.1, may answer from the one that this machine prefers, 127.0.0.1: from there, only an answer to the
/// announcement counts as the first packet. From the first packet on, only its address counts.
///
/// Thread: control thread. No function waits, except `wait`.
final class NSMSocket {
  private let socket: FileDescriptor
  private let manager: UDPAddress
  /// The address with the manager's port that this machine sends from to reach the manager.
  private let preferred: UDPAddress
  /// The address that the manager answered from; nil before its first answer.
  private var source: UDPAddress?
  /// Packets dropped because they were malformed, or came from elsewhere.
  private(set) var droppedPackets = 0
  private var buffer = [UInt8](repeating: 0, count: OSCShape.longestPacket)

  var descriptor: Int32 { socket.number }

  /// Listens only at the address from which this machine reaches the manager: on loopback for one of this machine.
  init(to manager: UDPAddress) throws(Failure) {
    self.manager = manager
    let probe = manager.makeSocket()
    guard manager.withSocketAddress({ connect(probe.number, $0, $1) }) == 0 else {
      throw Self.failure(manager)
    }
    let host = UDPAddress(of: probe.number).host
    guard let local = UDPAddress(host, port: 0), let preferred = UDPAddress(host, port: manager.port) else {
      throw Self.failure(manager)
    }
    self.preferred = preferred
    socket = manager.makeSocket()
    let number = socket.number
    guard number >= 0, local.withSocketAddress({ bind(number, $0, $1) }) == 0 else {
      throw Self.failure(manager)
    }
  }

  private static func failure(_ manager: UDPAddress) -> Failure {
    Failure(
      .failed, "the session manager at \(manager) cannot be reached: \(String(cString: strerror(errno)))")
  }

  /// Reports a manager that no longer runs, while that is wanted: `isRefused` then says whether its port is closed.
  func watchForRefusal(_ isOn: Bool) {
    var value: Int32 = isOn ? 1 : 0
    let isIPv4 = manager.family == AF_INET
    setsockopt(
      descriptor, Int32(isIPv4 ? IPPROTO_IP : IPPROTO_IPV6), isIPv4 ? IP_RECVERR : IPV6_RECVERR, &value,
      socklen_t(MemoryLayout<Int32>.size))
  }

  private(set) var isRefused = false

  /// Waits until a packet arrives, for `milliseconds` at most.
  func wait(milliseconds: Int32) {
    var state = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
    _ = pinna_poll(&state, 1, milliseconds)
  }

  /// - Returns: false if it cannot be sent now.
  @discardableResult
  func send(_ message: OSCMessage) -> Bool {
    (source ?? manager).send(message.packet, through: descriptor)
  }

  /// The manager's next message among the next 16 packets; bounded, so that a flood cannot keep the thread here.
  func receive() -> OSCMessage? {
    for _ in 0..<16 {
      guard let packet = UDPAddress.receive(&buffer, through: descriptor) else {
        if errno == ECONNREFUSED { isRefused = true }
        return nil
      }
      guard !packet.isCut, let message = OSCMessage(packet: packet.bytes), isManager(packet.sender, message)
      else {
        droppedPackets += 1
        continue
      }
      if source == nil { pin(packet.sender) }
      return message
    }
    return nil
  }

  /// Receives only from `sender` from now on. The kernel drops all other packets, so that they cannot fill the queue.
  private func pin(_ sender: UDPAddress) {
    source = sender
    _ = sender.withSocketAddress { connect(descriptor, $0, $1) }
  }

  private func isManager(_ sender: UDPAddress, _ message: OSCMessage) -> Bool {
    if let source { return sender == source }
    return sender == manager
      || sender == preferred && manager.isLoopback && NSMMessage.answersAnnouncement(message)
  }
}
