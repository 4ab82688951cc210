import CLapack
import Foundation
import Synchronization

/// For programs, before they design; not for libraries, as it holds for the whole process. Designs take a thread on
/// each core, and an OpenBLAS with threads of its own fights them for the cores.
package func useSingleThreadedBLAS() { openblas_set_num_threads(1) }

/// The threads that designs run on: as many as there are cores, at lower priority than the rest of the process, so
/// that control and disk threads get a core as soon as they want one.
enum DesignThreads {
  /// Of design threads. On Linux each thread has a nice value of its own, which threads that it starts inherit.
  static let niceness: Int32 = 10
  private static let eachThread = __priority_which_t(PRIO_PROCESS.rawValue)

  /// Runs `body` on a thread of lower priority. The calling thread waits for it, and keeps its own priority.
  static func run<T: Sendable>(_ body: @Sendable () throws(DesignError) -> T) throws(DesignError) -> T {
    if getpriority(eachThread, 0) >= niceness { return try body() }
    let result = Slot<Result<T, DesignError>>()
    withoutActuallyEscaping(body) { body in
      JoinableThread {
        setpriority(eachThread, 0, niceness)
        do throws(DesignError) { result.set(.success(try body())) } catch { result.set(.failure(error)) }
      }.join()
    }
    return try result.value!.get()
  }

  /// Calls `body` with 0..<count, on this thread and others of its priority, and waits for all of them. After an
  /// error no further index is begun.
  /// - Parameter threads: at most so many at a time; nil for one on each core.
  static func forEach<Failure: Error>(
    _ count: Int, threads: Int? = nil, _ body: @Sendable (Int) throws(Failure) -> Void
  ) throws(Failure) {
    let next = Counter()
    let failure = Slot<Failure>()
    withoutActuallyEscaping(body) { body in
      let work: @Sendable () -> Void = {
        while failure.value == nil, let index = next.take(below: count) {
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

/// A thread that somebody waits for.
private final class JoinableThread: Sendable {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Nil where the system has no more threads; then the work was done here.
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

/// What threads leave for the one that waits for them; the first value stays.
private final class Slot<Value: Sendable>: Sendable {
  private let stored = Mutex<Value?>(nil)
  var value: Value? { stored.withLock { $0 } }
  func set(_ value: Value) { stored.withLock { $0 = $0 ?? value } }
}

private final class Counter: Sendable {
  private let next = Atomic(0)

  func take(below limit: Int) -> Int? {
    let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
    return index < limit ? index : nil
  }
}
