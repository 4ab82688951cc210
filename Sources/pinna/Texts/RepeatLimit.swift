/// Keeps a repeated sentence from filling a log. Within ten seconds it is written three times at most. The number of
/// suppressed repetitions is reported when the sentence occurs again later, or at the end.
package struct RepeatLimit {
  package static let window = Duration.seconds(10)
  /// How often a sentence is written within `window`.
  package static let most = 3
  /// Maximum number of sentences that are tracked.
  private static let capacity = 64

  private var seen: [String: (start: ContinuousClock.Instant, count: Int)] = [:]

  package init() {}

  /// - Returns: the lines to write now; none if `sentence` was repeated too often.
  package mutating func admit(_ sentence: String, at now: ContinuousClock.Instant) -> [String] {
    if let entry = seen[sentence], now - entry.start < Self.window {
      seen[sentence]!.count += 1
      return entry.count < Self.most ? [sentence] : []
    }
    let summary = seen.removeValue(forKey: sentence).flatMap { Self.summary(sentence, $0.count) }
    var lines = [summary].compactMap(\.self)
    if seen.count >= Self.capacity { lines += forget { now - $0 >= Self.window } }
    if seen.count >= Self.capacity { lines += forget { _ in true } }
    seen[sentence] = (now, 1)
    return lines + [sentence]
  }

  /// The suppressed repetitions that were not reported yet.
  package mutating func rest() -> [String] { forget { _ in true } }

  private mutating func forget(_ isOld: (ContinuousClock.Instant) -> Bool) -> [String] {
    let old = seen.filter { isOld($0.value.start) }.sorted { $0.value.start < $1.value.start }
    for (sentence, _) in old { seen[sentence] = nil }
    return old.compactMap { Self.summary($0.key, $0.value.count) }
  }

  private static func summary(_ sentence: String, _ count: Int) -> String? {
    count > most ? "\(sentence) (\(count - most) times more)" : nil
  }
}
