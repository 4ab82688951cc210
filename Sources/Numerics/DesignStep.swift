import Synchronization

/// A step of a design: reports how far it is, and throws where the design was cancelled. Every loop that may take
/// more than a tenth of a second calls one of its methods each time around.
package struct DesignStep: Sendable {
  private let cancellation: DesignCancellation?
  private let report: (@Sendable (Double) -> Void)?

  /// Reports to nobody, and is never cancelled.
  package static let unobserved = DesignStep()

  /// - Parameter report: called with what part of the step is done, 0…1.
  package init(
    cancellation: DesignCancellation? = nil, report: (@Sendable (Double) -> Void)? = nil
  ) {
    self.cancellation = cancellation
    self.report = report
  }

  package func check() throws(DesignError) {
    if let cancellation, cancellation.isCancelled { throw .cancelled }
  }

  /// - Parameter part: how much of the step is done, 0…1.
  package func reached(_ part: Double) throws(DesignError) {
    try check()
    report?(part)
  }

  /// The step whose own 0…1 is `range` of this one.
  package func within(_ range: ClosedRange<Double>) -> DesignStep {
    guard let report else { return self }
    return DesignStep(cancellation: cancellation) {
      report(range.lowerBound + (range.upperBound - range.lowerBound) * min(1, max(0, $0)))
    }
  }

  /// A step for each of `weights`, which say how long they take compared with each other. They may be taken in
  /// parallel.
  package func divided(by weights: [Double]) -> [DesignStep] {
    guard let report else { return weights.map { _ in self } }
    let sum = SumOfParts(weights: weights, report: report)
    return weights.indices.map { i in DesignStep(cancellation: cancellation) { sum.set($0, of: i) } }
  }
}

/// How much of several steps is done together; it never falls, and is reported in one call at a time.
private final class SumOfParts: Sendable {
  private let weights: [Double]
  private let report: @Sendable (Double) -> Void
  private let state: Mutex<(parts: [Double], reported: Double)>
  /// Calls come no closer than this.
  private static let grain = 1e-4

  init(weights: [Double], report: @escaping @Sendable (Double) -> Void) {
    let total = max(weights.reduce(0, +), 1e-9)
    self.weights = weights.map { $0 / total }
    self.report = report
    state = Mutex(([Double](repeating: 0, count: weights.count), 0))
  }

  func set(_ part: Double, of index: Int) {
    state.withLock { state in
      state.parts[index] = max(state.parts[index], part)
      let sum = zip(weights, state.parts).reduce(0) { $0 + $1.0 * $1.1 }
      guard sum >= state.reported + Self.grain else { return }
      state.reported = sum
      report(sum)
    }
  }
}
