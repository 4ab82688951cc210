import Dispatch
import Glibc
import JackTools
import Messages
import Processor
import Settings
import Synchronization

/// Handles the signals of the tool's process.
enum Signals {
  nonisolated(unsafe) private static var sources: [DispatchSourceSignal] = []

  /// Ignores HUP and USR1 until `listen`, so that they do not end the process while it starts.
  static func ignoreEarly() {
    for number in [SIGHUP, SIGUSR1] { signal(number, SIG_IGN) }
  }

  /// Installs the handlers of `pinna run`: INT and TERM finalise a take and stop, and a second one exits at once; HUP
  /// reloads the preset, unless it comes because the terminal was closed; USR1 prints the status. Call it once, from the
  /// main thread.
  static func listen(_ events: ControllerEvents) {
    onStop { events.requestStop() }
    let hadTerminal = Mutex(hasTerminal)
    on(SIGHUP) {
      guard hadTerminal.withLock({ $0 }) else { return events.requestReload() }
      // Shells and terminals send it before the terminal is gone.
      DispatchQueue.global().asyncAfter(deadline: .now() + 1) {
        if hasTerminal { return events.requestReload() }
        // The next one is somebody's wish.
        hadTerminal.withLock { $0 = false }
      }
    }
    on(SIGUSR1) { events.requestStatus() }
  }

  /// Whether this process has a controlling terminal.
  private static var hasTerminal: Bool {
    let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    if terminal >= 0 { close(terminal) }
    return terminal >= 0
  }

  /// Calls `request` on the first INT or TERM; the second one exits at once. Call it once, from the main thread.
  /// - Parameter hearsHangup: whether a terminal that is closed stops it, too, unless it was started with nohup.
  static func onStop(hearsHangup: Bool = false, _ request: @escaping @Sendable () -> Void) {
    let count = StopCount()
    for number in [SIGINT, SIGTERM] + (hearsHangup && !isHangupIgnored ? [SIGHUP] : []) {
      on(number) {
        // Output is not flushed: a reader that does not read may be why the first signal had no effect.
        if count.next() > 1 { _exit(ExitStatus.failed.rawValue) }
        request()
      }
    }
  }

  /// Dispatch hears a signal that is ignored, too.
  private static var isHangupIgnored: Bool {
    var present = sigaction()
    sigaction(SIGHUP, nil, &present)
    return unsafeBitCast(present.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// From its return on no signal is lost. Dispatch installs its handler on another thread.
  private static func on(_ number: Int32, _ action: @escaping @Sendable () -> Void) {
    let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
    let isInstalled = DispatchSemaphore(value: 0)
    source.setEventHandler(handler: DispatchWorkItem(block: action))
    source.setRegistrationHandler { isInstalled.signal() }
    source.resume()
    sources.append(source)
    _ = isInstalled.wait(timeout: .now() + 1)
  }
}
