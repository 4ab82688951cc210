import Acoustics
import Glibc
import Numerics
import Realtime

/// Corrects linear stereo filters for where sound comes from: signal-dependent binaural signal matching.
///
/// The weights of a bin are W₀ + (E + b W₀A) Vᴴ − b W₀: those of the linear filters, their errors E for sound from the one
/// or two directions A, and beams V towards these (`SourceBeams`). In diffuse sound the beams pass little and b is near 0: the
/// linear filters remain. The clearer the sources are, the more b takes from the linear filters what is not sound from A:
/// they hear an array that differs from its model less truly than the beams do. The filters have no further delay.
///
/// - Source: Madmoni et al., Binaural signal matching, solved for two sources by the matrix inversion lemma.
/// - Thread: one at a time. It allocates nothing after its start.
final class SourceCorrections {
  /// Time constant of the corrections in seconds.
  private static let smoothing = 0.004
  /// Cosine of the angle within which bands are taken to hear one source.
  private static let sameSource = cos(10 * Double.pi / 180)
  /// Errors of the array's model, as a part of a source's power; and the ratio of a source to diffuse sound from which on
  /// they are more than what diffuse sound hides.
  private static let (modelErrors, clear): (Float, Float) = (0.1, 10)

  /// The part of all that bands say which is too little to search for.
  private static let little: Float = 0.03

  private let finder: DirectionFinder
  private let sources: SourceBeams
  private let grid: AnalysisGrid
  private let microphones: Int
  /// Of each band, the direction of the finer grid; -1 for none yet.
  private var fine: [Int]
  private var isMember: [Bool]
  /// Those where most sound came from lately.
  private var recent: [Int] = []

  init(_ finder: DirectionFinder) {
    self.finder = finder
    sources = SourceBeams(finder)
    grid = finder.array.grid
    microphones = finder.array.microphones
    fine = [Int](repeating: 0, count: grid.bands)
    isMember = [Bool](repeating: false, count: grid.bands)
    recent.reserveCapacity(DirectionFinder.mostPeaks)
  }

  /// Follows the directions that the finder has found.
  /// - Parameter known: who speaks, for feeds that play one of them.
  func update(_ all: [FollowedFeed], _ known: Talkers?) {
    guard all.contains(where: { $0.ears != nil || $0.part != nil }) else { return }
    sources.update()
    refine()
    findRecent()
    let keep = grid.forgetting(Self.smoothing, hops: DirectionFinder.hopsPerUpdate)
    for feed in all { feed.fadeCorrections(keep) }
    for band in 0..<grid.bands {
      let first = fine[band]
      let second = another(than: first)
      let directions = finder.array.fineDirections
      for feed in all {
        feed.takesFirst = feed.part?.takes(directions[first], known) ?? false
        feed.takesSecond = second.flatMap { feed.part?.takes(directions[$0], known) } ?? false
      }
      for bin in grid.binsOfBand[band] {
        let (count, ratio) = sources.solve(bin: bin, first: first, second: second)
        let errors = Self.modelErrors * ratio
        let above = (ratio / Self.clear) * (ratio / Self.clear)
        // The linear filters' weights are those of all microphones.
        let taken = finder.array.isWhole ? errors / (1 + errors) * above / (1 + above) : 0
        for feed in all {
          let scale = (1 - keep) * Float(feed.strength)
          addLinear(-scale * taken, bin: bin, to: feed)
          addBeam(first, sources.beams.0, bin: bin, scale, taken, to: feed)
          if count == 2, let second { addBeam(second, sources.beams.1, bin: bin, scale, taken, to: feed) }
          if feed.takesFirst { addTalker(first, sources.beams.0, bin: bin, 1 - keep, to: feed) }
          if count == 2, feed.takesSecond, let second {
            addTalker(second, sources.beams.1, bin: bin, 1 - keep, to: feed)
          }
        }
      }
    }
  }

  /// Adds linear filters, times a factor, to the corrections.
  private func addLinear(_ factor: Float, bin: Int, to feed: FollowedFeed) {
    guard let ears = feed.ears, let corrections = feed.corrections else { return }
    for n in 2 * bin..<2 * bin + 2 { corrections[n] = corrections[n] + factor * ears.weights[n] }
  }

  /// Adds the (e + b w a) vᴴ of a direction, times a factor, to the corrections.
  private func addBeam(
    _ direction: Int, _ beam: MicrophoneVector, bin: Int, _ factor: Float, _ taken: Float,
    to feed: FollowedFeed
  ) {
    guard let ears = feed.ears, let corrections = feed.corrections else { return }
    let e = ears.error(bin: bin, direction)
    let a = MicrophoneVector(inTurn: finder.array.response(bin: bin, direction))
    for ear in 0..<2 {
      let passed = ears.weights[2 * bin + ear].product(a)
      let gain = (factor * (e[2 * ear] + taken * passed.re), factor * (e[2 * ear + 1] + taken * passed.im))
      corrections[2 * bin + ear] = corrections[2 * bin + ear] + beam.conjugate(times: gain)
    }
  }

  /// Adds what the feed plays of a direction, and only of that: (w a) vᴴ with its linear filters w and, of stereo that follows
  /// the sound, its errors.
  private func addTalker(
    _ direction: Int, _ beam: MicrophoneVector, bin: Int, _ factor: Float, to feed: FollowedFeed
  ) {
    guard let weights = feed.weights, let talkers = feed.talkers else { return }
    let a = finder.array.response(bin: bin, direction)
    let strength = Float(feed.strength)
    weights.with(bin: grid.bins.lowerBound + bin) { w in
      for output in 0..<weights.outputs {
        var (re, im): (Float, Float) = (0, 0)
        if let passed = feed.passed {
          (re, im) = passed.value(bin: bin, direction, output)
        } else {
          let w = w + output * 2 * microphones
          for m in 0..<microphones {
            re += w[2 * m] * a[2 * m] - w[2 * m + 1] * a[2 * m + 1]
            im += w[2 * m] * a[2 * m + 1] + w[2 * m + 1] * a[2 * m]
          }
        }
        if let e = feed.ears?.error(bin: bin, direction) {
          re += strength * e[2 * output]
          im += strength * e[2 * output + 1]
        }
        let at = bin * weights.outputs + output
        talkers[at] = talkers[at] + beam.conjugate(times: (factor * re, factor * im))
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
    var left = finder.weights.reduce(0, +)
    let little = Self.little * left
    while true {
      var leader = -1
      for band in fine.indices
      where fine[band] < 0 && (leader < 0 || finder.weights[band] > finder.weights[leader]) {
        leader = band
      }
      guard leader >= 0 else { return }
      if left <= little {
        // What is left says too little.
        for band in fine.indices where fine[band] < 0 {
          fine[band] = finder.array.around[finder.directions[band]][0]
        }
        return
      }
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
      for band in fine.indices where isMember[band] {
        fine[band] = best
        left -= finder.weights[band]
      }
    }
  }
}
