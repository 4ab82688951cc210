import Glibc

/// A channel without treble: all above some frequency is missing, as a lossy format for loudspeakers leaves it, or it has
/// much less than the others, as a covered port has.
struct Dullness {
  let microphone: Int
  /// In hertz, where the sound ends; nil if it only has less than the others.
  let edge: Double?
  /// In decibels: what is missing.
  let missing: Double

  /// - Returns: at most one per microphone, in their order.
  static func found(_ signals: [[Float]], sampleRate: Int) -> [Dullness] {
    let highest = min(Thresholds.trebleTop, Thresholds.highestShare * Double(sampleRate))
    guard highest > 2 * Thresholds.trebleEdges[0] else { return [] }
    let part = signals.map { Array($0.prefix(Thresholds.trebleDuration * sampleRate)) }
    let spectra = ShortTimeSpectra(part, sampleRate: sampleRate, highest: highest)
    guard spectra.frames > 0 else { return [] }
    /// Mean over all frames, in decibels for each hertz.
    func density(_ m: Int, _ band: ClosedRange<Double>) -> Double {
      let bins = spectra.bins(in: band)
      let sum = (0..<spectra.frames).reduce(0.0) { $0 + Double(spectra.power($1, m, in: bins)) }
      return 10 * log10(max(1e-30, sum / Double(spectra.frames * max(1, bins.count))))
    }
    let treble = signals.indices.map { m in
      density(m, Thresholds.trebleFrom...highest) - density(m, Thresholds.trebleReference)
    }
    // Of two, one is compared with the other.
    let usual = signals.count == 2 ? treble.max()! : median(treble)
    return signals.indices.compactMap { m in
      let edges = Thresholds.trebleEdges.filter { 1.6 * $0 < highest }.map { (edge) -> (Double, Double) in
        let below = density(m, 0.7 * edge...0.95 * edge)
        // Where there is only the slope above the bass, no sound ends.
        guard below > density(m, Thresholds.trebleReference) - Thresholds.trebleBelow else {
          return (edge, 0)
        }
        return (edge, below - max(density(m, 1.15 * edge...1.4 * edge), density(m, 1.15 * edge...highest)))
      }
      if let (edge, fall) = edges.max(by: { $0.1 < $1.1 }), fall > Thresholds.trebleFall {
        return Dullness(microphone: m, edge: edge, missing: fall)
      }
      let missing = usual - treble[m]
      return missing > Thresholds.trebleLoss ? Dullness(microphone: m, edge: nil, missing: missing) : nil
    }
  }
}
