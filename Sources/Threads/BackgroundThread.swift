import CFiles
import Glibc

/// Detached threads: nobody joins them, and they end with their work.
package enum BackgroundThread {
  /// Runs `body` on a new thread.
  ///
  /// The thread blocks SIGPIPE and SIGXFSZ. A write to a closed socket, or beyond the file size limit, is therefore an
  /// error (EPIPE, EFBIG) and does not end the program. The signal handling of other threads does not change.
  /// - Parameter name: the thread's name in `top`, at most 15 bytes.
  package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(NoThread) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    // Half of the usual 8 MiB. The audio encoders need the most.
    pthread_attr_setstacksize(&attributes, 4 << 20)
    let work = Unmanaged.passRetained(Work(name: name, body: body))
    var thread = pthread_t()
    let fault = pthread_create(
      &thread, &attributes,
      { work in
        let work = Unmanaged<Work>.fromOpaque(work!).takeRetainedValue()
        pinna_name_thread(work.name)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        sigaddset(&signals, SIGXFSZ)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        work.body()
        return nil
      }, work.toOpaque())
    guard fault == 0 else {
      work.release()
      throw NoThread(fault: fault)
    }
  }

  /// Gives this thread, and those that it starts, the lowest priority. Not SCHED_IDLE, under which a cancelled design might
  /// not notice for seconds. Cannot be undone without privileges.
  package static func lowerPriority() { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19) }

  private final class Work: Sendable {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }
}

/// The system could not create a thread.
package struct NoThread: Error, CustomStringConvertible {
  /// An `errno` value.
  package let fault: Int32

  // EAGAIN stands for both causes.
  package var description: String {
    "no memory for another thread, or too many threads (\(String(cString: strerror(fault))))"
  }
}
