import Foundation
import Synchronization

/// What other threads tell the control thread: a signal asked for something, the server has gone, the graph is
/// another one. Each of them wakes it.
public final class ControllerEvents: Sendable {
  private let stop = Atomic<Bool>(false)
  private let reload = Atomic<Bool>(false)
  private let status = Atomic<Bool>(false)
  private let graph = Atomic<Bool>(false)
  /// Readable from a request until `quieten`.
  let wake: Int32
  private let alarm: Int32

  public init() {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    socketpair(AF_UNIX, type, 0, &ends)
    (wake, alarm) = (ends[0], ends[1])
  }

  deinit {
    close(wake)
    close(alarm)
  }

  /// Any thread but the callback's.
  public func requestStop() { raise(stop) }
  public func requestReload() { raise(reload) }
  public func requestStatus() { raise(status) }
  public func graphChanged() { raise(graph) }
  /// Something can be polled.
  func wakeUp() { ring() }

  private func raise(_ flag: borrowing Atomic<Bool>) {
    flag.store(true, ordering: .releasing)
    ring()
  }

  /// Where the queue is full it rings already.
  private func ring() { _ = send(alarm, [1], 1, Int32(MSG_NOSIGNAL)) }

  public var stopRequested: Bool { stop.load(ordering: .acquiring) }
  /// True once per request.
  func takeReload() -> Bool { reload.exchange(false, ordering: .acquiringAndReleasing) }
  func takeStatus() -> Bool { status.exchange(false, ordering: .acquiringAndReleasing) }
  func takeGraphChange() -> Bool { graph.exchange(false, ordering: .acquiringAndReleasing) }
  /// Before the flags are read: what is raised after that wakes again.
  func quieten() {
    var byte: UInt8 = 0
    while recv(wake, &byte, 1, 0) > 0 {}
  }
}
