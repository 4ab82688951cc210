import Synchronization

/// Counts requests to stop: INT and TERM.
///
/// Threads: any.
package final class StopCount: Sendable {
  private let value = Atomic<Int>(0)

  package init() {}

  @discardableResult
  package func next() -> Int { value.wrappingAdd(1, ordering: .relaxed).newValue }
  package var count: Int { value.load(ordering: .relaxed) }
}
