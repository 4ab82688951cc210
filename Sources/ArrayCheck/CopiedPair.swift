import Glibc

/// Two channels that carry the same signal, up to gain and a few frames of delay.
struct CopiedPair {
  let a: Int
  let b: Int
  /// What is left of one channel after the other is taken off, in dB.
  let residual: Double

  static func found(_ signals: [[Float]]) -> [CopiedPair] {
    let parts = signals.map(difference(of:))
    let range = loudest(parts)
    guard range.count > 1000 else { return [] }
    let energy = parts.map { part in range.reduce(0.0) { $0 + Double(part[$1]) * Double(part[$1]) } }
    return pairs(parts.count).filter { energy[$0.0] > 0 && energy[$0.1] > 0 }.compactMap { a, b in
      let rest = rest(of: parts[a], without: parts[b], energy: energy[a], range)
      let residual = 10 * log10(max(rest, 1e-15))
      return residual < Thresholds.copyResidual ? CopiedPair(a: b, b: a, residual: residual) : nil
    }
  }

  /// Share of the energy of `x` that no delay of `y` explains.
  private static func rest(of x: [Float], without y: [Float], energy: Double, _ range: Range<Int>) -> Double {
    Thresholds.copyLags.map { lag in
      x.withUnsafeBufferPointer { x in
        y.withUnsafeBufferPointer { y in
          var (dot, other) = (0.0, 0.0)
          for n in range {
            dot += Double(x[n]) * Double(y[n + lag])
            other += Double(y[n + lag]) * Double(y[n + lag])
          }
          return other > 0 ? 1 - dot * dot / (energy * other) : .infinity
        }
      }
    }.min()!
  }

  /// High frequencies count more: at low ones neighbours agree.
  private static func difference(of signal: [Float]) -> [Float] {
    zip(signal, [0] + signal.dropLast()).map { $0 - $1 }
  }

  /// The loudest stretch, in the sum of all signals' energies, as far as every lag stays within the signals.
  private static func loudest(_ signals: [[Float]]) -> Range<Int> {
    let (block, stretch) = (8192, 4)
    let (lags, count) = (Thresholds.copyLags, signals[0].count)
    let blocks = count / block
    let energy = (0..<blocks).map { k in
      signals.reduce(0.0) { sum, signal in
        signal[k * block..<(k + 1) * block].reduce(sum) { $0 + Double($1) * Double($1) }
      }
    }
    var first = 0
    if blocks > stretch {
      let sums = (0...blocks - stretch).map { (k: Int) -> Double in energy[k..<(k + stretch)].reduce(0, +) }
      first = sums.indices.max { sums[$0] < sums[$1] }!
    }
    let begin = block * first + lags.upperBound
    return begin..<max(begin, min(block * (first + stretch), count + lags.lowerBound))
  }
}
