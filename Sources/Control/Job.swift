import Foundation
import JackClient
import Realtime
import Synchronization
import Threads

/// Slow work on another thread. Whoever starts a job polls its result and never waits for its thread; a job that
/// nobody wants any more is abandoned, and counted until its thread comes back.
///
/// Threads: one thread starts, polls and abandons it; `finish` is for the thread that does the work.
public final class Job<Value: Sendable>: Sendable {
  private enum State {
    case running
    case done(Result<Value, Failure>)
    case abandoned(late: @Sendable (Value) -> Void)
  }

  private let state = Locked<State>(.running)
  private let part = Locked<Double>(0)
  private let cancelled = Atomic<Bool>(false)

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
      try BackgroundThread.start(name) { job.finish(Result { try work(job) }.mapError { Failure($0) }) }
    } catch { job.finish(.failure(Failure(error))) }
    return job
  }

  /// Nil while it runs, and for ever where it was abandoned.
  public var result: Result<Value, Failure>? {
    state.withLock { if case .done(let result) = $0 { result } else { nil } }
  }

  /// What part is done, 0…1.
  public var progress: Double { part.withLock { $0 } }
  public func report(progress: Double) { part.withLock { $0 = progress } }

  /// Whether nobody wants it any more: work that has not begun need not.
  public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Nobody polls the result any more.
  /// - Parameter late: hears a value that comes all the same, on the thread that made it, so that it can be closed.
  public func abandon(late: @escaping @Sendable (Value) -> Void = { _ in }) {
    cancelled.store(true, ordering: .relaxed)
    onAbandon()
    let value: Value? = state.withLock { state in
      switch state {
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

  /// The thread that does the work: it has ended.
  public func finish(_ result: Result<Value, Failure>) {
    let late: (@Sendable (Value) -> Void)? = state.withLock { state in
      if case .abandoned(let late) = state {
        AbandonedJobs.running.wrappingSubtract(1, ordering: .relaxed)
        return late
      }
      state = .done(result)
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
