import Control
import Foundation
import JackTools

/// What the tool's process is told by signals.
enum Signals {
  nonisolated(unsafe) private static var sources: [DispatchSourceSignal] = []

  /// Before `listen`: there is nothing yet to reload or to tell of, and neither signal is to end the process.
  static func ignoreEarly() {
    for number in [SIGHUP, SIGUSR1] { signal(number, SIG_IGN) }
  }

  /// INT and TERM finalise a take and leave, a second one forces; HUP reloads the preset; USR1 prints status.
  /// Once, from the main thread.
  static func listen(_ events: ControllerEvents) {
    onStop { events.requestStop() }
    on(SIGHUP) { events.requestReload() }
    on(SIGUSR1) { events.requestStatus() }
  }

  /// INT and TERM ask for an orderly end; a second one forces. Once, from the main thread.
  static func onStop(_ request: @escaping @Sendable () -> Void) {
    let count = StopCount()
    for number in [SIGINT, SIGTERM] {
      on(number) {
        // Nothing is flushed: whoever should read it may be why the first one led to nothing.
        if count.next() > 1 { _exit(ExitStatus.failed.rawValue) }
        request()
      }
    }
  }

  private static func on(_ number: Int32, _ action: @escaping @Sendable () -> Void) {
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
    source.setEventHandler(handler: DispatchWorkItem(block: action))
    source.resume()
    sources.append(source)
  }
}
