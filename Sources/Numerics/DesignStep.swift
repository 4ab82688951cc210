import Synchronization

/// Progress and cancellation of one step of a design. Every loop that may take more than 0.1 s calls `reached` or
/// `check` in each iteration.
package struct DesignStep: Sendable {
  private let cancellation: DesignCancellation?
  private let report: (@Sendable (Double) -> Void)?

  /// Reports nothing and is never cancelled.
  package static let unobserved = DesignStep()

  /// - Parameter report: called with the fraction of the step that is done, 0…1.
  package init(
    cancellation: DesignCancellation? = nil, report: (@Sendable (Double) -> Void)? = nil
  ) {
    self.cancellation = cancellation
    self.report = report
  }

  /// Throws if the design was cancelled.
  package func check() throws(DesignError) {
    if let cancellation, cancellation.isCancelled { throw .cancelled }
  }

  /// Reports progress; throws if the design was cancelled.
  /// - Parameter part: the fraction of the step that is done, 0…1.
  package func reached(_ part: Double) throws(DesignError) {
    try check()
    report?(part)
  }

  /// A sub-step whose progress 0…1 is mapped to `range` of this step.
  package func within(_ range: ClosedRange<Double>) -> DesignStep {
    guard let report else { return self }
    return DesignStep(cancellation: cancellation) {
      report(range.lowerBound + (range.upperBound - range.lowerBound) * min(1, max(0, $0)))
    }
  }

  /// Sub-steps whose relative durations are `weights`. They may run in parallel.
  package func divided(by weights: [Double]) -> [DesignStep] {
    guard let report else { return weights.map { _ in self } }
    let sum = CombinedProgress(weights: weights, report: report)
    return weights.indices.map { i in DesignStep(cancellation: cancellation) { sum.set($0, of: i) } }
  }
}

/// The combined progress of several steps. It never decreases; calls of `report` never overlap.
private final class CombinedProgress: Sendable {
  private let weights: [Double]
  private let report: @Sendable (Double) -> Void
  private let state: Mutex<(parts: [Double], reported: Double)>
  /// Smaller increments are not reported.
  private static let minimumIncrement = 1e-4

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
      guard sum >= state.reported + Self.minimumIncrement else { return }
      state.reported = sum
      report(sum)
    }
  }
}
