import Acoustics
import Numerics
import Synchronization

/// Finds the point at which B-format is heard: its phase origin.
///
/// Of spaced microphones, some points are much better than the body's centre: what an array hears about a point is as exact
/// as its microphones are near it. The search stays within the array's extent: about a point beside its plane, an array would
/// seem to hear height, in which delay alone differs. It minimises the squared shortfall of the correlation of W, Y, Z and X from 1,
/// over octaves weighted by their importance for speech. Squares keep it from buying one channel with another.
struct OriginSearch: Sendable {
  /// Importance of each octave of `HarmonicOctaves` for speech intelligibility.
  /// - Source: ANSI S3.5-1997, table 3; 125 Hz is not in it.
  private static let speech = [0.03, 0.0617, 0.1671, 0.2373, 0.2648, 0.2142, 0.0549]
  /// Bins per octave that are looked at.
  private static let binsPerOctave = 5
  /// Candidates along each axis at first.
  private static let steps = 4
  /// Axes along which the array is smaller are searched only from the best of these candidates on, in metres.
  private static let leastExtent = 0.02
  /// The search ends with this step, in metres.
  private static let lastStep = 0.0015
  /// Minimum reduction of the mean squared shortfall for which the body's centre is left. Phones and glasses gain 0.18;
  /// spheres would gain 0.007 on average, and lose their symmetry.
  private static let leastImprovement = 0.02

  private let matching: HarmonicMatching
  private let limits: HarmonicMatching.NoiseLimits
  /// The bins that are looked at, their frequencies in hertz, and what they count; the weights' sum is 1.
  private let bins: [(match: BinMatching, frequency: Double, weight: Double)]
  private let positions: [Position]

  /// - Parameters:
  ///   - matching: of first order.
  ///   - matches, frequencies: of all designed bins.
  ///   - positions: of the microphones.
  init(
    _ matching: HarmonicMatching, matches: [BinMatching], frequencies: [Double], positions: [Position],
    limits: HarmonicMatching.NoiseLimits
  ) {
    self.matching = matching
    self.limits = limits
    self.positions = positions
    let octaves = HarmonicOctaves(frequencies)
    let importance = Self.speech.prefix(octaves.centres.count)
    let sum = importance.reduce(0, +)
    bins = zip(octaves.bins, importance).flatMap { bins, importance in
      let stride = max(1, bins.count / Self.binsPerOctave)
      let chosen = bins.enumerated().filter { $0.offset % stride == stride / 2 }.map(\.element)
      return chosen.map { (matches[$0], frequencies[$0], importance / sum / Double(chosen.count)) }
    }
  }

  /// The best origin, in metres in the device frame.
  func origin(step: DesignStep) throws(DesignError) -> Position {
    guard positions.count > 1, !bins.isEmpty else { return .zero }
    let atCentre = try shortfalls([.zero], step: step)[0]
    // As of most spheres: nothing can be so much better.
    guard atCentre > Self.leastImprovement else { return .zero }
    let (low, high) = positions.reduce((Position.zero, Position.zero)) {
      (pointwiseMin($0.0, $1), pointwiseMax($0.1, $1))
    }
    let centroid = positions.reduce(.zero, +) / Double(positions.count)
    let candidates = [.zero, centroid] + Self.grid(low, high)
    let shortfalls =
      [atCentre] + (try self.shortfalls(Array(candidates.dropFirst()), step: step.within(0...0.7)))
    let first = shortfalls.indices.min { shortfalls[$0] < shortfalls[$1] }!
    var (best, least) = (candidates[first], shortfalls[first])
    var length = (high - low).max() / Double(2 * Self.steps)
    while length >= Self.lastStep {
      let neighbours = (0..<6).map { side in
        var neighbour = best
        neighbour[side / 2] += side % 2 == 0 ? length : -length
        return pointwiseMin(high, pointwiseMax(low, neighbour))
      }
      let found = try self.shortfalls(neighbours, step: step.within(0.7...1))
      let nearest = found.indices.min { found[$0] < found[$1] }!
      if found[nearest] < least - 1e-5 {
        (best, least) = (neighbours[nearest], found[nearest])
      } else {
        length /= 2
      }
    }
    return least < atCentre - Self.leastImprovement ? best : .zero
  }

  /// Points in the box from `low` to `high`.
  private static func grid(_ low: Position, _ high: Position) -> [Position] {
    let axes = (0..<3).map { axis -> [Double] in
      let extent = high[axis] - low[axis]
      guard extent > leastExtent else { return [0] }
      return (0...steps).map { low[axis] + extent * Double($0) / Double(steps) }
    }
    return axes[0].flatMap { x in axes[1].flatMap { y in axes[2].map { z in Position(x, y, z) } } }
  }

  /// The mean squared shortfall of the correlation from 1 for each origin, on all cores.
  private func shortfalls(_ origins: [Position], step: DesignStep) throws(DesignError) -> [Double] {
    let results = Mutex([[Double]](repeating: [], count: bins.count))
    try DesignThreads.forEach(bins.count) { number throws(DesignError) in
      let bin = bins[number]
      var shortfalls: [Double] = []
      for first in stride(from: 0, to: origins.count, by: Self.block) {
        try step.check()
        let some = origins[first..<min(first + Self.block, origins.count)]
        let found = matching.correlations(bin.match, frequency: bin.frequency, origins: Array(some))
        for correlations in found {
          shortfalls.append(
            correlations.enumerated().reduce(0) { sum, entry in
              let match = HarmonicMatching.match(
                bin.match, entry.element, channel: entry.offset, limits: limits)
              let missing = 1 - match.correlation
              return sum + bin.weight * missing * missing / Double(correlations.count)
            })
        }
      }
      results.withLock { [shortfalls] in $0[number] = shortfalls }
    }
    let found = results.withLock { $0 }
    return origins.indices.map { origin in found.reduce(0) { $0 + $1[origin] } }
  }

  /// Origins whose targets fit into the processor's cache.
  private static let block = 8
}
