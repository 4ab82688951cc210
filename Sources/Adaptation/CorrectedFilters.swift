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
  /// For all filters of a bin.
  private var scratch = AlignedMemory(count: 0)
  private var scratchSize = 0

  /// - Parameters:
  ///   - finder: for stereo that follows directions.
  ///   - wind: for feeds that wind is taken out of.
  ///   - taps: of the filters.
  ///   - feeds: those so far, of the same array.
  init(
    _ grid: AnalysisGrid, microphones: Int, finder: DirectionFinder?, wind: WindAnalysis?, taps: Int,
    feeds: [Int: FollowedFeed] = [:]
  ) {
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
    self.feeds = feeds
    all = Array(feeds.values)
    makeScratch()
  }

  package convenience init(_ finder: DirectionFinder, taps: Int) {
    self.init(finder.array.grid, microphones: finder.array.channels, finder: finder, wind: nil, taps: taps)
  }

  deinit {
    transform.free()
    for memory in [re, im, fade, scratch] { memory.free() }
  }

  /// Corrects nothing until the next update.
  package func reset() { for feed in all { feed.reset() } }

  /// Corrects these linear filters of a feed from now on.
  /// - Parameter target: with tables of the finder's array, and of the wind's.
  package func use(_ target: AdaptiveFilters.Target, feed: Int) {
    precondition(target.whole.taps == taps && target.whole.microphones == microphones)
    let new = FollowedFeed(target, bins: grid.bins.count)
    if let old = feeds[feed] { new.continueFrom(old) }
    feeds[feed] = new
    makeScratch()
  }

  private func makeScratch() {
    let size = feeds.values.reduce(0) { max($0, $1.whole.outputs) } * microphones * 2
    guard size > scratchSize else { return }
    scratch.free()
    (scratch, scratchSize) = (AlignedMemory(count: size), size)
  }

  /// Corrects a feed no more.
  package func remove(feed: Int) { feeds[feed] = nil }

  /// Follows the directions that the finder has found.
  /// - Parameter known: who speaks, for feeds that play one of them.
  package func update(_ known: Talkers? = nil) { sources?.update(all, known) }

  /// Writes the `filters` of a feed: what they differ by, that of two outputs at a time, as real and imaginary parts; added to
  /// the linear filters.
  package func writeFilters(feed: Int = 0) {
    guard let feed = feeds[feed] else { return }
    let (length, outputs, bins) = (grid.length, feed.whole.outputs, grid.bins)
    let cleans = feed.windStrength > 0 && (wind?.presence ?? 0) > 0
    if cleans, let wind { feed.clean(wind, lowest: bins.lowerBound, scratch: scratch.floats) }
    let low = cleans ? feed.wind?.table.bins.upperBound ?? 0 : 0
    let hasMore = feed.corrections != nil || feed.talkers != nil
    for first in stride(from: 0, to: outputs, by: 2) {
      let hasSecond = first + 1 < outputs
      for m in 0..<microphones {
        re.floats.update(repeating: 0, count: length)
        im.floats.update(repeating: 0, count: length)
        if let cleaned = feed.cleaned {
          for k in 0..<low {
            let left = cleaned.floats + ((k * outputs + first) * microphones + m) * 2
            let right = left + microphones * 2
            add(k, (left[0], left[1]), hasSecond ? (right[0], right[1]) : (0, 0))
          }
        }
        if hasMore {
          for k in max(low, bins.lowerBound)..<bins.upperBound {
            let bin = k - bins.lowerBound
            add(k, feed.difference(first, m, bin), hasSecond ? feed.difference(first + 1, m, bin) : (0, 0))
          }
        }
        // Swapped arguments: the inverse transform.
        transform.forward(im.floats, re.floats)
        for output in first..<min(first + 2, outputs) {
          let linear = feed.whole.filter(output, m)
          let filter = feed.filters.floats + (output * microphones + m) * taps
          let part = output == first ? re.floats : im.floats
          let room = Float(feed.roomGain)
          for n in 0..<taps { filter[n] = room * linear[n] + fade.floats[n] * part[n] }
        }
      }
    }
  }

  /// Adds a bin of two real filters' spectra.
  private func add(_ k: Int, _ left: (re: Float, im: Float), _ right: (re: Float, im: Float)) {
    if k == 0 {
      (re.floats[0], im.floats[0]) = (left.re, right.re)
      return
    }
    let mirror = grid.length - k
    re.floats[k] = left.re - right.im
    im.floats[k] = left.im + right.re
    re.floats[mirror] = left.re + right.im
    im.floats[mirror] = right.re - left.im
  }
}
