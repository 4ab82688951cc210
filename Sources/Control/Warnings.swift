/// What is wrong with what comes in, a sentence each. A sentence counts when it has been true for as long as it
/// takes to be sure. It is told once, and again only after it has not counted for ten seconds.
struct Warnings {
  struct Suspicion {
    let sentence: String
    /// How long it must hold.
    let patience: Duration
    /// It has been told as an event already.
    var isTold = false
  }

  /// How long a sentence must not have counted before it is told again.
  private static let quiet = Duration.seconds(10)

  /// Sentences in force, in the order in which they began.
  private(set) var current: [String] = []
  private var since: [String: ContinuousClock.Instant] = [:]
  /// When what was told counted last.
  private var told: [String: ContinuousClock.Instant] = [:]

  /// Takes in what seems wrong now; returns what began to count and is to be told.
  mutating func update(_ suspicions: [Suspicion], now: ContinuousClock.Instant) -> [String] {
    let sentences = Set(suspicions.map(\.sentence))
    since = since.filter { sentences.contains($0.key) }
    current.removeAll { !sentences.contains($0) }
    var toTell: [String] = []
    for suspicion in suspicions where !current.contains(suspicion.sentence) {
      let start = since[suspicion.sentence] ?? now
      since[suspicion.sentence] = start
      guard now - start >= suspicion.patience else { continue }
      current.append(suspicion.sentence)
      if !suspicion.isTold, told[suspicion.sentence] == nil { toTell.append(suspicion.sentence) }
    }
    for sentence in current { told[sentence] = now }
    told = told.filter { now - $0.value < Self.quiet }
    return toTell
  }
}
