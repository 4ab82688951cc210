import Foundation
import Synchronization
import Threads

/// Slow work on another thread. Whoever starts a job polls its result and never waits for its thread; a job that
/// nobody wants any more is abandoned, and counted until its thread comes back.
///
/// Threads: one thread starts, polls and abandons it; `finish` is for the thread that does the work.
public final class Job<Value: Sendable>: Sendable {
  private enum State {
    /// Its work waits for a thread.
    case waiting
    case running
    case done(Result<Value, Failure>)
    case abandoned(late: @Sendable (Value) -> Void)
  }

  private let state = Locked<State>(.waiting)
  private let part = Locked<Double?>(nil)

  private let onAbandon: @Sendable () -> Void

  /// - Parameter onAbandon: asks the work to end early.
  public init(onAbandon: @escaping @Sendable () -> Void = {}) { self.onAbandon = onAbandon }

  /// Starts `work` on a thread of its own.
  public static func start(
    _ name: String, onAbandon: @escaping @Sendable () -> Void = {},
    _ work: @escaping @Sendable (Job<Value>) throws -> Value
  ) -> Job<Value> {
    let job = Job(onAbandon: onAbandon)
    do {
      try BackgroundThread.start(name) { job.run { try work(job) } }
    } catch { job.finish(.failure(Failure(error))) }
    return job
  }

  /// Nil while it runs, and for ever where it was abandoned.
  public var result: Result<Value, Failure>? {
    state.withLock { if case .done(let result) = $0 { result } else { nil } }
  }

  /// What part is done, 0…1; nil until the work says.
  public var progress: Double? { part.withLock { $0 } }
  public func report(progress: Double) { part.withLock { $0 = progress } }

  /// Nobody polls the result any more.
  /// - Parameter late: hears a value that comes all the same, on the thread that made it, so that it can be closed.
  public func abandon(late: @escaping @Sendable (Value) -> Void = { _ in }) {
    onAbandon()
    let value: Value? = state.withLock { state in
      switch state {
      case .waiting: state = .done(.failure(Failure(.failed, "abandoned")))
      case .running:
        AbandonedJobs.running.wrappingAdd(1, ordering: .relaxed)
        state = .abandoned(late: late)
      case .done(.success(let value)):
        state = .done(.failure(Failure(.failed, "abandoned")))
        return value
      case .done, .abandoned: break
      }
      return nil
    }
    if let value { late(value) }
  }

  /// The thread that does the work: it begins now. False where nobody wants that any more.
  public func begin() -> Bool {
    state.withLock { state in
      guard case .waiting = state else { return false }
      state = .running
      return true
    }
  }

  /// Begins the work, does it, and ends it.
  func run(_ work: () throws -> Value) {
    if begin() { finish(Result { try work() }.mapError { Failure($0) }) }
  }

  /// The thread that does the work: it has ended.
  public func finish(_ result: Result<Value, Failure>) {
    let late: (@Sendable (Value) -> Void)? = state.withLock { state in
      switch state {
      case .abandoned(let late):
        AbandonedJobs.running.wrappingSubtract(1, ordering: .relaxed)
        return late
      case .waiting, .running: state = .done(result)
      case .done: break
      }
      return nil
    }
    if let late, case .success(let value) = result { late(value) }
  }
}

/// Threads that hang in work which nobody waits for any more, in the whole process.
public enum AbandonedJobs {
  static let running = Atomic<Int>(0)
  public static var count: Int { running.load(ordering: .relaxed) }
}
