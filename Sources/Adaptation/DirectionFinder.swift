import Acoustics
import Glibc
import Numerics
import Realtime

/// Finds where sound comes from.
///
/// Directions are searched per band of 1.5 ERB: the one whose steered power explains the band's covariance best, weighed
/// with where sound came from in the last 300 ms. A quarter of them is tried, then all of the best patches. All of it uses the
/// past alone.
///
/// - Source: Madmoni et al., Binaural signal matching.
/// - Thread: one at a time. It allocates nothing after its start.
package final class DirectionFinder: @unchecked Sendable {
  /// What frames have led to.
  package enum Step {
    /// More are needed.
    case none
    /// Everything was silent for long, and is forgotten.
    case silence
    case directions

    /// The same while a microphone is muted: directions need all of them.
    var muted: Step { if case .directions = self { .silence } else { self } }
  }

  /// Time constants in seconds: of the covariance, of the histogram of directions.
  private static let (shortTime, longTime) = (0.010, 0.3)
  /// What a direction that nobody was heard from counts for in the histogram.
  private static let floor: Float = 0.03
  /// How many independent observations a point of the search counts for.
  private static let evidence: Float = 8
  package static let fullSteering: Float = 1.03
  /// Directions change more slowly than the covariance: half as often, they cost half as much.
  static let hopsPerUpdate = 2
  /// Patches of neighbours in which all directions are tried: how many at most, and how many times as bad as the best direction
  /// so far the best quarter of one may be.
  private static let (mostPatches, mostWorse) = (6, Float(2))
  /// Elevation in degrees at which a direction counts e times less, in terms of likelihood.
  private static let widestElevation = 40.0
  /// By how much reverberation falls, in decibels per second: T60 of half a second.
  private static let reverberation = 120.0
  /// A band this much softer than the loudest one says nothing; that one is forgotten with a time constant in seconds.
  private static let (range, deafness) = (Float(1e-3), 0.5)
  /// The direction of such a band is found at every so many updates.
  private static let faintPace = 4

  /// Of the histogram's peaks: how many there are at most; the cosine of the angle between them; the smallest, beside the
  /// largest, and beside what diffuse sound gives every direction.
  static let mostPeaks = 4
  static let peakDistance = cos(20 * Double.pi / 180)
  private static let (smallestPeak, clearPeak): (Float, Float) = (0.1, 10)

  package let array: ArrayTable
  private let grid: AnalysisGrid
  private let microphones: Int
  let spectra: MicrophoneSpectra
  /// `[bin][microphones²]` as `HermitianMatrix.quadratic` says.
  let covariance: AlignedMemory
  /// Of the band, for each quarter of a patch: product over its points of 1.03 minus the relative steered power.
  private let misfit: AlignedMemory
  /// Of each patch, the best of its quarters.
  private var scores = [Float](repeating: 0, count: ArrayTable.patches)
  /// Of the band's points, the factor that makes steered powers relative.
  private var scales: [Float] = []
  /// For each direction, the factor of its score that prefers directions near the horizon; and that with the histogram.
  private let horizon: AlignedMemory
  private let preference: AlignedMemory
  package let histogram: AlignedMemory
  /// The directions that most sound came from lately, the strongest first.
  private(set) var peaks: [Int] = []
  /// The direction of each band, and how well it explains the band.
  package private(set) var directions: [Int]
  private(set) var weights: [Float]
  /// What has just become louder than reverberation would be, a band each: from which direction of the search, without
  /// regard to where sound came from before, and how much that says.
  package struct Onset {
    package let place: Int32
    package let evidence: Float
    package var direction: Int { Int(place) }
  }
  package private(set) var onsets: [Onset] = []
  /// One for each band: no grid has more.
  static let mostOnsets = 128
  /// Of each band, the power at the microphones, and that which reverberation has at most.
  private var powers: [Float]
  private var reverberant: [Float]
  private var loudest: Float = 0
  /// Whether `directions` are found as well, which costs many times as much.
  package var findsAll = true
  /// Of all sound of the last 10 ms, in decibels of full scale (RMS of one microphone).
  package private(set) var level = -Double.infinity
  private let levelScale: Double
  /// Frames so far. Directions are found at multiples of two hops, so that what is found does not depend on when it began.
  package var clock: Int { spectra.clock }
  /// Of each band, its first point in the tables.
  private let firstPoints: [Int]

  /// - Parameter up: a unit vector of the device frame, which the horizon lies across.
  package init(_ array: ArrayTable, up: SIMD3<Double>) {
    self.array = array
    grid = array.grid
    microphones = array.microphones
    let (length, bins, terms) = (grid.length, grid.bins.count, array.microphones * array.microphones)
    spectra = MicrophoneSpectra(grid, places: array.places)
    // Both halves of the spectrum, and the window's mean square.
    levelScale = 2 / (0.375 * Double(length) * Double(length) * Double(microphones))
    covariance = AlignedMemory(count: bins * terms)
    misfit = AlignedMemory(count: ArrayTable.coarseStride)
    horizon = AlignedMemory(count: array.directions.count)
    preference = AlignedMemory(count: array.directions.count)
    histogram = AlignedMemory(count: array.directions.count)
    directions = [Int](repeating: 0, count: grid.bands)
    weights = [Float](repeating: 0, count: grid.bands)
    powers = [Float](repeating: 0, count: grid.bands)
    reverberant = [Float](repeating: 0, count: grid.bands)
    onsets.reserveCapacity(grid.bands)
    firstPoints = array.grid.points.indices.map { array.grid.points[..<$0].reduce(0) { $0 + $1.count } }
    peaks.reserveCapacity(Self.mostPeaks)
    scales.reserveCapacity(array.grid.points.reduce(0) { max($0, $1.count) })
    prefer(horizonOf: up)
    reset()
  }

  deinit {
    for memory in [covariance, misfit, horizon, preference, histogram] { memory.free() }
  }

  /// Prefers directions near another horizon from now on.
  package func prefer(horizonOf up: SIMD3<Double>) {
    for (d, direction) in array.directions.enumerated() {
      let elevation = asin(min(1, max(-1, direction.dot(up)))) * 180 / .pi / Self.widestElevation
      horizon.floats[d] = Float(exp(elevation * elevation / Double(Self.evidence)))
    }
  }

  /// Forgets everything: the next sound follows silence.
  /// - Parameter clock: of the next frame, a multiple of two hops; nil if time goes on.
  package func reset(at clock: Int? = nil) {
    spectra.reset(at: clock)
    loudest = 0
    for band in reverberant.indices { reverberant[band] = 0 }
    peaks.removeAll(keepingCapacity: true)
    covariance.floats.update(repeating: 0, count: grid.bins.count * microphones * microphones)
    histogram.floats.update(repeating: 1 / Float(array.directions.count), count: array.directions.count)
  }

  package var hop: Int { grid.hop }
  package var sampleRate: Double { Double(grid.sampleRate) }
  package var framesPerUpdate: Int { grid.framesPerUpdate }
  package var secondsPerUpdate: Double { grid.secondsPerUpdate }
  /// The most frames that `append` takes.
  package var framesToHop: Int { spectra.framesToHop }

  /// Takes `count` frames, at most `framesToHop`.
  /// - Parameter block: of all microphones, `[microphone]`.
  package func append(_ block: UnsafePointer<UnsafePointer<Float>>, count: Int) -> Step {
    guard spectra.append(block, count: count) else { return .none }
    // After long silence it is as at the start, so that the next sound is treated as in every other run.
    let power = updateCovariance()
    guard power > 0 else {
      reset()
      return .silence
    }
    level = 10 * log10(Double(power) * levelScale)
    guard clock / grid.hop % Self.hopsPerUpdate == 0 else { return .none }
    search()
    return .directions
  }

  /// The same for arrays, offline.
  /// - Parameter range: the frames of the block; nil for all.
  package func append(_ block: [[Float]], _ range: Range<Int>? = nil) -> Step {
    let range = range ?? block[0].indices
    return withUnsafeTemporaryAllocation(of: Float.self, capacity: block.count * range.count) { samples in
      withUnsafeTemporaryAllocation(of: UnsafePointer<Float>.self, capacity: block.count) { pointers in
        for (m, channel) in block.enumerated() {
          let start = samples.baseAddress! + m * range.count
          channel.withUnsafeBufferPointer {
            start.initialize(from: $0.baseAddress! + range.lowerBound, count: range.count)
          }
          pointers[m] = UnsafePointer(start)
        }
        return append(UnsafePointer(pointers.baseAddress!), count: range.count)
      }
    }
  }

  /// - Returns: the power of all bins and microphones.
  private func updateCovariance() -> Float {
    var power: Float = 0
    let keep = grid.forgetting(Self.shortTime)
    let terms = microphones * microphones
    for bin in 0..<grid.bins.count {
      let x = spectra.values.floats + (grid.bins.lowerBound + bin) * microphones * 2
      let c = covariance.floats + bin * terms
      for i in 0..<microphones {
        let (xr, xi) = ((1 - keep) * x[2 * i], (1 - keep) * x[2 * i + 1])
        c[i * microphones + i] = keep * c[i * microphones + i] + xr * x[2 * i] + xi * x[2 * i + 1]
        var j = i + 1
        while j < microphones {
          let (yr, yi) = (x[2 * j], x[2 * j + 1])
          // x_i x̄_j
          c[i * microphones + j] = keep * c[i * microphones + j] + xr * yr + xi * yi
          c[j * microphones + i] = keep * c[j * microphones + i] + xi * yr - xr * yi
          j += 1
        }
        power += c[i * microphones + i]
      }
    }
    return power
  }

  /// Finds onsets, and chooses a direction for each band.
  private func search() {
    if findsAll { prepare() }
    hear()
    let update = clock / framesPerUpdate
    let fall = Float(pow(10, -Self.reverberation * secondsPerUpdate / 10))
    loudest = max(loudest * Float(exp(-secondsPerUpdate / Self.deafness)), powers.max() ?? 0)
    onsets.removeAll(keepingCapacity: true)
    var sum: Float = 1e-20
    for band in 0..<grid.bands {
      let power = powers[band]
      let expected = reverberant[band] * fall
      reverberant[band] = max(expected, power)
      let isHeard = power > Self.range * loudest
      let isOnset = isHeard && power > 1.5 * expected
      let isDue = findsAll && (isHeard || (update + band) % Self.faintPace == 0)
      guard isOnset || isDue else {
        weights[band] = 0
        continue
      }
      measure(band)
      if isOnset {
        let (direction, directness) = momentary(band)
        let evidence = directness * directness * directness * (1 - 1.5 * expected / power)
        onsets.append(Onset(place: Int32(direction), evidence: evidence / Float(grid.bands)))
      }
      if isDue {
        choose(band)
        sum += weights[band]
      }
    }
    guard findsAll else { return }
    let keep = grid.forgetting(Self.longTime, hops: Self.hopsPerUpdate)
    for d in 0..<array.directions.count { histogram.floats[d] *= keep }
    for band in 0..<grid.bands {
      let weight = (1 - keep) * weights[band] / sum
      for (d, share) in array.neighbours[directions[band]] { histogram.floats[d] += weight * share }
    }
    findPeaks()
  }

  /// Computes the bands' powers.
  private func hear() {
    let terms = microphones * microphones
    for band in 0..<grid.bands {
      var energy: Float = 0
      for bin in grid.points[band] {
        let c = covariance.floats + (bin - grid.bins.lowerBound) * terms
        for m in 0..<microphones { energy += c[m * microphones + m] }
      }
      powers[band] = energy
    }
  }

  /// Score: the product of misfits, times (histogram / mean / 10 + floor)^(−prior / evidence).
  private func prepare() {
    let scale = Float(array.directions.count) / 10
    for d in 0..<array.directions.count {
      let x = histogram.floats[d] * scale + Self.floor
      // To the power of 3/8.
      let root = x.squareRoot().squareRoot()
      preference.floats[d] = horizon.floats[d] / (root * root.squareRoot())
    }
  }

  /// Computes a band's misfits.
  private func measure(_ band: Int) {
    let terms = microphones * microphones
    for d in 0..<ArrayTable.coarseStride { misfit.floats[d] = 1 }
    scales.removeAll(keepingCapacity: true)
    for (n, bin) in grid.points[band].enumerated() {
      let point = firstPoints[band] + n
      let c = covariance.floats + (bin - grid.bins.lowerBound) * terms
      let g = array.normaliser.floats + point * terms
      var total: Float = 1e-20
      for term in 0..<terms { total += g[term] * c[term] }
      scales.append(1 / total)
      Self.steer(
        array.coarse.floats + point * terms * ArrayTable.coarseStride, c, scale: 1 / total, terms,
        ArrayTable.coarseStride, misfit.floats)
    }
  }

  /// Of a band that is measured, the direction with the least product of its misfit and a factor.
  /// - Parameter factor: `[direction]`.
  /// - Returns: its misfit, and the least of all directions that were tried.
  private func best(_ band: Int, _ factor: UnsafePointer<Float>) -> (
    direction: Int, misfit: Float, least: Float
  ) {
    var least = Float.infinity
    for patch in 0..<ArrayTable.patches {
      let (quarters, factor) = (misfit.floats + 4 * patch, factor + 16 * patch)
      scores[patch] = .infinity
      for n in 0..<4 {
        scores[patch] = min(scores[patch], quarters[n] * factor[4 * n])
        least = min(least, quarters[n])
      }
    }
    var (best, itsMisfit, itsScore) = (0, Float.infinity, Float.infinity)
    for _ in 0..<Self.mostPatches {
      var next = 0
      for patch in scores.indices where scores[patch] < scores[next] { next = patch }
      guard scores[next] < .infinity, scores[next] < Self.mostWorse * itsScore else { break }
      scores[next] = .infinity
      let misfits = misfits(band, patch: next)
      for n in 0..<16 {
        let score = misfits[n] * factor[16 * next + n]
        least = min(least, misfits[n])
        if score < itsScore { (best, itsMisfit, itsScore) = (16 * next + n, misfits[n], score) }
      }
    }
    return (best, itsMisfit, least)
  }

  /// Of all directions of a patch, in a band that is measured.
  private func misfits(_ band: Int, patch: Int) -> SIMD16<Float> {
    let terms = microphones * microphones
    var result = SIMD16<Float>(repeating: 1)
    for (n, bin) in grid.points[band].enumerated() {
      let table = array.steering.floats + ((firstPoints[band] + n) * ArrayTable.patches + patch) * terms * 16
      Self.steer(
        table, covariance.floats + (bin - grid.bins.lowerBound) * terms, scale: scales[n], terms, 16, &result)
    }
    return result
  }

  /// Chooses the direction of a band that is measured.
  private func choose(_ band: Int) {
    let best = best(band, preference.floats)
    directions[band] = best.direction
    // By rounding, a product may lie beside its range.
    let evidence = best.least > 0 ? max(0, -log(best.least) / Float(grid.points[band].count)) : 0
    weights[band] = powers[band] * evidence * evidence
  }

  /// Of a band that is measured, the direction without regard to where sound came from before, and the part of its power,
  /// 0…1, that comes from there.
  private func momentary(_ band: Int) -> (direction: Int, directness: Float) {
    let best = best(band, horizon.floats)
    // The relative steered power, of which diffuse sound gives every direction a part.
    let steered = Self.fullSteering - pow(max(0, best.misfit), 1 / Float(grid.points[band].count))
    return (best.direction, max(0, steered - (1 - steered) / Float(microphones - 1)))
  }

  private func findPeaks() {
    peaks.removeAll(keepingCapacity: true)
    while peaks.count < Self.mostPeaks {
      var best: Int?
      var most = max(
        Self.clearPeak / Float(array.directions.count),
        Self.smallestPeak * (peaks.first.map { histogram.floats[$0] } ?? 0))
      for d in array.directions.indices where histogram.floats[d] > most {
        if peaks.allSatisfy({ array.directions[$0].dot(array.directions[d]) < Self.peakDistance }) {
          (best, most) = (d, histogram.floats[d])
        }
      }
      guard let best else { return }
      peaks.append(best)
    }
  }

  /// Multiplies misfits by 1.03 minus the relative steered powers of one point.
  private static func steer(
    _ table: UnsafePointer<Float>, _ c: UnsafePointer<Float>, scale: Float, _ terms: Int, _ count: Int,
    _ misfits: UnsafeMutableRawPointer
  ) {
    var row = UnsafeRawPointer(table).assumingMemoryBound(to: SIMD16<Float>.self)
    let misfits = misfits.assumingMemoryBound(to: SIMD16<Float>.self)
    for block in 0..<count / 16 {
      var sum = SIMD16<Float>.zero
      for term in 0..<terms { sum += row[term] * c[term] }
      row += terms
      misfits[block] *= fullSteering - sum * scale
    }
  }
}
