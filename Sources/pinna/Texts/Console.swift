import Dispatch
import FoundationEssentials
import Glibc
import Synchronization
import Threads

/// Writes lines to a descriptor without blocking the caller, even if the reader or the disk blocks the write.
///
/// A separate thread writes the lines. If it is stuck, it is abandoned when the process ends. Lines that do not fit in
/// the queue are dropped and counted.
package final class Console: Sendable {
  /// Maximum number of queued lines.
  package static let capacity = 256

  private struct State {
    var lines: [String] = []
    /// Number of lines lost since the last notice.
    var lost = 0
    var isWriting = false
    var isStarted = false
  }

  private let descriptor: Int32
  private let notice: @Sendable (Int) -> String
  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)

  /// - Parameter notice: returns the line that reports how many lines were lost. It is written as soon as writing works
  ///   again.
  package init(descriptor: Int32, notice: @escaping @Sendable (Int) -> String) {
    self.descriptor = descriptor
    self.notice = notice
  }

  /// Queues `text`, which includes its line break. Thread: any. Never waits for the descriptor.
  package func put(_ text: String) {
    let needsThread = state.withLock { state in
      defer { state.isStarted = true }
      if state.lines.count < Self.capacity { state.lines.append(text) } else { state.lost += 1 }
      return !state.isStarted
    }
    if needsThread {
      do { try BackgroundThread.start("pinna console") { [self] in run() } } catch {
        // No thread could be created. The next call tries again.
        state.withLock { $0.isStarted = false }
      }
    }
    wake.signal()
  }

  /// Waits until all queued lines are written, at most until `deadline`.
  package func flush(until deadline: ContinuousClock.Instant) {
    while ContinuousClock.now < deadline,
      state.withLock({ !$0.lines.isEmpty || $0.isWriting })
    { usleep(1000) }
  }

  private func run() {
    while true {
      wake.wait()
      guard let text = next() else { continue }
      let isWritten = Descriptor.writeAll(text.utf8, to: descriptor)
      let lost = state.withLock { state in
        if !isWritten { state.lost += 1 }
        return isWritten && state.lines.isEmpty ? state.lost : 0
      }
      let isReported = lost > 0 && Descriptor.writeAll(notice(lost).utf8, to: descriptor)
      state.withLock { state in
        if isReported { state.lost -= lost }
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
}
