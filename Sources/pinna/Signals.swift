import Control
import Foundation
import Synchronization

/// What the tool's process is told by signals.
enum Signals {
  nonisolated(unsafe) private static var sources: [DispatchSourceSignal] = []

  /// INT and TERM finalise a take and leave, a second one forces; HUP reloads the preset; USR1 prints status.
  /// Once, from the main thread.
  static func listen(_ events: ControllerEvents) {
    onStop { events.requestStop() }
    on(SIGHUP) { events.requestReload() }
    on(SIGUSR1) { events.requestStatus() }
  }

  /// INT and TERM ask for an orderly end; a second one forces. Once, from the main thread.
  static func onStop(_ request: @escaping @Sendable () -> Void) {
    let count = SignalCount()
    for number in [SIGINT, SIGTERM] {
      on(number) {
        if count.next() > 1 { exit(ExitStatus.failed.rawValue) }
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

/// Counts signals.
final class SignalCount: Sendable {
  private let value = Atomic<Int>(0)
  @discardableResult
  func next() -> Int { value.wrappingAdd(1, ordering: .relaxed).newValue }
  var count: Int { value.load(ordering: .relaxed) }
}
