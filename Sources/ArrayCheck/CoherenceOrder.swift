import Acoustics
import Manifolds

/// The order of the channels by the coherence of every pair: neighbours agree more than distant microphones, in
/// reverberation and in noise from all around. It speaks where the delays of events do not: a talker at broadside.
struct CoherenceOrder {
  /// Mean magnitude of the coherence of every pair over the band; the whole recording, then its parts.
  private let measured: [[[Double]]]
  /// The same in diffuse sound, by the model.
  private let model: [[Double]]

  private static let lowest = 200.0
  /// The band ends where microphones at the median distance no longer agree, within these limits.
  private static let highest = 1000.0...4000.0
  private static let parts = 3
  /// An order is believed from this correlation between measured and modelled coherences on.
  private static let leastCorrelation = 0.95
  /// And if it correlates better than the order as given by this much.
  static let leastGain = 0.04
  /// An exchange of two channels is ruled out if it correlates worse by this much.
  static let leastLoss = 0.01

  init(_ spectra: ShortTimeSpectra, manifold: any ArrayManifold) {
    let size = spectra.microphones
    let positions = manifold.positions
    let distances = (0..<size).flatMap { i in (0..<i).map { (positions[i] - positions[$0]).length } }
    let top = min(
      Self.highest.upperBound, max(Self.highest.lowerBound, 0.9 * speedOfSound / max(1e-3, median(distances)))
    )
    let all = Array(spectra.bins(in: Self.lowest...top))
    let bins = stride(from: 0, to: all.count, by: max(1, all.count / 40)).map { all[$0] }
    let diffuse = DiffuseCoherence(manifold, frequencies: bins.map { Double($0) * spectra.binWidth })
    var model = [[Double]](repeating: [Double](repeating: 0, count: size), count: size)
    for i in 0..<size {
      for j in 0..<i {
        let sum = bins.indices.reduce(0) { $0 + diffuse.value($1, i, j).magnitude }
        model[i][j] = sum / Double(max(1, bins.count))
        model[j][i] = model[i][j]
      }
    }
    self.model = model
    // Loud frames only: between words there is the noise of the microphones.
    let powers = (0..<spectra.frames).map { frame in
      bins.reduce(Float(0)) { $0 + spectra.power(frame, 0, $1) }
    }
    let threshold = 0.1 * powers.reduce(0, +) / Float(max(1, powers.count))
    let frames = powers.indices.filter { powers[$0] > threshold }
    let ranges =
      [0..<frames.count]
      + (0..<Self.parts).map { $0 * frames.count / Self.parts..<($0 + 1) * frames.count / Self.parts }
    measured = ranges.map { range in
      var matrix = [[Double]](repeating: [Double](repeating: 0, count: size), count: size)
      for i in 0..<size {
        for j in 0..<i {
          var total = 0.0
          for bin in bins {
            var (re, im, a, b): (Float, Float, Float, Float) = (0, 0, 0, 0)
            for frame in frames[range] {
              let (x, y) = (spectra.index(frame, i) + bin, spectra.index(frame, j) + bin)
              let (p, q) = (spectra.power(frame, i, bin), spectra.power(frame, j, bin))
              // Every frame counts the same, however loud.
              let scale = 1 / max(1e-20, p + q)
              re += scale * (spectra.re[x] * spectra.re[y] + spectra.im[x] * spectra.im[y])
              im += scale * (spectra.im[x] * spectra.re[y] - spectra.re[x] * spectra.im[y])
              a += scale * p
              b += scale * q
            }
            total += Double((re * re + im * im).squareRoot() / max(1e-20, (a * b).squareRoot()))
          }
          matrix[i][j] = total / Double(max(1, bins.count))
          matrix[j][i] = matrix[i][j]
        }
      }
      return matrix
    }
  }

  /// Correlation of measured and modelled coherences under an order, 0 if all pairs are alike.
  func correlation(_ order: [Int], part: Int = 0) -> Double {
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
    return prefers(best, to: given, by: Self.leastGain) ? best : nil
  }

  /// Whether the coherences speak for `order` and against it with two channels exchanged.
  func rulesOut(exchanging i: Int, _ j: Int, of order: [Int]) -> Bool {
    var other = order
    other.swapAt(i, j)
    return prefers(order, to: other)
  }

  /// Whether the coherences speak clearly for `order` and against `other`.
  func prefers(_ order: [Int], to other: [Int], by least: Double = leastLoss) -> Bool {
    let own = correlation(order)
    return own > Self.leastCorrelation && own - correlation(other) > least
      && (1...Self.parts).allSatisfy { correlation(order, part: $0) > correlation(other, part: $0) }
  }

  /// Exchanges two channels as long as that helps, from several starts.
  private func search() -> [Int] {
    let size = model.count
    let identity = Array(0..<size)
    var random = SplitMix(state: 3)
    let starts = [identity] + (0..<24).map { _ in identity.shuffled(using: &random) }
    var best = (order: identity, value: correlation(identity))
    for start in starts {
      var (order, value) = (start, correlation(start))
      while true {
        var top: (order: [Int], value: Double)?
        for i in 0..<size {
          for j in 0..<i {
            var next = order
            next.swapAt(i, j)
            let correlation = correlation(next)
            if correlation > (top?.value ?? value) + 1e-12 { top = (next, correlation) }
          }
        }
        guard let top else { break }
        (order, value) = top
      }
      if value > best.value + 1e-9 { best = (order, value) }
    }
    return best.order
  }
}
