import Acoustics
import Glibc

/// When each event reaches each microphone, from cross-correlations of all pairs.
struct DelayVectors {
  /// Covariance of the delays over the events, in seconds squared. Shape: `[microphone][microphone]`.
  let covariance: [[Double]]

  /// - Parameter reach: greatest delay between two microphones in seconds.
  init(_ events: SoundEvents, reach: Double) {
    let (M, F) = (events.microphones, events.frequencies.count)
    let step = 1 / (8 * (events.frequencies.last ?? 4000))
    let half = Int((reach / step).rounded(.up)) + 1
    let lags = (-half...half).map { Double($0) * step }
    let cosines = lags.map { lag in events.frequencies.map { Float(cos(2 * .pi * $0 * lag)) } }
    let sines = lags.map { lag in events.frequencies.map { Float(sin(2 * .pi * $0 * lag)) } }
    var delays: [(times: [Double], closure: Double)] = []
    var (cr, ci) = ([Float](repeating: 0, count: F), [Float](repeating: 0, count: F))
    for e in 0..<events.count {
      var pair = [[Double]](repeating: [Double](repeating: 0, count: M), count: M)
      for m in 0..<M {
        for n in 0..<m {
          for f in 0..<F {
            let (a, b) = ((e * M + m) * F + f, (e * M + n) * F + f)
            cr[f] = events.re[a] * events.re[b] + events.im[a] * events.im[b]
            ci[f] = events.im[a] * events.re[b] - events.re[a] * events.im[b]
          }
          var correlation = [Float](repeating: 0, count: lags.count)
          for l in lags.indices {
            var sum: Float = 0
            for f in 0..<F { sum += cr[f] * cosines[l][f] - ci[f] * sines[l][f] }
            correlation[l] = sum
          }
          let top = correlation.indices.max { correlation[$0] < correlation[$1] }!
          var lag = lags[top]
          if top > 0, top < lags.count - 1 {
            let (a, b, c) = (correlation[top - 1], correlation[top], correlation[top + 1])
            lag += step * Double(0.5 * (a - c) / min(-1e-9, a - 2 * b + c))
          }
          pair[m][n] = lag
          pair[n][m] = -lag
        }
      }
      let times = pair.map { $0.reduce(0, +) / Double(M) }
      var closure = 0.0
      for m in 0..<M { for n in 0..<M { closure += pow(pair[m][n] - times[m] + times[n], 2) } }
      delays.append((times, closure))
    }
    // Delays that do not close around loops were not one wave's.
    let kept = delays.sorted { $0.closure < $1.closure }.prefix(max(6, delays.count / 2))
    var covariance = [[Double]](repeating: [Double](repeating: 0, count: M), count: M)
    for delay in kept {
      for m in 0..<M { for n in 0..<M { covariance[m][n] += delay.times[m] * delay.times[n] } }
    }
    self.covariance = covariance
  }

  /// Orders under which the delays lie best in the span of the geometry, the best first.
  func orders(_ positions: [Position], rank: Int, count: Int) -> [[Int]] {
    let projection = Self.projection(positions, rank: rank)
    return positions.count <= 8
      ? exhaustive(projection, count: count) : climbing(projection, count: count)
  }

  /// Projects delays onto those that plane waves can cause.
  private static func projection(_ positions: [Position], rank: Int) -> [[Double]] {
    let count = positions.count
    let centre = positions.reduce(.zero, +) / Double(count)
    var columns = (0..<3).map { axis in positions.map { $0[axis] - centre[axis] } }
    var basis: [[Double]] = []
    // Gram-Schmidt, the longest column first.
    for _ in 0..<rank {
      columns.sort { norm($0) > norm($1) }
      let length = norm(columns[0])
      guard length > 1e-4 else { break }
      let unit = columns.removeFirst().map { $0 / length }
      basis.append(unit)
      columns = columns.map { column in
        let dot = zip(column, unit).reduce(0) { $0 + $1.0 * $1.1 }
        return zip(column, unit).map { $0 - dot * $1 }
      }
    }
    return (0..<count).map { p in (0..<count).map { q in basis.reduce(0) { $0 + $1[p] * $1[q] } } }
  }

  private static func norm(_ values: [Double]) -> Double { values.reduce(0) { $0 + $1 * $1 }.squareRoot() }

  private func exhaustive(_ projection: [[Double]], count: Int) -> [[Int]] {
    let size = projection.count
    var best: [(order: [Int], value: Double)] = []
    var order: [Int] = []
    var used = [Bool](repeating: false, count: size)
    func extend(_ value: Double) {
      let m = order.count
      guard m < size else {
        guard best.count < count || value > best.last!.value else { return }
        best.insert((order, value), at: best.firstIndex { $0.value < value } ?? best.count)
        if best.count > count { best.removeLast() }
        return
      }
      for p in 0..<size where !used[p] {
        var gain = projection[p][p] * covariance[m][m]
        for n in 0..<m { gain += 2 * projection[p][order[n]] * covariance[m][n] }
        used[p] = true
        order.append(p)
        extend(value + gain)
        order.removeLast()
        used[p] = false
      }
    }
    extend(0)
    return best.map(\.order)
  }

  /// For many microphones: from several starts, exchanges two channels as long as that helps.
  private func climbing(_ projection: [[Double]], count: Int) -> [[Int]] {
    let size = projection.count
    func value(_ order: [Int]) -> Double {
      var sum = 0.0
      for m in 0..<size { for n in 0..<size { sum += projection[order[m]][order[n]] * covariance[m][n] } }
      return sum
    }
    var random = SplitMix(state: 1)
    var found: [[Int]: Double] = [:]
    let identity = Array(0..<size)
    let shifts = [1, size - 1].map { shift in identity.map { ($0 + shift) % size } }
    let starts =
      [identity, identity.reversed()] + shifts + (0..<16).map { _ in identity.shuffled(using: &random) }
    for start in starts {
      var order = start
      var current = value(order)
      while true {
        var best = (i: 0, j: 0, value: current)
        for i in 0..<size {
          for j in 0..<i {
            // Only the rows and columns of two channels change.
            var change = 0.0
            let (a, b) = (order[i], order[j])
            for n in 0..<size where n != i && n != j {
              change +=
                2 * (projection[b][order[n]] - projection[a][order[n]])
                * (covariance[i][n] - covariance[j][n])
            }
            change += (projection[b][b] - projection[a][a]) * (covariance[i][i] - covariance[j][j])
            if current + change > best.value + 1e-15 { best = (i, j, current + change) }
          }
        }
        guard best.i != best.j else { break }
        order.swapAt(best.i, best.j)
        current = best.value
      }
      found[order] = current
    }
    return found.sorted { $0.value > $1.value }.prefix(count).map(\.key)
  }
}

/// A small random generator with a known sequence.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
