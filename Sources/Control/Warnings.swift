/// What is wrong with what comes in, a sentence each. A sentence counts when it has been true for as long as it
/// takes to be sure, and is told once, until it has not been true for as long.
struct Warnings {
  struct Suspicion {
    let sentence: String
    /// How long it must hold.
    let patience: Duration
  }

  /// Sentences in force, in the order in which they began.
  private(set) var current: [String] = []
  private var since: [String: ContinuousClock.Instant] = [:]

  /// Takes in what seems wrong now; returns what began to count.
  mutating func update(_ suspicions: [Suspicion], now: ContinuousClock.Instant) -> [String] {
    let sentences = Set(suspicions.map(\.sentence))
    since = since.filter { sentences.contains($0.key) }
    current.removeAll { !sentences.contains($0) }
    var begun: [String] = []
    for suspicion in suspicions where !current.contains(suspicion.sentence) {
      let start = since[suspicion.sentence] ?? now
      since[suspicion.sentence] = start
      if now - start >= suspicion.patience { begun.append(suspicion.sentence) }
    }
    current += begun
    return begun
  }
}
