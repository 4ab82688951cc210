import Glibc
import Numerics
import Realtime

/// Filters of feeds that follow the sound: the linear ones, corrected for where sound comes from (`SourceCorrections`) and
/// for wind (`WindAnalysis`).
///
/// - Thread: one at a time. It allocates nothing after its start.
package final class CorrectedFilters: @unchecked Sendable {
  /// By their numbers in the engine.
  package private(set) var feeds: [Int: FollowedFeed] = [:] {
    didSet { all = Array(feeds.values) }
  }
  private var all: [FollowedFeed] = []
  private let sources: SourceCorrections?
  private let wind: WindAnalysis?
  private let grid: AnalysisGrid
  private let microphones: Int
  private let taps: Int
  private let transform: FourierTransform
  private let re: AlignedMemory
  private let im: AlignedMemory
  private let fade: AlignedMemory

  /// - Parameters:
  ///   - finder: for stereo that follows directions.
  ///   - wind: for feeds that wind is taken out of.
  ///   - taps: of the filters.
  init(_ grid: AnalysisGrid, microphones: Int, finder: DirectionFinder?, wind: WindAnalysis?, taps: Int) {
    (self.grid, self.microphones, self.taps, self.wind) = (grid, microphones, taps, wind)
    sources = finder.map(SourceCorrections.init)
    let length = grid.length
    transform = FourierTransform(size: length)
    re = AlignedMemory(count: length)
    im = AlignedMemory(count: length)
    fade = AlignedMemory(count: taps)
    let (fadeIn, fadeOut) = (taps / 16, taps / 8)
    for n in 0..<taps {
      let rise = 0.5 - 0.5 * cos(.pi * min(1, (Double(n) + 0.5) / Double(fadeIn)))
      let fall = 0.5 - 0.5 * cos(.pi * min(1, (Double(taps - n) - 0.5) / Double(fadeOut)))
      // The inverse transform is unscaled.
      fade.floats[n] = Float(rise * fall / Double(length))
    }
  }

  package convenience init(_ finder: DirectionFinder, taps: Int) {
    self.init(finder.array.grid, microphones: finder.array.microphones, finder: finder, wind: nil, taps: taps)
  }

  deinit {
    transform.free()
    for memory in [re, im, fade] { memory.free() }
  }

  /// Corrects nothing until the next update.
  package func reset() { for feed in all { feed.reset() } }

  /// Corrects these linear filters of a feed from now on.
  /// - Parameter ears: of the finder's array.
  package func use(_ ears: EarTable, feed: Int = 0) { use(ears.base, ears: ears, wind: nil, feed: feed) }

  /// - Parameters:
  ///   - ears: of the finder's array and `base`.
  ///   - wind: of the wind's table and `base`.
  func use(_ base: FilterSet, ears: EarTable?, wind: WindWeights?, feed: Int) {
    precondition(base.taps == taps && base.microphones == microphones)
    if let known = feeds[feed], known.wind == nil, wind == nil, known.ears != nil, let ears {
      known.use(ears)
    } else {
      feeds[feed] = FollowedFeed(base, ears: ears, wind: wind, bins: grid.bins.count)
    }
  }

  /// Corrects a feed no more.
  package func remove(feed: Int) { feeds[feed] = nil }

  /// Follows the directions that the finder has found.
  package func update() { sources?.update(all) }

  /// Writes the `filters` of a feed: what they differ by, that of two outputs at a time, as real and imaginary parts; added to
  /// the linear filters.
  package func writeFilters(feed: Int = 0) {
    guard let feed = feeds[feed] else { return }
    let (length, outputs) = (grid.length, feed.base.outputs)
    let cleans = feed.windStrength > 0 && (wind?.presence ?? 0) > 0
    if cleans, let wind { feed.clean(wind, lowest: grid.bins.lowerBound) }
    let low = cleans ? feed.wind?.table.bins.upperBound ?? 0 : 0
    for first in stride(from: 0, to: outputs, by: 2) {
      let hasSecond = first + 1 < outputs
      for m in 0..<microphones {
        re.floats.update(repeating: 0, count: length)
        im.floats.update(repeating: 0, count: length)
        if let cleaned = feed.cleaned {
          for k in 0..<low {
            let left = cleaned.floats + ((k * outputs + first) * microphones + m) * 2
            add(k, left, hasSecond ? left + microphones * 2 : nil)
          }
        }
        if let corrections = feed.corrections {
          let bins = grid.bins
          for k in max(low, bins.lowerBound)..<bins.upperBound {
            let left = corrections.floats + (m * bins.count + k - bins.lowerBound) * 2
            add(k, left, left + microphones * bins.count * 2)
          }
        }
        // Swapped arguments: the inverse transform.
        transform.forward(im.floats, re.floats)
        for output in first..<min(first + 2, outputs) {
          let linear = feed.base.filter(output, m)
          let filter = feed.filters.floats + (output * microphones + m) * taps
          let part = output == first ? re.floats : im.floats
          for n in 0..<taps { filter[n] = linear[n] + fade.floats[n] * part[n] }
        }
      }
    }
  }

  /// Adds a bin of two real filters' spectra.
  private func add(_ k: Int, _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>?) {
    let (r, i) = right.map { ($0[0], $0[1]) } ?? (0, 0)
    if k == 0 {
      (re.floats[0], im.floats[0]) = (left[0], r)
      return
    }
    let mirror = grid.length - k
    re.floats[k] = left[0] - i
    im.floats[k] = left[1] + r
    re.floats[mirror] = left[0] + i
    im.floats[mirror] = r - left[1]
  }
}
