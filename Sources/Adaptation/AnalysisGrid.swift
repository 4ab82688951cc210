import Glibc
import Numerics

/// The short-time transform of the analysis, and its bins and bands.
package struct AnalysisGrid: Sendable {
  package let sampleRate: Int
  /// Length of the transform in frames: 512 at 48 kHz.
  package let length: Int
  /// Frames between transforms.
  package var hop: Int { length / 4 }
  /// From some directions to the next.
  package var framesPerUpdate: Int { DirectionFinder.hopsPerUpdate * hop }
  package var secondsPerUpdate: Double { Double(framesPerUpdate) / Double(sampleRate) }
  /// The bins whose weights follow the sound.
  package let bins: Range<Int>
  /// Of each band, its bins, counted from the first of `bins`.
  let binsOfBand: [Range<Int>]
  /// Of each band, the bins at which directions are searched: at most `mostPoints` each.
  let points: [[Int]]

  private static let lowest = 90.0
  private static let highest = 16_000.0
  /// Bandwidth in equivalent rectangular bandwidths (ERB).
  private static let bandwidth = 1.5
  private static let mostPoints = 4

  /// - Parameter highestKnown: the highest frequency at which the array is known, in hertz.
  package init(sampleRate: Int, highestKnown: Double = .infinity) {
    self.sampleRate = sampleRate
    // At least as long as twice the filters, which are 5.3 ms long.
    var length = 128
    while Double(length) < 0.0095 * Double(sampleRate) { length *= 2 }
    self.length = length
    let width = Double(sampleRate) / Double(length)
    let highest = min(Self.highest, 0.45 * Double(sampleRate), highestKnown)
    let bins = 2..<Int((highest / width).rounded()) + 1
    self.bins = bins
    // Number of equivalent rectangular bandwidths below a frequency: Glasberg and Moore (1990).
    func erb(_ frequency: Double) -> Double { 21.4 * log10(1 + 0.00437 * frequency) }
    let positions = bins.map { max(0, Int((erb(Double($0) * width) - erb(Self.lowest)) / Self.bandwidth)) }
    // Numbered without gaps: at low frequencies bins are wider than bands.
    let starts = positions.indices.filter { $0 == 0 || positions[$0] != positions[$0 - 1] }
    binsOfBand = zip(starts, starts.dropFirst() + [positions.count]).map { $0..<$1 }
    points = binsOfBand.map { all in
      let count = min(all.count, Self.mostPoints)
      return (0..<count).map {
        bins.lowerBound + all.lowerBound + (count == 1 ? 0 : $0 * (all.count - 1) / (count - 1))
      }
    }
  }

  var bands: Int { points.count }
  /// Frequencies of `bins` in hertz.
  package var frequencies: [Double] {
    bins.map { Double($0) * Double(sampleRate) / Double(length) }
  }

  /// The factor by which a recursive mean forgets in some hops, for a time constant in seconds.
  func forgetting(_ seconds: Double, hops: Int = 1) -> Float {
    Float(exp(-Double(hops * hop) / (seconds * Double(sampleRate))))
  }
}
