import Control
import Foundation

/// Asks the JACK server what may wait for it: on a thread of its own, since a server that is frozen never answers.
package struct ServerRequests: Sendable {
  /// As long as a run waits for a server to let it in.
  private static let patience = Duration.seconds(10)
  /// After INT or TERM.
  private static let lastPatience = Duration.seconds(2)

  /// Counts what is to end this early.
  private let stops: StopCount

  package init(stops: StopCount) { self.stops = stops }

  package func ask<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) throws(Failure) -> Value {
    let job = Job<Value>.start("pinna asks JACK") { _ in try work() }
    var end = ContinuousClock.now + Self.patience
    var isStopping = false
    while .now < end {
      if let result = job.result { return try result.get() }
      if !isStopping, stops.count > 0 {
        isStopping = true
        end = min(end, .now + Self.lastPatience)
      }
      usleep(1000)
    }
    // A client that is opened all the same closes with its last reference.
    job.abandon()
    throw Failure(.noServer, "the JACK server does not answer; start it again, then try once more")
  }
}
