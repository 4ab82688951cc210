import CLapack
import FoundationEssentials
import Glibc
import Synchronization

/// Makes OpenBLAS single-threaded, for the whole process. Programs call it before they design; libraries must not.
///
/// Designs run one thread per core. OpenBLAS threads would compete with them.
package func useSingleThreadedBLAS() { openblas_set_num_threads(1) }

/// The threads that designs run on: one per core, at lower priority than the rest of the process. Control and disk
/// threads therefore get a core at once.
package enum DesignThreads {
  /// The nice value of design threads. On Linux each thread has its own, and new threads inherit it.
  static let niceness: Int32 = 10
  private static let eachThread = __priority_which_t(PRIO_PROCESS.rawValue)

  /// Runs `body` on a thread of lower priority, and waits for it. The calling thread keeps its priority.
  package static func run<T: Sendable>(_ body: @Sendable () throws(DesignError) -> T) throws(DesignError) -> T
  {
    if getpriority(eachThread, 0) >= niceness { return try body() }
    let result = FirstValue<Result<T, DesignError>>()
    let caller = pthread_self()
    withoutActuallyEscaping(body) { body in
      JoinableThread {
        // The caller does the work if no thread can be created. Without privileges it could never raise its priority again.
        if pthread_equal(caller, pthread_self()) == 0 { setpriority(eachThread, 0, niceness) }
        do throws(DesignError) { result.set(.success(try body())) } catch { result.set(.failure(error)) }
      }.join()
    }
    return try result.value!.get()
  }

  /// Calls `body` with 0..<count in parallel, on this thread and others of the same priority, and waits for all of
  /// them. After an error no further index is started.
  /// - Parameter threads: the maximum number of threads; nil for one per core.
  package static func forEach<Failure: Error>(
    _ count: Int, threads: Int? = nil, _ body: @Sendable (Int) throws(Failure) -> Void
  ) throws(Failure) {
    let next = Counter()
    let failure = FirstValue<Failure>()
    withoutActuallyEscaping(body) { body in
      let work: @Sendable () -> Void = {
        while failure.value == nil, let index = next.increment(below: count) {
          do throws(Failure) { try body(index) } catch { failure.set(error) }
        }
      }
      let wanted = min(count, threads ?? ProcessInfo.processInfo.activeProcessorCount)
      let others = (1..<max(1, wanted)).map { _ in JoinableThread(work) }
      work()
      for thread in others { thread.join() }
    }
    if let error = failure.value { throw error }
  }
}

/// A thread that can be joined.
private final class JoinableThread: Sendable {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Nil if no thread could be created. The work was then done in `init`.
  private let handle: pthread_t?

  init(_ body: @escaping @Sendable () -> Void) {
    var handle = pthread_t()
    let work = Unmanaged.passRetained(Work(body))
    let status = pthread_create(
      &handle, nil,
      { argument in
        Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    self.handle = status == 0 ? handle : nil
    if status != 0 { work.takeRetainedValue().body() }
  }

  func join() { if let handle { pthread_join(handle, nil) } }
}

/// A value that several threads may set. The first one is kept.
private final class FirstValue<Value: Sendable>: Sendable {
  private let stored = Mutex<Value?>(nil)
  var value: Value? { stored.withLock { $0 } }
  func set(_ value: Value) { stored.withLock { $0 = $0 ?? value } }
}

private final class Counter: Sendable {
  private let next = Atomic(0)

  func increment(below limit: Int) -> Int? {
    let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
    return index < limit ? index : nil
  }
}
