import Synchronization

/// Counts requests to stop: the signals INT and TERM.
///
/// Thread: any.
package final class StopCount: Sendable {
  private let value = Atomic<Int>(0)

  package init() {}

  /// Counts another request.
  /// - Returns: the number of requests so far.
  @discardableResult
  package func next() -> Int { value.wrappingAdd(1, ordering: .relaxed).newValue }
  package var count: Int { value.load(ordering: .relaxed) }
}
