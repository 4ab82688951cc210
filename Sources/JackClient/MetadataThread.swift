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
    /// Whether it has to wait.
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
  private let perform: @Sendable (Job) -> Void

  package init(perform: @escaping @Sendable (Job) -> Void) { self.perform = perform }

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

  /// Takes back what waits for a connection that closes, and ends the process that writes its labels.
  package func drop(owner: Int) {
    state.withLock { $0.queue.removeAll { $0.owner == owner } }
    post(Job(owner: owner, server: nil, port: 0, label: nil, isWanted: { false }))
  }

  /// Takes back what waits for a port that goes. Its number goes to the next port: where its labels are just being
  /// written, they are removed again.
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

  /// Notes ports whose labels a server that died left behind: the next server uses their numbers again.
  static func leaveStale(_ ports: Set<jack_uuid_t>) { stale.withLock { $0.formUnion(ports) } }

  /// The ports noted so far, which are forgotten.
  static func takeStale() -> Set<jack_uuid_t> {
    stale.withLock { stale in
      defer { stale = [] }
      return stale
    }
  }

  /// Whether labels of this connection's ports are being written.
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
      let isDone = state.withLock { state in
        state.running = nil
        state.hasThread = !state.queue.isEmpty
        return !state.hasThread
      }
      if isDone { return }
      // What is left is held back, or has just come.
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
