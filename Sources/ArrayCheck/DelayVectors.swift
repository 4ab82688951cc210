import Acoustics
import Glibc
import Numerics

/// When each event reaches each microphone, from cross-correlations of all pairs.
struct DelayVectors {
  /// Covariance of the delays over the events, in seconds squared. Shape: `[microphone][microphone]`.
  private let covariance: [[Double]]
  private let positions: [Position]

  init(_ events: SoundEvents, _ positions: [Position]) {
    self.positions = positions
    let count = positions.count
    let extent = positions.flatMap { a in positions.map { (a - $0).length } }.max() ?? 0
    let search = LagSearch(events.frequencies, reach: 1.5 * extent / speedOfSound + 1e-4)
    let delays = (0..<events.count).map { event in
      // Of the first microphone after the second.
      var lags = [[Double]](repeating: [Double](repeating: 0, count: count), count: count)
      for (m, n) in pairs(count) {
        lags[m][n] = search.lag(events, event, m, n)
        lags[n][m] = -lags[m][n]
      }
      let times = lags.map { $0.reduce(0, +) / Double(count) }
      var closure = 0.0
      for m in 0..<count { for n in 0..<count { closure += pow(lags[m][n] - times[m] + times[n], 2) } }
      return (times: times, closure: closure)
    }
    // Delays that do not close around loops were not one wave's.
    let kept = delays.sorted { $0.closure < $1.closure }.prefix(max(6, delays.count / 2))
    covariance = (0..<count).map { m in
      (0..<count).map { n in kept.reduce(0) { $0 + $1.times[m] * $1.times[n] } }
    }
  }

  /// The orders, at most `count`, under which the delays lie best in the span of the geometry, the best first.
  func orders(rank: Int, count: Int) -> [[Int]] {
    let projection = Self.projection(positions, rank: rank)
    let fits = positions.count <= 8 ? exhaustive(projection, count: count) : climbing(projection)
    return fits.prefix(count).map(\.order)
  }

  private typealias Fit = (order: [Int], value: Double)

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

  /// The best of all orders that begin with `begun`, the best first.
  private func exhaustive(_ projection: [[Double]], count: Int, begun: Fit = ([], 0)) -> [Fit] {
    let m = begun.order.count
    guard m < projection.count else { return [begun] }
    var best: [Fit] = []
    for p in projection.indices where !begun.order.contains(p) {
      var value = begun.value + projection[p][p] * covariance[m][m]
      for n in 0..<m { value += 2 * projection[p][begun.order[n]] * covariance[m][n] }
      best += exhaustive(projection, count: count, begun: (begun.order + [p], value))
    }
    return Array(best.sorted { $0.value > $1.value }.prefix(count))
  }

  /// For many microphones: the different orders that are reached from several starts, the best first.
  private func climbing(_ projection: [[Double]]) -> [Fit] {
    let identity = Array(projection.indices)
    var random = SplitMix64(state: 1)
    let shifts = [1, identity.count - 1].map { shift in identity.map { ($0 + shift) % identity.count } }
    let starts =
      [identity, identity.reversed()] + shifts + (0..<16).map { _ in identity.shuffled(using: &random) }
    var found: [Fit] = []
    for start in starts {
      let order = start.climbing(least: 1e-15) { order in
        { gain(exchanging: $0, $1, of: order, projection) }
      }
      guard !found.contains(where: { $0.order == order }) else { continue }
      found.append((order, value(of: order, projection)))
    }
    return found.sorted { $0.value > $1.value }
  }

  /// How much of the delays lies in the span of the geometry under `order`.
  private func value(of order: [Int], _ projection: [[Double]]) -> Double {
    var value = 0.0
    for m in order.indices {
      for n in order.indices { value += projection[order[m]][order[n]] * covariance[m][n] }
    }
    return value
  }

  /// Only the rows and columns of two channels change.
  private func gain(exchanging i: Int, _ j: Int, of order: [Int], _ projection: [[Double]]) -> Double {
    let (a, b) = (order[i], order[j])
    var gain = (projection[b][b] - projection[a][a]) * (covariance[i][i] - covariance[j][j])
    for n in order.indices where n != i && n != j {
      gain +=
        2 * (projection[b][order[n]] - projection[a][order[n]]) * (covariance[i][n] - covariance[j][n])
    }
    return gain
  }
}

/// Finds how much later an event reaches one microphone than another.
private struct LagSearch {
  private let step: Double
  private let lags: [Double]
  /// Shape: `[lag][frequency]`.
  private let cosines: [[Float]]
  private let sines: [[Float]]

  /// - Parameter reach: greatest delay in seconds.
  init(_ frequencies: [Double], reach: Double) {
    let step = 1 / (8 * (frequencies.last ?? 4000))
    let half = Int((reach / step).rounded(.up)) + 1
    lags = (-half...half).map { Double($0) * step }
    cosines = lags.map { lag in frequencies.map { Float(cos(2 * .pi * $0 * lag)) } }
    sines = lags.map { lag in frequencies.map { Float(sin(2 * .pi * $0 * lag)) } }
    self.step = step
  }

  /// In seconds.
  func lag(_ events: SoundEvents, _ event: Int, _ m: Int, _ n: Int) -> Double {
    let count = events.frequencies.count
    var (re, im) = ([Float](repeating: 0, count: count), [Float](repeating: 0, count: count))
    for f in 0..<count {
      let (a, b) = (events.index(event, m) + f, events.index(event, n) + f)
      re[f] = events.re[a] * events.re[b] + events.im[a] * events.im[b]
      im[f] = events.im[a] * events.re[b] - events.re[a] * events.im[b]
    }
    let correlation = lags.indices.map { l in
      var sum: Float = 0
      for f in 0..<count { sum += re[f] * cosines[l][f] - im[f] * sines[l][f] }
      return sum
    }
    let top = correlation.indices.max { correlation[$0] < correlation[$1] }!
    guard top > 0, top < lags.count - 1 else { return lags[top] }
    // The top of the parabola through three points.
    let (a, b, c) = (correlation[top - 1], correlation[top], correlation[top + 1])
    return lags[top] + step * Double(0.5 * (a - c) / min(-1e-9, a - 2 * b + c))
  }
}
