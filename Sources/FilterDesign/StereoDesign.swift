import Acoustics
import CLapack
import Glibc
import HeadResponses
import Manifolds
import Numerics
import Synchronization

/// Designs binaural filters with two outputs from all microphones. The outputs approximate the ear signals of a
/// listener in the device's place. Sound from behind is attenuated by `rearGain` relative to that listener.
///
/// - In each bin `JointDesign` minimises one cost of both ears, starting from the weights of the bin below and, where
///   listeners follow the interaural phase, from those of complex least squares (binaural signal matching), in which the
///   listener's front counts more than other directions: people look at what they record.
/// - Both outputs then get the same gain in each bin, towards the target's tone in front and in the diffuse field.
/// - Truncation adds noise gain where weights change fast over frequency. The limits of such bins are lowered, and the
///   design is repeated.
/// - Source: Madmoni et al., Binaural reproduction from microphone array signals (2024) for binaural signal matching.
package struct StereoDesign: Sendable {
  private let parameters: DesignParameters
  private let grid: DesignGrid
  /// Directions of the design, unit vectors of the head frame. They are the same for all cases, which share one target.
  package let directions: [SIMD3<Double>]
  /// Target ear responses for `directions` at the grid's frequencies: `[frequency][ear][direction]`.
  private let target: ResponseGrid
  /// Energies of both ears for sources straight ahead and straight behind: `[frequency][front, rear]`.
  private let axisTarget: [[Double]]
  /// Mean energies of each ear over all directions: `[frequency][ear]`.
  private let diffuseTarget: [[Double]]
  /// The design of all cases of an array that is known in all directions.
  private let common: JointDesign

  /// - Parameters:
  ///   - hrtf: the listener's head-related transfer functions.
  package init(
    hrtf: HRTF, grid: DesignGrid, parameters: DesignParameters,
    step: DesignStep = .unobserved
  ) throws(DesignError) {
    self.parameters = parameters
    self.grid = grid
    directions = cubedSphere(parameters.stereo.directions)
    try step.reached(0)
    target = Self.target(
      hrtf, from: directions, frequencies: grid.frequencies, rearGain: parameters.stereo.rearGain)
    try step.reached(0.5)
    let (values, count) = (target.values, directions.count)
    diffuseTarget = grid.frequencies.indices.map { bin in
      (0..<2).map { ear in
        let row = (2 * bin + ear) * count
        return mean(values[row..<row + count].map(\.squaredMagnitude))
      }
    }
    let axis = Self.target(
      hrtf, from: [[1, 0, 0], [-1, 0, 0]], frequencies: grid.frequencies, rearGain: parameters.stereo.rearGain
    )
    axisTarget = grid.frequencies.indices.map { bin in
      (0..<2).map { axis[bin, 0, $0].squaredMagnitude + axis[bin, 1, $0].squaredMagnitude }
    }
    common = JointDesign(target: target, directions: directions, parameters: parameters.joint)
  }

  /// The target ear responses: `hrtf` with sound from behind attenuated.
  ///
  /// Figures are compared with the target of the default `rearGain`, whatever the design uses.
  /// - Parameters:
  ///   - directions: unit vectors of the head frame.
  ///   - frequencies: in hertz.
  ///   - rearGain: gain of sound from straight behind relative to that from straight ahead.
  /// - Returns: `[frequency][ear][direction]`.
  package static func target(
    _ hrtf: HRTF, from directions: [SIMD3<Double>], frequencies: [Double],
    rearGain: Decibels = DesignParameters.Stereo().rearGain
  ) -> ResponseGrid {
    let rearGain = rearGain.amplitude
    var target = hrtf.responses(from: directions, frequencies: frequencies)
    let gains = directions.map { rearGain + (1 - rearGain) * (1 + $0.x) / 2 }
    target.scale(directionsBy: gains)
    return target
  }

  /// Designs the filters of one case.
  /// - Parameters:
  ///   - frame: the listener's axes in the device frame.
  ///   - near: filters for a frame near that one, `[ear][microphone]`, from which the design starts, so that the phase
  ///     that both ears share stays theirs; nil for none.
  package func filters(
    manifold: any ArrayManifold, frame: HeadFrame, near: Taps<Float>? = nil, step: DesignStep = .unobserved
  ) throws(DesignError) -> Taps<Float> {
    try filters(manifold: manifold, [(frame, near)], step: step)[0]
  }

  /// Designs the filters of several cases, in parallel. Cases whose directions `manifold` shares share their covariances.
  /// - Parameters:
  ///   - cases: frame and near filters of each, as for a single one.
  ///   - threads: the maximum number of threads; nil for one per core.
  package func filters(
    manifold: any ArrayManifold, _ cases: [(frame: HeadFrame, near: Taps<Float>?)], threads: Int? = nil,
    step: DesignStep
  ) throws(DesignError) -> [Taps<Float>] {
    let shared = manifold as? SharedManifold
    let orders = cases.map { shared?.order(of: directions.map($0.frame.device(fromHead:)), grid.frequencies) }
    let together = cases.indices.filter { orders[$0] != nil }
    let field =
      together.isEmpty
      ? nil
      : try field(
        shared!.responses, together.map { (cases[$0].frame, orders[$0]!) }, manifold,
        step: step.within(0...0.2))
    let steps = step.within(0.2...1).divided(by: cases.map { _ in 1 })
    let results = Mutex([Taps<Float>?](repeating: nil, count: cases.count))
    try DesignThreads.forEach(cases.count, threads: threads) { number throws(DesignError) in
      let (frame, near) = cases[number]
      let step = steps[number]
      let bins: StereoBins
      if let index = together.firstIndex(of: number) {
        bins = StereoBins(field!, listener: index)
      } else {
        let responses = try manifold.responses(
          from: directions.map(frame.device(fromHead:)), frequencies: grid.frequencies,
          step: step.within(0...0.1))
        bins = StereoBins(
          try self.field(
            responses, [(frame, Array(directions.indices))], manifold, step: step.within(0.1...0.2)),
          listener: 0)
      }
      let filters = try filters(bins, near: near.map(response), step: step)
      results.withLock { $0[number] = filters }
      try step.reached(1)
    }
    return results.withLock { $0.map { $0! } }
  }

  /// What the designs of some listeners know of the array.
  /// - Parameters:
  ///   - responses: of the array, whose directions are the design's in any order.
  ///   - listeners: their frames, and where each design direction is in `responses`.
  private func field(
    _ responses: ResponseGrid, _ listeners: [(frame: HeadFrame, order: [Int])], _ manifold: any ArrayManifold,
    step: DesignStep
  ) throws(DesignError) -> ListenerField {
    let count = directions.count
    var regions = [Double](repeating: 1 / Double(count), count: count)
    var known: [SIMD4<Int>: Int] = [:]
    /// The index of a region of these weights, in the design's order; regions with equal keys are equal.
    func region(_ key: SIMD4<Int>, _ weights: [Double], _ order: [Int]) -> Int {
      if let index = known[key] { return index }
      let index = regions.count / count
      known[key] = index
      regions += [Double](repeating: 0, count: count)
      for (d, weight) in weights.enumerated() { regions[index * count + order[d]] = weight }
      return index
    }
    func key(_ vector: SIMD3<Double>, _ kind: Double) -> SIMD4<Int> {
      SIMD4<Int>((SIMD4(vector, kind) * 1e6).rounded(.toNearestOrAwayFromZero))
    }
    var found: [ListenerField.Listener] = []
    for (frame, order) in listeners {
      let ofArray = manifold.importance(of: directions.map(frame.device(fromHead:)))
      let joint =
        ofArray.map {
          JointDesign(target: target, directions: directions, parameters: parameters.joint, importance: $0)
        } ?? common
      let importance = importance(ofArray)
      let sectors = joint.sectors.shapes.enumerated().map { s, shape in
        region(
          key(frame.device(fromHead: shape.centre), shape.concentration),
          Array(joint.sectors.weights[s * count..<(s + 1) * count]), order)
      }
      let axis = try manifold.responses(
        from: [frame.forward.vector, -frame.forward.vector], frequencies: grid.frequencies, step: step)
      found.append(
        ListenerField.Listener(
          sectors: sectors,
          leastSquares: region(
            key(frame.forward.vector, -1), importance.map { $0 / Double(count) }, order),
          correlations: correlations(responses, importance: importance, order: order), axis: axis,
          joint: joint))
    }
    return ListenerField(
      covariances: try SphereCovariances(responses, regions: regions, step: step), listeners: found,
      robustness: parameters.joint.robustness)
  }

  /// The cross-correlations of both ears' targets with the microphones, as directions count in least squares, in the bins
  /// of least squares: `[bin][ear × microphone]`.
  private func correlations(_ responses: ResponseGrid, importance: [Double], order: [Int]) -> [[Complex]] {
    let (count, microphones) = (directions.count, responses.channels)
    let bins = grid.frequencies.count { $0 <= parameters.joint.highestLeastSquares.value }
    var wanted = [Complex](repeating: .zero, count: 2 * count)
    return (0..<bins).map { bin in
      for ear in 0..<2 {
        for d in 0..<count {
          wanted[ear * count + order[d]] = importance[d] * target.values[(2 * bin + ear) * count + d]
        }
      }
      var result = [Complex](repeating: .zero, count: 2 * microphones)
      var (scale, zero) = (Complex(1 / Double(count), 0), Complex.zero)
      responses.values.withUnsafeBufferPointer { values in
        cblas_zgemm(
          CblasRowMajor, CblasNoTrans, CblasConjTrans, 2, Int32(microphones), Int32(count), &scale, wanted,
          Int32(count), values.baseAddress! + bin * microphones * count, Int32(count), &zero, &result,
          Int32(microphones))
      }
      return result
    }
  }

  /// What each direction counts in least squares, mean 1: the front of the listener more than the rest, times what the
  /// array knows of it.
  private func importance(_ ofArray: [Double]?) -> [Double] {
    let edge = cos(parameters.stereo.frontAngle.radians)
    let raw = directions.enumerated().map { d, direction in
      (direction.x > edge ? parameters.stereo.frontWeight : 1) * (ofArray?[d] ?? 1)
    }
    let mean = mean(raw)
    return raw.map { $0 / mean }
  }

  private func filters(
    _ bins: StereoBins, near: Weights?, step: DesignStep
  ) throws(DesignError) -> Taps<Float> {
    var limits = NoiseGainLimits(grid: grid, parameters: parameters.stereo)
    var best: (filters: Taps<Float>, excess: Double)?
    var progress = 0.2
    // Weights of the previous round. Later rounds start from them, because few limits change.
    var solutions: [Solution] = []
    for _ in 0...parameters.stereo.tightenings {
      // Usually there are two or three rounds: each gets half of the remaining progress.
      let round = step.within(progress...(progress + 1) / 2)
      progress = (progress + 1) / 2
      let (designed, lowered) = try weights(
        bins, limits: limits.ratios, near: near, solutions: &solutions, step: round)
      var weights = designed
      // Truncation smooths low frequencies: the finished filters are judged and corrected `tonePasses` times.
      equalise(&weights, judgedBy: weights, lowered: lowered, bins)
      var filters = Taps<Float>(try weights.filters(on: grid, step: step))
      for _ in 0..<Self.tonePasses {
        equalise(&weights, judgedBy: response(of: filters), lowered: lowered, bins)
        filters = Taps<Float>(try weights.filters(on: grid, step: step))
      }
      let excess = try limits.tighten(filters, bins.all, step: step)
      if excess < best?.excess ?? .infinity { best = (filters, excess) }
      if excess <= 0 { break }
    }
    return best!.filters
  }

  /// - Parameter limits: noise gain limit of each bin, as a power ratio.
  /// - Returns: the weights, and which bins `withoutBoost` has lowered.
  private func weights(
    _ bins: StereoBins, limits: [Double], near: Weights?, solutions: inout [Solution], step: DesignStep
  ) throws(DesignError) -> (Weights, lowered: [Bool]) {
    let count = bins.all.count
    var lowered = [Bool](repeating: false, count: count)
    var weights = Weights(frequencies: count, outputs: 2, microphones: bins.all[0].microphones)
    // The weights of the bin below, before `withoutBoost`.
    var previous: [Complex] = []
    let isFirst = solutions.isEmpty
    if isFirst { solutions = [Solution](repeating: Solution(weights: [], limit: 0), count: count) }
    // Whether the bin below has other weights than in the last round.
    var hasMoved = isFirst
    for bin in 1..<count {
      try step.reached(Double(bin) / Double(count))
      let match = bins.all[bin]
      // In a deep notch of the array no weights keep the limit: those of a single microphone have 1 / meanEnergy.
      let limit = max(limits[bin], 1 / max(match.meanEnergy, 1e-12))
      if hasMoved || limit != solutions[bin].limit {
        let weighted = bins.leastSquares(bin)
        var starts =
          !isFirst
          ? [solutions[bin].weights]
          : near.map { [$0[bin]] } ?? (bin == 1 ? [] : [previous])
        if isFirst, near == nil, let weighted, Hertz(grid.frequencies[bin]) < parameters.joint.highestStart {
          starts.append(leastSquares(weighted, match, limit: limit))
        }
        var current = try bins.joint.weights(
          from: starts, previous: near.map { $0[bin] } ?? previous, nearness: near == nil ? 1 : Self.nearness,
          bin: bin, frequency: grid.frequencies[bin], covariance: match,
          sectorCovariances: bins.sectorCovariances(bin), leastSquares: weighted,
          axis: (bins.axis(bin), axisTarget[bin]),
          noiseGainLimit: limit, step: step)
        if let near { current = current.inPhase(with: near[bin]) }
        hasMoved = isFirst || solutions[bin].differs(from: current)
        solutions[bin] = Solution(weights: current, limit: limit)
      }
      previous = solutions[bin].weights
      lowered[bin] = limit > limits[bin]
      weights[bin] = lowered[bin] ? withoutBoost(previous, bin, limit: limits[bin]) : previous
    }
    // At 0 Hz filters take the real part.
    weights[0] = weights[1]
    return (weights, lowered)
  }

  /// 3 dB, as a logarithm of energies.
  private static let widestTone = 0.3 * log(10)
  /// How much more than the distance from the bin below, in whose place it is, that from the filters of a pose beside
  /// counts: below 10, some bins turn to another minimum, and mixed filters cancel there.
  private static let nearness = 100.0
  /// How often tone is corrected again after truncation.
  private static let tonePasses = 2

  private func response(of filters: Taps<Float>) -> Weights {
    FilterResponse(
      taps: filters, sampleRate: grid.sampleRate, delayFrames: grid.delayFrames, frequencies: grid.frequencies
    ).weights
  }

  /// Raises or lowers bins, both ears alike so that no cue changes, towards the target's energy in the diffuse field and
  /// straight ahead, both averaged over third octaves. Where they want different gains, the one straight ahead decides up
  /// to 700 Hz, and counts 0.6 from 1 kHz on. A difference beyond `widestTone`, as in the notch of a pinna, counts no more
  /// than that.
  /// - Parameters:
  ///   - judged: the weights whose tone is corrected.
  ///   - lowered: the bins that `withoutBoost` has lowered; they are not raised again.
  private func equalise(
    _ weights: inout Weights, judgedBy judged: Weights, lowered: [Bool], _ bins: StereoBins
  ) {
    var (diffuse, front) = ([(reached: Double, wanted: Double)](), [(reached: Double, wanted: Double)]())
    for (bin, match) in bins.all.enumerated() {
      let weight = judged[bin]
      diffuse.append(
        (
          match.outputPowers(of: weight).reduce(0) { $0 + $1.signal },
          diffuseTarget[bin][0] + diffuseTarget[bin][1]
        ))
      front.append(
        (
          (0..<2).reduce(0) { sum, ear in
            sum
              + (0..<match.microphones).reduce(Complex.zero) {
                $0 + weight[ear * match.microphones + $1] * bins.axis[bin, $1, 0]
              }.squaredMagnitude
          }, axisTarget[bin][0]
        ))
    }
    let highest = parameters.stereo.scalingLimit
    for bin in bins.all.indices {
      let third =
        Int(Double(bin) / pow(2, 1.0 / 6))...min(bins.all.count - 1, Int(Double(bin) * pow(2, 1.0 / 6)))
      func error(_ energies: [(reached: Double, wanted: Double)]) -> Double {
        let (reached, wanted) = energies[third].reduce((1e-12, 1e-12)) {
          ($0.0 + $1.reached, $0.1 + $1.wanted)
        }
        return log(reached / wanted)
      }
      let ofDiffuse = error(diffuse)
      let difference = min(max(error(front) - ofDiffuse, -Self.widestTone), Self.widestTone)
      // Voices in front are loud or thin by their bass, in which the diffuse field hardly differs.
      let frontPart = min(max((1400 - grid.frequencies[bin]) / 700, 0.6), 1)
      let gain = exp(-parameters.stereo.toneCorrection * (ofDiffuse + difference * frontPart) / 2)
      let limited = min(max(gain, 1 / highest), lowered[bin] ? 1 : highest)
      weights[bin] = weights[bin].map { limited * $0 }
    }
  }

  /// Lowers `weights` until the noise of either ear is within `limit`, a power ratio, of half the target's diffuse-field
  /// energy: what a notch of the array leaves of a bin.
  private func withoutBoost(_ weights: [Complex], _ bin: Int, limit: Double) -> [Complex] {
    let microphones = weights.count / 2
    let excess = (0..<2).map { ear -> Double in
      let noise = weights[ear * microphones..<(ear + 1) * microphones].reduce(0) { $0 + $1.squaredMagnitude }
      return noise / (limit * diffuseTarget[bin][ear] / 2)
    }.max()!
    return excess > 1 ? weights.map { (1 / excess.squareRoot()) * $0 } : weights
  }

  /// Least squares with the smallest regulariser that keeps each output's noise gain within `limit`, a power ratio.
  /// - Parameters:
  ///   - weighted: as directions count in least squares.
  ///   - all: the covariance over all directions.
  private func leastSquares(
    _ weighted: (covariance: BinCovariance, correlation: [Complex]), _ all: BinCovariance, limit: Double
  ) -> [Complex] {
    let eigen = HermitianEigen(
      matrix: weighted.covariance.values.map(\.conjugate), order: all.microphones)
    let mean = mean(eigen.values)
    return (0..<2).flatMap { ear in
      let correlation = weighted.correlation.withUnsafeBufferPointer {
        eigen.project($0.baseAddress! + ear * all.microphones)
      }
      func weights(_ regulariser: Double) -> [Complex] {
        eigen.combine(eigen.solution(correlation, regulariser: regulariser))
      }
      return weights(
        smallestRegulariser(
          from: parameters.stereo.minimumRegulariser * mean, to: 100 * eigen.values.last!
        ) { regulariser in
          let power = all.outputPowers(of: weights(regulariser))[0]
          return power.noise <= limit * max(power.signal, 1e-30)
        })
    }
  }
}

/// The weights of a bin in the last round, `[ear][microphone]`, and the limit of their noise gain.
private struct Solution {
  let weights: [Complex]
  let limit: Double

  /// Whether `others` are more than 1 % away. Smaller changes hardly affect the bin above.
  func differs(from others: [Complex]) -> Bool {
    let distance = zip(weights, others).reduce(0) { $0 + ($1.0 - $1.1).squaredMagnitude }
    return distance > 1e-4 * weights.reduce(0) { $0 + $1.squaredMagnitude }
  }
}

extension [Complex] {
  /// The same, turned in phase, all alike, to be nearest to `others`.
  fileprivate func inPhase(with others: [Complex]) -> [Complex] {
    let product = zip(self, others).reduce(Complex.zero) { $0 + $1.0.conjugate * $1.1 }
    guard product.magnitude > 0 else { return self }
    let turn = (1 / product.magnitude) * product
    return map { turn * $0 }
  }
}
