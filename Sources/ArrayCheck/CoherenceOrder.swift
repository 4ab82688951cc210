import Acoustics
import Manifolds
import Numerics

/// The order of the channels by the coherence of every pair: neighbours agree more than distant microphones, in
/// reverberation and in noise from all around. It speaks where the delays of events do not: a talker at broadside.
struct CoherenceOrder {
  /// Mean magnitude of the coherence of every pair over the band; the whole recording, then its parts.
  private let measured: [[[Double]]]
  /// The same in diffuse sound, by the model.
  private let model: [[Double]]

  private static let parts = 3

  init(_ spectra: ShortTimeSpectra, manifold: any ArrayManifold) {
    let bins = Self.bins(spectra, manifold.positions)
    let size = spectra.microphones
    let count = Double(max(1, bins.count))
    let diffuse = DiffuseCoherence(manifold, frequencies: bins.map { Double($0) * spectra.binWidth })
    model = symmetric(size) { i, j in
      bins.indices.reduce(0) { $0 + diffuse.value($1, i, j).magnitude } / count
    }
    let frames = Self.loudFrames(spectra, bins)
    let parts = (0..<Self.parts).map { n in
      frames[n * frames.count / Self.parts..<(n + 1) * frames.count / Self.parts]
    }
    measured = ([frames[...]] + parts).map { part in
      symmetric(size) { i, j in
        bins.reduce(0) { $0 + spectra.coherence(i, j, bin: $1, frames: part) } / count
      }
    }
  }

  /// Some 40 to 80 bins, up to where microphones at the median distance no longer agree.
  private static func bins(_ spectra: ShortTimeSpectra, _ positions: [Position]) -> [Int] {
    let distances = pairs(positions.count).map { (positions[$0] - positions[$1]).length }
    let limits = Thresholds.coherenceTop
    let top = min(
      limits.upperBound, max(limits.lowerBound, 0.9 * speedOfSound / max(1e-3, median(distances))))
    let all = Array(spectra.bins(in: Thresholds.coherenceBottom...top))
    return stride(from: 0, to: all.count, by: max(1, all.count / 40)).map { all[$0] }
  }

  /// Between words there is the noise of the microphones.
  private static func loudFrames(_ spectra: ShortTimeSpectra, _ bins: [Int]) -> [Int] {
    let powers = (0..<spectra.frames).map { spectra.power($0, 0, in: bins) }
    let threshold = Thresholds.loudFrame * powers.reduce(0, +) / Float(max(1, powers.count))
    return powers.indices.filter { powers[$0] > threshold }
  }

  /// Correlation of measured and modelled coherences under an order, 0 if all pairs are alike.
  private func correlation(_ order: [Int], part: Int = 0) -> Double {
    var (x, y, xx, yy, xy, count) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in order.indices {
      for j in 0..<i {
        let (a, b) = (measured[part][i][j], model[order[i]][order[j]])
        (x, y, xx, yy, xy, count) = (x + a, y + b, xx + a * a, yy + b * b, xy + a * b, count + 1)
      }
    }
    let spread = ((count * xx - x * x) * (count * yy - y * y)).squareRoot()
    return spread > 1e-9 ? (count * xy - x * y) / spread : 0
  }

  /// The best order, if the coherences speak clearly for it and against `given`, in every part of the recording.
  func better(than given: [Int]) -> [Int]? {
    guard given.count > 3 else { return nil }
    let best = search()
    return prefers(best, to: given, by: Thresholds.coherenceGain) ? best : nil
  }

  /// Whether the coherences speak clearly for `order` and against `other`.
  func prefers(_ order: [Int], to other: [Int], by least: Double = Thresholds.coherenceLoss) -> Bool {
    let own = correlation(order)
    return own > Thresholds.leastCorrelation && own - correlation(other) > least
      && (1...Self.parts).allSatisfy { correlation(order, part: $0) > correlation(other, part: $0) }
  }

  /// The best order that is reached from several starts.
  private func search() -> [Int] {
    let identity = Array(model.indices)
    var random = SplitMix64(state: 3)
    let starts = [identity] + (0..<24).map { _ in identity.shuffled(using: &random) }
    var best = (order: identity, value: correlation(identity))
    for start in starts {
      let order = start.climbing(least: 1e-12) { order in
        let own = correlation(order)
        return { correlation(order.exchanging($0, $1)) - own }
      }
      let value = correlation(order)
      if value > best.value + 1e-9 { best = (order, value) }
    }
    return best.order
  }
}
