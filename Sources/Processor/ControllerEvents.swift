import Glibc
import Synchronization

/// Events that other threads raise for the control thread, and that wake it: requests by signals, the loss of the
/// server, changes of the graph.
///
/// Thread: any but the callback's raises events; the control thread consumes them.
public final class ControllerEvents: Sendable {
  private let stop = Atomic<Bool>(false)
  private let reload = Atomic<Bool>(false)
  private let status = Atomic<Bool>(false)
  private let graph = Atomic<Bool>(false)
  /// A socket that is readable from an event until `clearWake`.
  package let wake: Int32
  private let wakeSender: Int32

  public init() {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    socketpair(AF_UNIX, type, 0, &ends)
    (wake, wakeSender) = (ends[0], ends[1])
  }

  deinit {
    close(wake)
    close(wakeSender)
  }

  // MARK: Any thread but the callback's

  public func requestStop() { set(stop) }
  public func requestReload() { set(reload) }
  public func requestStatus() { set(status) }
  public func graphChanged() { set(graph) }
  /// Wakes the control thread to poll. A full queue needs no further packet: the socket is readable already.
  package func wakeUp() { _ = send(wakeSender, [1], 1, Int32(MSG_NOSIGNAL)) }

  private func set(_ flag: borrowing Atomic<Bool>) {
    flag.store(true, ordering: .releasing)
    wakeUp()
  }

  // MARK: Control thread

  public var stopRequested: Bool { stop.load(ordering: .acquiring) }
  /// Each of these returns true once after a request.
  package func consumeReloadRequest() -> Bool { reload.exchange(false, ordering: .acquiringAndReleasing) }
  package func consumeStatusRequest() -> Bool { status.exchange(false, ordering: .acquiringAndReleasing) }
  package func consumeGraphChange() -> Bool { graph.exchange(false, ordering: .acquiringAndReleasing) }
  /// Call it before reading the flags, so that a later event wakes the thread again.
  package func clearWake() {
    var byte: UInt8 = 0
    while recv(wake, &byte, 1, 0) > 0 {}
  }
}
