import Text

/// The current warnings, one sentence each. A candidate becomes a warning after it has held for its `holdTime`. A
/// warning is written once, and again only after it has been absent for 10 s.
struct Warnings {
  /// A condition that holds now.
  struct Candidate {
    let sentence: String
    /// How long the condition must hold before it becomes a warning.
    let holdTime: Duration
    /// Whether it has been reported as an event already, and needs no line of its own.
    let isReported: Bool

    init(_ sentence: String, after holdTime: Duration = .zero, isReported: Bool = false) {
      self.sentence = sentence.printable
      self.holdTime = holdTime
      self.isReported = isReported
    }
  }

  /// How long a warning must have been absent before it is written again.
  private static let repeatInterval = Duration.seconds(10)

  /// Current warnings, in the order in which they began.
  private(set) var current: [String] = []
  private var candidateSince: [String: ContinuousClock.Instant] = [:]
  /// When each recent warning was last current.
  private var lastCurrent: [String: ContinuousClock.Instant] = [:]

  /// Whether a candidate may become a warning soon.
  var isDeciding: Bool { candidateSince.count > current.count }

  /// Replaces the candidates.
  /// - Returns: the sentences to write now.
  mutating func update(_ candidates: [Candidate], now: ContinuousClock.Instant) -> [String] {
    let sentences = Set(candidates.map(\.sentence))
    candidateSince = candidateSince.filter { sentences.contains($0.key) }
    current.removeAll { !sentences.contains($0) }
    var toWrite: [String] = []
    for candidate in candidates where !current.contains(candidate.sentence) {
      let start = candidateSince[candidate.sentence] ?? now
      candidateSince[candidate.sentence] = start
      guard now - start >= candidate.holdTime else { continue }
      current.append(candidate.sentence)
      if !candidate.isReported, lastCurrent[candidate.sentence] == nil { toWrite.append(candidate.sentence) }
    }
    for sentence in current { lastCurrent[sentence] = now }
    lastCurrent = lastCurrent.filter { now - $0.value < Self.repeatInterval }
    return toWrite
  }
}
