import Glibc

/// A latch that opens once. Threads wait for it, at most until a deadline on the monotonic clock.
///
/// On Linux the deadlines of Dispatch semaphores follow the wall clock, and shift when it is set.
package final class Latch: @unchecked Sendable {
  // Unchecked: `isOpenNow` is only accessed under the mutex.
  private var isOpenNow = false
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  package init() {
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    condition = .allocate(capacity: 1)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  package var isOpen: Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return isOpenNow
  }

  /// Wakes all waiting threads. Later calls to `wait` return at once.
  package func open() {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    isOpenNow = true
    pthread_cond_broadcast(condition)
  }

  /// Waits until the latch opens, at most for `timeout`.
  /// - Returns: whether it is open.
  package func wait(for timeout: Duration) -> Bool {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    let nanoseconds = deadline.tv_nsec + Int(timeout.components.attoseconds / 1_000_000_000)
    deadline.tv_sec += Int(timeout.components.seconds) + nanoseconds / 1_000_000_000
    deadline.tv_nsec = nanoseconds % 1_000_000_000
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !isOpenNow, pthread_cond_timedwait(condition, mutex, &deadline) == 0 {}
    return isOpenNow
  }
}
