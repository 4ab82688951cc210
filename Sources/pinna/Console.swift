import Foundation
import Synchronization
import Threads

/// Writes lines to a descriptor that may be full, closed or on a full disk, without ever blocking who has one to
/// write: a thread of its own does it, which is abandoned where it is stuck. What does not fit the queue is dropped
/// and counted.
package final class Console: Sendable {
  /// Lines that wait to be written.
  package static let capacity = 256

  private struct State {
    var lines: [String] = []
    /// Dropped since the last notice.
    var lost = 0
    var isWriting = false
    var isStarted = false
  }

  private let descriptor: Int32
  private let notice: @Sendable (Int) -> String
  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)

  /// - Parameter notice: the line that says how many were lost; it is written as soon as writing works again.
  package init(descriptor: Int32, notice: @escaping @Sendable (Int) -> String) {
    self.descriptor = descriptor
    self.notice = notice
  }

  /// Thread: any. Returns at once.
  package func put(_ text: String) {
    let needsThread = state.withLock { state in
      defer { state.isStarted = true }
      if state.lines.count < Self.capacity { state.lines.append(text) } else { state.lost += 1 }
      return !state.isStarted
    }
    if needsThread {
      do { try BackgroundThread.start("pinna console") { [self] in run() } } catch {
        // The next line tries again.
        state.withLock { $0.isStarted = false }
      }
    }
    wake.signal()
  }

  /// Waits until everything is written, or until `deadline`.
  package func flush(until deadline: ContinuousClock.Instant) {
    while ContinuousClock.now < deadline,
      state.withLock({ !$0.lines.isEmpty || $0.isWriting })
    { usleep(1000) }
  }

  private func run() {
    while true {
      wake.wait()
      guard let text = next() else { continue }
      let isWritten = write(text)
      let lost = state.withLock { state in
        if !isWritten { state.lost += 1 }
        return isWritten && state.lines.isEmpty ? state.lost : 0
      }
      let isTold = lost > 0 && write(notice(lost))
      state.withLock { state in
        if isTold { state.lost -= lost }
        state.isWriting = false
      }
    }
  }

  private func next() -> String? {
    state.withLock { state in
      guard !state.lines.isEmpty else { return nil }
      state.isWriting = true
      return state.lines.removeFirst()
    }
  }

  /// Blocks for as long as nobody reads; false where it cannot be written.
  private func write(_ text: String) -> Bool {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        bytes = bytes.dropFirst(count)
      } else if errno == EAGAIN {
        // Somebody who has the other end made it so.
        var one = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&one, 1, -1)
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }
}
