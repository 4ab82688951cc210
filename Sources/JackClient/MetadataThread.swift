import CJack
import Foundation
import Realtime
import Synchronization
import Threads

/// Labels of ports, JACK's metadata, written one after the other on a thread of their own.
///
/// The metadata are a Berkeley DB that all of a user's JACK programs share, each with its own handle on it: a program that
/// stands still in the middle of a write holds all the others up, without end. Nobody here waits for that: what is asked
/// for stands in a queue, and a thread that does not come back is left alone until it does. There is never a second one.
package final class MetadataThread: Sendable {
  /// The labels of one port: set, or where there are none removed.
  package struct Job: Sendable {
    /// The connection that the port belongs to.
    package let owner: Int
    package let server: String?
    package let port: jack_uuid_t
    package let label: PortLabel?
    /// Whether the owner's server is still there.
    package let isWanted: @Sendable () -> Bool

    package init(
      owner: Int, server: String?, port: jack_uuid_t, label: PortLabel?,
      isWanted: @escaping @Sendable () -> Bool = { true }
    ) {
      (self.owner, self.server, self.port, self.label) = (owner, server, port, label)
      self.isWanted = isWanted
    }
  }

  static let shared = {
    let writer = LabelWriter()
    return MetadataThread { writer.perform($0) }
  }()
  /// Jobs that wait: several times the ports of the largest device. What comes beyond is dropped, and counted.
  package static let capacity = 256
  /// How long a job may take before it counts as held up.
  package static let patience = Duration.seconds(1)

  private struct State {
    var queue: [Job] = []
    /// Under way, or last: until nothing is left to do for anybody.
    var running: Job?
    var since = ContinuousClock.now
    var hasThread = false
    var dropped = 0
  }
  private let state = Locked(State())
  private let perform: @Sendable (Job?) -> Void

  /// - Parameter perform: does a job; nil says that there is none for now.
  package init(perform: @escaping @Sendable (Job?) -> Void) { self.perform = perform }

  // MARK: Any thread; none of these waits for the database

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
      // The next label tries again.
      state.withLock { $0.hasThread = false }
    }
  }

  /// Takes back what waits for a connection that goes.
  package func drop(owner: Int) { state.withLock { $0.queue.removeAll { $0.owner == owner } } }

  /// Takes back what waits for a port that goes. Its number goes to the next port: where its labels are just being
  /// written, they are removed again.
  package func drop(port: jack_uuid_t) {
    let running = state.withLock { state in
      state.queue.removeAll { $0.port == port }
      return state.running?.port == port ? state.running : nil
    }
    if let running {
      post(
        Job(owner: running.owner, server: running.server, port: port, label: nil, isWanted: running.isWanted))
    }
  }

  /// Whether a client is open, or may be, that writes labels for this connection's ports.
  package func isBusy(for owner: Int) -> Bool { state.withLock { $0.running?.owner == owner } }

  /// What is wrong, in one sentence; nil while the database answers.
  package var fault: String? {
    let isHeldUp = state.withLock { $0.running != nil && .now - $0.since > Self.patience }
    guard isHeldUp else { return nil }
    return
      "JACK's metadata database, /dev/shm/jack_db-\(getuid()), does not answer, because another program holds it: "
      + "patchbays show our ports without labels until that program goes on"
  }

  /// Jobs that found no room.
  package var dropped: Int { state.withLock { $0.dropped } }

  // MARK: The thread

  private func run() {
    while true {
      while let job = next() { perform(job) }
      perform(nil)
      let isDone = state.withLock { state in
        guard state.queue.isEmpty else { return false }
        state.running = nil
        state.hasThread = false
        return true
      }
      if isDone { return }
    }
  }

  private func next() -> Job? {
    state.withLock { state in
      state.since = .now
      guard !state.queue.isEmpty else { return nil }
      state.running = state.queue.removeFirst()
      return state.running
    }
  }
}
