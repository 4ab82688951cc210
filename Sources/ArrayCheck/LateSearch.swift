/// A microphone whose sound comes late or early by a constant time, against the others and the geometry.
struct LateSearch {
  struct Candidate {
    let microphone: Int
    /// In seconds; negative if early.
    let delay: Double
    let comparison: Comparison
  }

  /// All microphones that explain the events better with a delay, the best first.
  let candidates: [Candidate]

  static let leastGain = 0.006
  /// The same where single waves explain little: in noise from all around.
  static let leastGainWithoutDirections = 0.02
  static let leastCertainty = 5.0
  /// In seconds. What 10 mm do is below.
  static let leastDelay = 40e-6
  /// The same where sound came from one direction only: a microphone 3 cm from its place looks alike.
  static let leastDelayOneSided = 100e-6
  private static let coarse = 55e-6
  private static let reach = 6
  private static let fine = 9e-6

  init(_ given: SteeredPowers, frequencies: [Double], microphones: Int) {
    var candidates: [Candidate] = []
    func mean(_ scores: [Float]) -> Float { scores.reduce(0, +) }
    for m in 0..<microphones {
      func scores(_ delay: Double) -> [Float] {
        given.scores(channel: m, advance: delay, frequencies: frequencies)
      }
      let delays = (-Self.reach...Self.reach).filter { $0 != 0 }.map { Double($0) * Self.coarse }
      let rough = delays.map { ($0, mean(scores($0))) }.max { $0.1 < $1.1 }!
      guard rough.1 > mean(given.scores) * 0.99 else { continue }
      var best = rough
      for n in -3...3 where n != 0 {
        let delay = rough.0 + Double(n) * Self.fine
        let value = mean(scores(delay))
        if value > best.1 { best = (delay, value) }
      }
      let comparison = Comparison(given.scores, scores(best.0))
      if comparison.gain > 0 {
        candidates.append(Candidate(microphone: m, delay: best.0, comparison: comparison))
      }
    }
    self.candidates = candidates.sorted { $0.comparison.gain > $1.comparison.gain }
  }
}
