import Control
import Glibc
import Threads

/// Signals as items of a mailbox: blocked in all threads that start afterwards, and waited for on one.
enum MonitorSignals {
  /// Thread: main thread, before others start.
  static func start() throws(Failure) -> Mailbox<Int32> {
    guard let mailbox = Mailbox<Int32>() else { throw Failure(.failed, "there are no file descriptors left") }
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP] { sigaddset(&signals, number) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    do {
      try BackgroundThread.start("monitor-signal") { [signals] in
        var signals = signals
        while true {
          var number: Int32 = 0
          if sigwait(&signals, &number) == 0 { mailbox.put(number) }
        }
      }
    } catch { throw Failure(error) }
    return mailbox
  }
}
