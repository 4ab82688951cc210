import CFiles
import Glibc
import Synchronization

/// A thread that waits for the disk, so that no other has to.
enum DiskThread {
  /// - Returns: 0, or why there is no thread, as `errno` says it.
  static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Int32 {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    // Encoders put their tables there.
    pthread_attr_setstacksize(&attributes, 4 << 20)
    let job = Unmanaged.passRetained(Job(name: name, body: body))
    var thread = pthread_t()
    let fault = pthread_create(
      &thread, &attributes,
      { job in
        let job = Unmanaged<Job>.fromOpaque(job!).takeRetainedValue()
        pinna_name_thread(job.name)
        // A write past the limit of file size is then an error, EFBIG, which the take tells of. How signals are treated
        // elsewhere is for the program to say.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGXFSZ)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        job.body()
        return nil
      }, job.toOpaque())
    if fault != 0 { job.release() }
    return fault
  }

  /// - Parameter fault: of `start`.
  static func failure(_ fault: Int32, _ what: String) -> TakeError {
    // The system does not say which.
    TakeError(
      "\(what): no memory for another thread, or too many threads (\(String(cString: strerror(fault))))")
  }

  private final class Job: Sendable {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }
}

/// How long a disk thread has been inside one operation. The thread writes, anyone reads; nobody waits.
final class DiskWatch: Sendable {
  /// Nanoseconds on the monotonic clock; 0 while nothing is asked of the disk.
  private let since = Atomic<Int>(0)

  private static var now: Int {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec * 1_000_000_000 + now.tv_nsec
  }

  /// The disk is asked for something; what was asked for before it has done.
  func ask() { since.store(Self.now, ordering: .relaxed) }

  /// The disk has done everything that was asked for.
  func rest() { since.store(0, ordering: .relaxed) }

  var unansweredFor: Duration {
    let since = since.load(ordering: .relaxed)
    return since == 0 ? .zero : .nanoseconds(max(0, Self.now - since))
  }
}
