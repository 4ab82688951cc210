import Glibc
import Messages
import Processor
import Settings

/// Runs calls that wait for the JACK server on threads of their own, with a time limit, because a frozen server never
/// answers.
///
/// Thread: any but JACK's own.
package struct ServerRequests: Sendable {
  /// Equals the limit for opening a client in `pinna run` (`ProcessorState.Kind.limit`).
  private static let patience = Duration.seconds(10)
  /// Time that remains after INT or TERM.
  private static let lastPatience = Duration.seconds(2)

  /// Requests to stop, which shorten the wait.
  private let stops: StopCount

  package init(stops: StopCount) { self.stops = stops }

  /// Runs `work` and waits for its result.
  /// - Parameter patience: the longest wait; 10 s if nil.
  /// - Throws: the failure of `work`; status `noServer` if it takes longer.
  package func ask<Value: Sendable>(
    within patience: Duration? = nil, _ work: @escaping @Sendable () throws -> Value
  ) throws(Failure) -> Value {
    let job = Job<Value>.start("pinna asks JACK") { _ in try work() }
    var end = ContinuousClock.now + (patience ?? Self.patience)
    var isStopping = false
    while .now < end {
      if let result = job.result { return try result.get() }
      if !isStopping, stops.count > 0 {
        isStopping = true
        end = min(end, .now + Self.lastPatience)
      }
      usleep(1000)
    }
    // If `work` opens a client later, that client closes when its last reference is released.
    job.abandon()
    throw Failure(.noServer, "the JACK server does not answer; start it again, then try once more")
  }
}
