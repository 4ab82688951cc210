import CFiles
import Glibc

/// Threads that nobody joins: they end with their work.
package enum BackgroundThread {
  /// Runs `body` on a thread of its own.
  ///
  /// On that thread, a write to somebody who has gone, or beyond the limit of file size, is an error (EPIPE, EFBIG), and
  /// does not end the program. The signals stay the program's business on every other thread.
  /// - Parameter name: what `top` shows; the first 15 bytes count.
  package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(NoThread) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    // Half of what is usual; the encoders of sound files take the most.
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

  private final class Work: Sendable {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }
}

/// The system gives no further thread.
package struct NoThread: Error, CustomStringConvertible {
  /// As `errno` would say it.
  package let fault: Int32

  // The system does not say which of the two it is.
  package var description: String {
    "no memory for another thread, or too many threads (\(String(cString: strerror(fault))))"
  }
}
