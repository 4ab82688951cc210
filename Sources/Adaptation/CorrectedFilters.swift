import Acoustics
import Glibc
import Numerics
import Realtime

/// Corrects linear filters of feeds for where sound comes from: signal-dependent binaural signal matching.
///
/// The weights of a bin are W₀ + (E + b W₀A) Vᴴ − b W₀: those of the linear filters, their errors E for sound from the one
/// or two directions A, and beams V towards these (`SourceBeams`). In diffuse sound the beams pass little and b is near 0: the
/// linear filters remain. The clearer the sources are, the more b takes from the linear filters what is not sound from A:
/// they hear an array that differs from its model less truly than the beams do. The filters have no further delay.
///
/// - Source: Madmoni et al., Binaural signal matching, solved for two sources by the matrix inversion lemma.
/// - Thread: one at a time. It allocates nothing after its start.
package final class CorrectedFilters: @unchecked Sendable {
  /// Time constant of the corrections in seconds.
  private static let smoothing = 0.004
  /// Cosine of the angle within which bands are taken to hear one source.
  private static let sameSource = cos(10 * Double.pi / 180)
  /// Errors of the array's model, as a part of a source's power; and the ratio of a source to diffuse sound from which on
  /// they are more than what diffuse sound hides.
  private static let (modelErrors, clear): (Float, Float) = (0.1, 10)

  /// The corrections of one feed.
  package final class Feed: @unchecked Sendable {
    package fileprivate(set) var ears: EarTable
    /// 0…1: the corrections are multiplied by it.
    package var strength = 0.0
    /// Updates in which nothing was applied.
    var updatesAtRest = 0
    /// Smoothed corrections `[ear][microphone][bin]`, real and imaginary parts in turn.
    fileprivate let corrections: AlignedMemory
    private let bins: Int
    /// `[ear][microphone][tap]`, the linear filters included.
    package let filters: AlignedMemory

    fileprivate init(_ ears: EarTable, bins: Int) {
      let microphones = ears.base.microphones
      self.ears = ears
      self.bins = bins
      corrections = AlignedMemory(count: 2 * microphones * bins * 2)
      filters = AlignedMemory(count: 2 * microphones * ears.base.taps)
      reset()
    }

    deinit {
      corrections.free()
      filters.free()
    }

    fileprivate func reset() {
      corrections.floats.update(repeating: 0, count: 2 * ears.base.microphones * bins * 2)
    }
  }

  /// By their numbers in the engine.
  package private(set) var feeds: [Int: Feed] = [:] {
    didSet { all = Array(feeds.values) }
  }
  private var all: [Feed] = []
  private let finder: DirectionFinder
  private let sources: SourceBeams
  private let grid: AnalysisGrid
  private let microphones: Int
  private let taps: Int
  private let transform: FourierTransform
  private let re: AlignedMemory
  private let im: AlignedMemory
  private let fade: AlignedMemory
  /// Of each band, the direction of the finer grid; -1 for none yet.
  private var fine: [Int]
  private var isMember: [Bool]
  /// Those where most sound came from lately.
  private var recent: [Int] = []

  /// - Parameter taps: of the filters.
  package init(_ finder: DirectionFinder, taps: Int) {
    self.finder = finder
    self.taps = taps
    sources = SourceBeams(finder)
    grid = finder.array.grid
    microphones = finder.array.microphones
    let length = grid.length
    transform = FourierTransform(size: length)
    re = AlignedMemory(count: length)
    im = AlignedMemory(count: length)
    fade = AlignedMemory(count: taps)
    fine = [Int](repeating: 0, count: grid.bands)
    isMember = [Bool](repeating: false, count: grid.bands)
    recent.reserveCapacity(DirectionFinder.mostPeaks)
    let (fadeIn, fadeOut) = (taps / 16, taps / 8)
    for n in 0..<taps {
      let rise = 0.5 - 0.5 * cos(.pi * min(1, (Double(n) + 0.5) / Double(fadeIn)))
      let fall = 0.5 - 0.5 * cos(.pi * min(1, (Double(taps - n) - 0.5) / Double(fadeOut)))
      // The inverse transform is unscaled.
      fade.floats[n] = Float(rise * fall / Double(length))
    }
  }

  deinit {
    transform.free()
    for memory in [re, im, fade] { memory.free() }
  }

  /// Corrects nothing until the next update.
  package func reset() { for feed in all { feed.reset() } }

  /// Corrects these linear filters of a feed from now on.
  /// - Parameter ears: of the finder's array.
  package func use(_ ears: EarTable, feed: Int = 0) {
    precondition(ears.base.taps == taps && ears.base.microphones == microphones)
    guard let known = feeds[feed] else {
      feeds[feed] = Feed(ears, bins: grid.bins.count)
      return
    }
    known.ears = ears
    known.strength = 0
    known.reset()
  }

  /// Corrects a feed no more.
  package func remove(feed: Int) { feeds[feed] = nil }

  /// Follows the directions that the finder has found.
  package func update() {
    sources.updateTraces()
    refine()
    findRecent()
    let keep = grid.forgetting(Self.smoothing, hops: DirectionFinder.hopsPerUpdate)
    for feed in all {
      for n in 0..<4 * microphones * grid.bins.count { feed.corrections.floats[n] *= keep }
    }
    for band in 0..<grid.bands {
      let first = fine[band]
      let second = another(than: first)
      for bin in grid.binsOfBand[band] {
        let (count, ratio) = sources.solve(bin: bin, first: first, second: second)
        let errors = Self.modelErrors * ratio
        let above = (ratio / Self.clear) * (ratio / Self.clear)
        let taken = errors / (1 + errors) * above / (1 + above)
        for feed in all {
          let scale = (1 - keep) * Float(feed.strength)
          addLinear(-scale * taken, bin: bin, to: feed)
          addBeam(first, beam: 0, bin: bin, scale, taken, to: feed)
          if count == 2, let second { addBeam(second, beam: 1, bin: bin, scale, taken, to: feed) }
        }
      }
    }
  }

  /// Adds linear filters, times a factor, to the corrections.
  private func addLinear(_ factor: Float, bin: Int, to feed: Feed) {
    let (weights, corrections) = (feed.ears.weights(bin: bin), feed.corrections)
    for n in 0..<2 * microphones {
      let at = corrections.floats + (n * grid.bins.count + bin) * 2
      at[0] += factor * weights[2 * n]
      at[1] += factor * weights[2 * n + 1]
    }
  }

  /// Adds the (e + b w a) vᴴ of a direction, times a factor, to the corrections.
  private func addBeam(
    _ direction: Int, beam: Int, bin: Int, _ factor: Float, _ taken: Float, to feed: Feed
  ) {
    let (ears, corrections) = (feed.ears, feed.corrections)
    let e = ears.error(bin: bin, direction)
    let a = finder.array.response(bin: bin, direction)
    let v = sources.beams.floats + beam * 2 * microphones
    for ear in 0..<2 {
      let w = ears.weights(bin: bin) + ear * 2 * microphones
      var (re, im) = (e[2 * ear], e[2 * ear + 1])
      for m in 0..<microphones {
        re += taken * (w[2 * m] * a[2 * m] - w[2 * m + 1] * a[2 * m + 1])
        im += taken * (w[2 * m] * a[2 * m + 1] + w[2 * m + 1] * a[2 * m])
      }
      for m in 0..<microphones {
        let at = corrections.floats + ((ear * microphones + m) * grid.bins.count + bin) * 2
        at[0] += factor * (re * v[2 * m] + im * v[2 * m + 1])
        at[1] += factor * (im * v[2 * m] - re * v[2 * m + 1])
      }
    }
  }

  /// Takes the peaks of the finder's histogram, as finely as the bands that hear them tell.
  private func findRecent() {
    let array = finder.array
    recent.removeAll(keepingCapacity: true)
    for peak in finder.peaks {
      var (nearest, weight) = (array.around[peak][0], Float(0))
      for band in fine.indices
      where finder.weights[band] > weight
        && array.fineDirections[fine[band]].dot(array.directions[peak]) > Self.sameSource
      {
        (nearest, weight) = (fine[band], finder.weights[band])
      }
      recent.append(nearest)
    }
  }

  /// Where else sound came from lately.
  private func another(than direction: Int) -> Int? {
    let directions = finder.array.fineDirections
    return recent.first { directions[$0].dot(directions[direction]) < DirectionFinder.peakDistance }
  }

  /// Gives bands whose directions are near each other one direction, of the finer grid: the one that explains all of them
  /// best. The bands that say most come first.
  private func refine() {
    for band in fine.indices { fine[band] = -1 }
    while true {
      var leader = -1
      for band in fine.indices
      where fine[band] < 0 && (leader < 0 || finder.weights[band] > finder.weights[leader]) {
        leader = band
      }
      guard leader >= 0 else { return }
      let centre = finder.array.directions[finder.directions[leader]]
      for band in fine.indices {
        isMember[band] =
          fine[band] < 0 && finder.array.directions[finder.directions[band]].dot(centre) > Self.sameSource
      }
      var (best, least) = (-1, Float.infinity)
      for candidate in finder.array.around[finder.directions[leader]] {
        var misfit: Float = 0
        for band in fine.indices where isMember[band] {
          for bin in grid.points[band] {
            let explained = sources.explained(by: candidate, bin: bin - grid.bins.lowerBound)
            misfit += log(DirectionFinder.fullSteering - explained)
          }
        }
        if best < 0 || misfit < least { (least, best) = (misfit, candidate) }
      }
      for band in fine.indices where isMember[band] { fine[band] = best }
    }
  }

  /// Writes the `filters` of a feed: the corrections, those of both ears at a time, as real and imaginary parts; added to the linear
  /// filters.
  package func writeFilters(feed: Int = 0) {
    guard let feed = feeds[feed] else { return }
    let (ears, corrections, filters) = (feed.ears, feed.corrections, feed.filters)
    let (length, bins, first) = (grid.length, grid.bins.count, grid.bins.lowerBound)
    for m in 0..<microphones {
      re.floats.update(repeating: 0, count: length)
      im.floats.update(repeating: 0, count: length)
      let left = corrections.floats + m * bins * 2
      let right = corrections.floats + (microphones + m) * bins * 2
      for n in 0..<bins {
        let (k, mirror) = (first + n, length - first - n)
        re.floats[k] = left[2 * n] - right[2 * n + 1]
        im.floats[k] = left[2 * n + 1] + right[2 * n]
        re.floats[mirror] = left[2 * n] + right[2 * n + 1]
        im.floats[mirror] = right[2 * n] - left[2 * n + 1]
      }
      // Swapped arguments: the inverse transform.
      transform.forward(im.floats, re.floats)
      for ear in 0..<2 {
        let linear = ears.base.filter(ear, m)
        let filter = filters.floats + (ear * microphones + m) * taps
        let part = ear == 0 ? re.floats : im.floats
        for n in 0..<taps { filter[n] = linear[n] + fade.floats[n] * part[n] }
      }
    }
  }
}
