/// Keeps a sentence that comes again and again from filling a log: three of the same within ten seconds are let
/// through, the others are counted, and told when it comes again later, or at the end.
package struct RepeatLimit {
  package static let window = Duration.seconds(10)
  package static let most = 3
  /// Sentences that are remembered.
  private static let capacity = 64

  private var seen: [String: (start: ContinuousClock.Instant, count: Int)] = [:]

  package init() {}

  /// - Returns: what is to be written now; nothing where `sentence` has come too often.
  package mutating func admit(_ sentence: String, at now: ContinuousClock.Instant) -> [String] {
    if let known = seen[sentence], now - known.start < Self.window {
      seen[sentence]!.count += 1
      return known.count < Self.most ? [sentence] : []
    }
    let before = seen.removeValue(forKey: sentence).flatMap { Self.summary(sentence, $0.count) }
    var lines = [before].compactMap(\.self)
    if seen.count >= Self.capacity { lines += forget { now - $0 >= Self.window } }
    if seen.count >= Self.capacity { lines += forget { _ in true } }
    seen[sentence] = (now, 1)
    return lines + [sentence]
  }

  /// What was kept back and not told yet.
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
