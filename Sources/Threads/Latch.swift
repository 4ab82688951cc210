import Glibc

/// Opened once; threads wait until then, or until a deadline on the monotonic clock. The deadlines of Dispatch's semaphores
/// follow the wall clock on Linux: where that jumps an hour, they come an hour early or late.
package final class Latch: @unchecked Sendable {
  // Unchecked: `isOpenNow` is reached through the mutex alone.
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

  /// Lets every thread that waits go on, and whoever comes later.
  package func open() {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    isOpenNow = true
    pthread_cond_broadcast(condition)
  }

  /// Waits up to `patience`.
  /// - Returns: whether it is open.
  package func wait(for patience: Duration) -> Bool {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    let nanoseconds = deadline.tv_nsec + Int(patience.components.attoseconds / 1_000_000_000)
    deadline.tv_sec += Int(patience.components.seconds) + nanoseconds / 1_000_000_000
    deadline.tv_nsec = nanoseconds % 1_000_000_000
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !isOpenNow, pthread_cond_timedwait(condition, mutex, &deadline) == 0 {}
    return isOpenNow
  }
}
