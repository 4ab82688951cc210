import Acoustics
import Glibc
import HeadResponses
import Manifolds
import Numerics

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
    target.values.withUnsafeMutableBufferPointer { values in
      for i in values.indices { values[i] = gains[i % directions.count] * values[i] }
    }
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
    let frequencies = grid.frequencies
    let deviceDirections = directions.map(frame.device(fromHead:))
    let responses = try manifold.responses(
      from: deviceDirections, frequencies: frequencies, step: step.within(0...0.1))
    let axis = try manifold.responses(
      from: [frame.forward.vector, -frame.forward.vector], frequencies: frequencies, step: step)
    let ofArray = manifold.importance(of: deviceDirections)
    let amplitudes = importance(ofArray).map { $0.squareRoot() }
    let joint = ofArray.map {
      JointDesign(target: target, directions: directions, parameters: parameters.joint, importance: $0)
    }
    let leastSquaresBins = frequencies.count { $0 <= parameters.joint.highestLeastSquares.value }
    var weighted = ResponseGrid(
      frequencies: leastSquaresBins, channels: responses.channels, directions: responses.directions)
    for i in weighted.values.indices {
      weighted.values[i] = amplitudes[i % amplitudes.count] * responses.values[i]
    }
    let microphones = responses.channels
    return try responses.values.withUnsafeBufferPointer { responses throws(DesignError) in
      try weighted.values.withUnsafeBufferPointer { weighted throws(DesignError) in
        let bins = StereoBins(
          all: try BinMatching.all(
            responses, microphones: microphones, directions: directions.count, step: step.within(0.1...0.15)),
          weighted: try BinMatching.all(
            weighted, microphones: microphones, directions: directions.count, step: step.within(0.15...0.2)),
          amplitudes: amplitudes, axis: axis, joint: joint ?? common)
        return try filters(bins, near: near.map(response), step: step)
      }
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
    let size = 2 * directions.count
    let isFirst = solutions.isEmpty
    if isFirst { solutions = [Solution](repeating: Solution(weights: [], limit: 0), count: count) }
    // Whether the bin below has other weights than in the last round.
    var hasMoved = isFirst
    for bin in 1..<count {
      try step.reached(Double(bin) / Double(count))
      let match = bins.all[bin]
      let ears = Array(target.values[bin * size..<(bin + 1) * size])
      // In a deep notch of the array no weights keep the limit: those of a single microphone have 1 / meanEnergy.
      let limit = max(limits[bin], 1 / max(match.meanEnergy, 1e-12))
      if hasMoved || limit != solutions[bin].limit {
        let weighted = bin < bins.weighted.count ? bins.weighted[bin] : nil
        var starts =
          !isFirst
          ? [solutions[bin].weights] : near.map { [$0[bin]] } ?? (bin == 1 ? [] : [previous])
        if isFirst, near == nil, let weighted, Hertz(grid.frequencies[bin]) < parameters.joint.highestStart {
          starts.append(leastSquares(weighted, match, bins.amplitudes, target: ears, limit: limit))
        }
        var current = try bins.joint.weights(
          from: starts, previous: near.map { $0[bin] } ?? previous, nearness: near == nil ? 1 : Self.nearness,
          bin: bin, frequency: grid.frequencies[bin], match,
          weighted: weighted.map { ($0, bins.amplitudes) }, axis: (bins.axis(bin), axisTarget[bin]),
          noiseGainLimit: limit, step: step)
        if let near { current = current.inPhase(with: near[bin]) }
        hasMoved = isFirst || solutions[bin].differs(from: current)
        solutions[bin] = Solution(weights: current, limit: limit)
      }
      previous = solutions[bin].weights
      lowered[bin] = limit > limits[bin]
      weights[bin] = lowered[bin] ? withoutBoost(previous, ears: ears, limit: limits[bin]) : previous
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
    let size = 2 * directions.count
    var (diffuse, front) = ([(reached: Double, wanted: Double)](), [(reached: Double, wanted: Double)]())
    for (bin, match) in bins.all.enumerated() {
      let weight = judged[bin]
      diffuse.append(
        (
          match.outputPowers(of: weight).reduce(0) { $0 + $1.signal },
          target.values[bin * size..<(bin + 1) * size].reduce(0) { $0 + $1.squaredMagnitude }
            / Double(directions.count)
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
  private func withoutBoost(_ weights: [Complex], ears: [Complex], limit: Double) -> [Complex] {
    let (microphones, directions) = (weights.count / 2, ears.count / 2)
    let excess = (0..<2).map { ear -> Double in
      let noise = weights[ear * microphones..<(ear + 1) * microphones].reduce(0) { $0 + $1.squaredMagnitude }
      let energy = ears[ear * directions..<(ear + 1) * directions].reduce(0) { $0 + $1.squaredMagnitude }
      return noise / (limit * energy / Double(directions) / 2)
    }.max()!
    return excess > 1 ? weights.map { (1 / excess.squareRoot()) * $0 } : weights
  }

  /// Least squares with the smallest regulariser that keeps each output's noise gain within `limit`, a power ratio.
  private func leastSquares(
    _ weighted: BinMatching, _ match: BinMatching, _ amplitudes: [Double], target: [Complex], limit: Double
  ) -> [Complex] {
    let weightedTarget = target.indices.map { amplitudes[$0 % amplitudes.count] * target[$0] }
    let eigenvalues = weighted.covarianceEigen.values
    let mean = eigenvalues.reduce(0, +) / Double(eigenvalues.count)
    return weighted.correlation(with: weightedTarget, outputs: 2).flatMap { correlation in
      let regulariser = weighted.regulariser(
        of: correlation, from: parameters.stereo.minimumRegulariser * mean, to: 100 * eigenvalues.last!
      ) { components in
        let power = match.outputPowers(of: weighted.covarianceEigen.combine(components))[0]
        return power.noise <= limit * max(power.signal, 1e-30)
      }
      return weighted.covarianceEigen.combine(weighted.solution(correlation, regulariser: regulariser))
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

/// What the design of one stereo case knows of its array.
private struct StereoBins {
  /// One per designed bin: all directions count the same, as for noise and the diffuse field.
  let all: [BinMatching]
  /// The same with directions weighted as in least squares, up to `highestLeastSquares`.
  let weighted: [BinMatching]
  /// Square root of what each direction counts.
  let amplitudes: [Double]
  /// Responses for sources straight ahead and straight behind: `[frequency][microphone][front, rear]`.
  let axis: ResponseGrid
  let joint: JointDesign

  /// `[front, rear][microphone]`
  func axis(_ bin: Int) -> [Complex] {
    (0..<2).flatMap { side in (0..<axis.channels).map { axis[bin, $0, side] } }
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
