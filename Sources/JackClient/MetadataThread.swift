import CJack
import Foundation
import Realtime
import Synchronization
import Threads

/// Writes port labels (JACK metadata) one at a time, on a thread of its own.
///
/// JACK's metadata is a Berkeley DB shared by all of a user's JACK programs. A program suspended during a write blocks
/// all others without limit. So callers only queue jobs, and at most one thread ever writes, even if it hangs.
///
/// Thread: any but JACK's realtime thread, except for the functions under *The thread*.
package final class MetadataThread: Sendable {
  /// Sets the label of one port, or removes it.
  package struct Job: Sendable {
    /// Number of the connection that the port belongs to (`ClientHandle.number`).
    package let owner: Int
    package let server: String?
    package let port: jack_uuid_t
    /// Nil to remove the label.
    package let label: PortLabel?
    /// Whether the owner's server is still running. Called on the metadata thread.
    package let isWanted: @Sendable () -> Bool
    /// Whether the job must wait, as in freewheel mode. Called on the metadata thread.
    package let isHeldBack: @Sendable () -> Bool

    package init(
      owner: Int, server: String?, port: jack_uuid_t, label: PortLabel?,
      isWanted: @escaping @Sendable () -> Bool = { true },
      isHeldBack: @escaping @Sendable () -> Bool = { false }
    ) {
      (self.owner, self.server, self.port, self.label) = (owner, server, port, label)
      self.isWanted = isWanted
      self.isHeldBack = isHeldBack
    }
  }

  static let shared = {
    let labels = LabelProcess()
    return MetadataThread { labels.perform($0) }
  }()
  private static let stale = Locked<Set<jack_uuid_t>>([])

  /// Maximum number of queued jobs, several times the number of ports of the largest device. Further jobs are dropped
  /// and counted.
  package static let capacity = 256
  /// A job that takes longer is reported as blocked.
  package static let patience = Duration.seconds(1)

  private struct State {
    var queue: [Job] = []
    /// The current or latest job; nil once the queue is empty.
    var running: Job?
    /// When the current job began.
    var since = ContinuousClock.now
    var hasThread = false
    var dropped = 0
  }
  private let state = Locked(State())
  private let perform: @Sendable (Job) -> Void

  package init(perform: @escaping @Sendable (Job) -> Void) { self.perform = perform }

  // MARK: Any thread; no function waits for the database

  package func post(_ job: Job) {
    let needsThread = state.withLock { state in
      guard state.queue.count < Self.capacity else {
        state.dropped += 1
        return false
      }
      state.queue.append(job)
      defer { state.hasThread = true }
      return !state.hasThread
    }
    guard needsThread else { return }
    do { try BackgroundThread.start("pinna labels") { [self] in run() } } catch {
      // The next job retries.
      state.withLock { $0.hasThread = false }
    }
  }

  /// Removes the queued jobs of a connection that is closing, and ends its helper process.
  package func drop(owner: Int) {
    state.withLock { $0.queue.removeAll { $0.owner == owner } }
    post(Job(owner: owner, server: nil, port: 0, label: nil, isWanted: { false }))
  }

  /// Removes the queued jobs of a port that is about to be unregistered. If its label is being written now, queues its
  /// removal, because the next port gets the same number.
  package func drop(port: jack_uuid_t) {
    let running = state.withLock { state in
      state.queue.removeAll { $0.port == port }
      return state.running?.port == port ? state.running : nil
    }
    if let running {
      post(
        Job(
          owner: running.owner, server: running.server, port: port, label: nil, isWanted: running.isWanted,
          isHeldBack: running.isHeldBack))
    }
  }

  /// Records ports whose labels remain after their server has died: the next server reuses their numbers.
  static func addStale(_ ports: Set<jack_uuid_t>) { stale.withLock { $0.formUnion(ports) } }

  /// Removes and returns the recorded ports.
  static func drainStale() -> Set<jack_uuid_t> {
    stale.withLock { stale in
      defer { stale = [] }
      return stale
    }
  }

  /// Whether a label of this connection is being written.
  package func isBusy(for owner: Int) -> Bool { state.withLock { $0.running?.owner == owner } }

  /// Why labels cannot be written, as one sentence; nil while the database answers.
  package var fault: String? {
    let isHeldUp = state.withLock { $0.running != nil && .now - $0.since > Self.patience }
    guard isHeldUp else { return nil }
    return
      "JACK's metadata database, /dev/shm/jack_db-\(getuid()), is locked by another program: "
      + "patchbays show Pinna's ports without labels until that program releases it"
  }

  /// Number of jobs dropped because the queue was full.
  package var dropped: Int { state.withLock { $0.dropped } }

  // MARK: The thread

  private func run() {
    while true {
      while let job = next() { perform(job) }
      let isDone = state.withLock { state in
        state.running = nil
        state.hasThread = !state.queue.isEmpty
        return !state.hasThread
      }
      if isDone { return }
      // Remaining jobs are held back or have just arrived.
      usleep(20_000)
    }
  }

  private func next() -> Job? {
    state.withLock { state in
      state.since = .now
      guard let n = state.queue.firstIndex(where: { !$0.isHeldBack() }) else { return nil }
      state.running = state.queue.remove(at: n)
      return state.running
    }
  }
}
