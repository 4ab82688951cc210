import Messages
import Settings
import Synchronization
import Threads

/// Slow work on another thread. The thread that starts a job polls its result and never waits. A job whose result is no
/// longer needed is abandoned; it is counted in `AbandonedJobs` until its work returns.
///
/// Thread: the owner, which is the control thread, calls every function unless it says *working thread*.
public final class Job<Value: Sendable>: Sendable {
  private enum State {
    /// The work has not begun.
    case waiting
    case running
    case done(Result<Value, Failure>)
    case abandoned(late: @Sendable (Value) -> Void)
  }

  private let state = Locked<State>(.waiting)
  private let part = Locked<Double?>(nil)

  private let onAbandon: @Sendable () -> Void

  /// - Parameter onAbandon: tells the work to end early. Called on the owner's thread.
  public init(onAbandon: @escaping @Sendable () -> Void = {}) { self.onAbandon = onAbandon }

  /// A job that has failed already.
  package static func failed(_ error: any Error) -> Job {
    let job = Job()
    job.finish(.failure(Failure(error)))
    return job
  }

  /// Starts `work` on a new thread.
  public static func start(
    _ name: String, onAbandon: @escaping @Sendable () -> Void = {},
    _ work: @escaping @Sendable (Job<Value>) throws -> Value
  ) -> Job<Value> {
    let job = Job(onAbandon: onAbandon)
    do { try BackgroundThread.start(name) { job.run { try work(job) } } } catch { return .failed(error) }
    return job
  }

  /// The result; nil until the work ends, and after `abandon`. A job abandoned before its work began, or after it
  /// ended, has failed.
  public var result: Result<Value, Failure>? {
    state.withLock { if case .done(let result) = $0 { result } else { nil } }
  }

  /// The completed fraction, from 0 to 1; nil until the work reports one.
  public var progress: Double? { part.withLock { $0 } }
  /// Thread: working thread.
  public func report(progress: Double) { part.withLock { $0 = progress } }

  /// Gives up the result.
  /// - Parameter late: receives a value that the work still produces, so that it can be released. Runs on the working
  ///   thread, or at once on the owner's if the value is there already.
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

  /// Marks the work as begun. Thread: working thread.
  /// - Returns: false if the job was abandoned; then the work must not begin.
  public func begin() -> Bool {
    state.withLock { state in
      guard case .waiting = state else { return false }
      state = .running
      return true
    }
  }

  /// Runs `work` and stores its result, unless the job was abandoned before. Thread: working thread.
  func run(_ work: () throws -> Value) {
    if begin() { finish(Result { try work() }.mapError { Failure($0) }) }
  }

  /// Stores the result, or passes it to the `late` closure of `abandon`. Thread: working thread.
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

/// Counts abandoned jobs whose work has not returned, in the whole process. Any thread.
public enum AbandonedJobs {
  static let running = Atomic<Int>(0)
  public static var count: Int { running.load(ordering: .relaxed) }
}
