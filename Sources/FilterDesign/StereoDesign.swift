import Acoustics
import Glibc
import HeadResponses
import Manifolds
import Numerics

/// Designs binaural filters with two outputs from all microphones. The outputs approximate the ear signals of a
/// listener in the device's place. Sound from behind is attenuated by `rearGain` relative to that listener.
///
/// - The listener's front counts more than other directions: people look at what they record.
/// - Below the crossover: complex least squares (binaural signal matching, BSM). Each output is regularised until its
///   noise gain ‖w‖² / mean |Vᵀw|² is within the limit. Both outputs get the same gain, which matches the target's
///   diffuse-field energy.
/// - Above the crossover, where only levels matter: `SectorRefinement`; without it, magnitude least squares (MagLS),
///   each bin with the phases of the bin below.
///
/// Both outputs then get the same gain in each bin, towards the target's tone in front and in the diffuse field.
/// Truncation adds noise gain where weights change fast over frequency. The limits of such bins are lowered, and the
/// design is repeated.
/// - Source: Madmoni et al., Binaural reproduction from microphone array signals (2024) for BSM;
///   Schörkhuber et al., Binaural rendering of Ambisonic signals via magnitude least squares (2018) for MagLS.
package struct StereoDesign: Sendable {
  private let parameters: DesignParameters
  private let grid: DesignGrid
  /// Directions of the design, unit vectors of the head frame. They are the same for all cases, which share one target.
  package let directions: [SIMD3<Double>]
  /// Target ear responses for `directions` at the grid's frequencies: `[frequency][ear][direction]`.
  private let target: ResponseGrid
  /// Energy of both ears for a source straight ahead: `[frequency]`.
  private let frontTarget: [Double]
  private let isRefined: Bool
  /// The refinement of all cases of an array that is known in all directions; nil for MagLS.
  private var commonRefinement: SectorRefinement?

  /// - Parameters:
  ///   - hrtf: the listener's head-related transfer functions.
  ///   - isRefined: whether bins above the crossover use `SectorRefinement`; otherwise they use MagLS.
  package init(
    hrtf: HRTF, grid: DesignGrid, parameters: DesignParameters, isRefined: Bool = true,
    step: DesignStep = .unobserved
  ) throws(DesignError) {
    self.parameters = parameters
    self.grid = grid
    self.isRefined = isRefined
    directions = fibonacciSphere(parameters.stereo.directions)
    try step.reached(0)
    target = Self.target(
      hrtf, from: directions, frequencies: grid.frequencies, rearGain: parameters.stereo.rearGain)
    try step.reached(0.5)
    let front = Self.target(
      hrtf, from: [[1, 0, 0]], frequencies: grid.frequencies, rearGain: parameters.stereo.rearGain)
    frontTarget = grid.frequencies.indices.map {
      front[$0, 0, 0].squaredMagnitude + front[$0, 1, 0].squaredMagnitude
    }
    if isRefined { commonRefinement = refinement(nil) }
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
  /// - Parameter frame: the listener's axes in the device frame.
  package func filters(
    manifold: any ArrayManifold, frame: HeadFrame, step: DesignStep = .unobserved
  ) throws(DesignError) -> Taps<Float> {
    let frequencies = grid.frequencies
    let deviceDirections = directions.map(frame.device(fromHead:))
    let responses = try manifold.responses(
      from: deviceDirections, frequencies: frequencies, step: step.within(0...0.1))
    let front = try manifold.responses(from: [frame.forward.vector], frequencies: frequencies, step: step)
    let ofArray = manifold.importance(of: deviceDirections)
    let importance = importance(ofArray, frontWeight: parameters.stereo.frontWeight)
    let amplitudes = importance.map { $0.squareRoot() }
    // Least squares end at the crossover, unless there is no refinement.
    let countedBins = isRefined ? min(crossoverBin + 1, frequencies.count) : frequencies.count
    var counted = ResponseGrid(
      frequencies: countedBins, channels: responses.channels, directions: responses.directions)
    for i in counted.values.indices {
      counted.values[i] = amplitudes[i % amplitudes.count] * responses.values[i]
    }
    let refinement =
      ofArray == nil ? commonRefinement : isRefined ? self.refinement(ofArray) : nil
    let microphones = responses.channels
    return try responses.values.withUnsafeBufferPointer { responses throws(DesignError) in
      try counted.values.withUnsafeBufferPointer { counted throws(DesignError) in
        let bins = StereoBins(
          all: try BinMatching.all(
            responses, microphones: microphones, directions: directions.count, step: step.within(0.1...0.15)),
          counted: try BinMatching.all(
            counted, microphones: microphones, directions: directions.count, step: step.within(0.15...0.2)),
          amplitudes: amplitudes, front: front, refinement: refinement)
        return try filters(bins, step: step)
      }
    }
  }

  /// The first bin whose levels alone matter.
  private var crossoverBin: Int { grid.bin(nearest: parameters.stereo.crossover.value) }

  private func refinement(_ ofArray: [Double]?) -> SectorRefinement {
    SectorRefinement(
      target: target, directions: directions, parameters: parameters.refinement,
      importance: importance(ofArray, frontWeight: parameters.refinement.frontWeight))
  }

  /// What each direction counts, mean 1: the front of the listener more than the rest, times what the array knows of it.
  private func importance(_ ofArray: [Double]?, frontWeight: Double) -> [Double] {
    let edge = cos(parameters.stereo.frontAngle.radians)
    let raw = directions.enumerated().map { d, direction in
      (direction.x > edge ? frontWeight : 1) * (ofArray?[d] ?? 1)
    }
    let mean = mean(raw)
    return raw.map { $0 / mean }
  }

  private func filters(_ bins: StereoBins, step: DesignStep) throws(DesignError) -> Taps<Float> {
    var limits = NoiseGainLimits(grid: grid, parameters: parameters.stereo)
    var best: (filters: Taps<Float>, excess: Double)?
    var progress = 0.2
    for _ in 0...parameters.stereo.tightenings {
      // Usually there are two or three rounds: each gets half of the remaining progress.
      let round = step.within(progress...(progress + 1) / 2)
      progress = (progress + 1) / 2
      let (designed, lowered) = try weights(bins, limits: limits.ratios, step: round)
      var weights = designed
      // Truncation smooths low frequencies: the finished filters are judged, and corrected once more.
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
    _ bins: StereoBins, limits: [Double], step: DesignStep
  ) throws(DesignError) -> (Weights, lowered: [Bool]) {
    let count = bins.all.count
    var lowered = [Bool](repeating: false, count: count)
    var weights = Weights(frequencies: count, outputs: 2, microphones: bins.all[0].microphones)
    // The weights of the bin below, before `withoutBoost`.
    var previous: [Complex] = []
    var pattern = [Complex](repeating: .zero, count: 2 * directions.count)
    for bin in 0..<count {
      try step.reached(Double(bin) / Double(count))
      let match = bins.all[bin]
      let ears = Array(target.values[bin * pattern.count..<(bin + 1) * pattern.count])
      // In a deep notch of the array no weights keep the limit: those of a single microphone have 1 / meanEnergy.
      let limit = max(limits[bin], 1 / max(match.meanEnergy, 1e-12))
      var current: [Complex]
      if let refinement = bins.refinement, bin >= crossoverBin {
        current = try refinement.refined(
          previous, bin: bin, match, noiseGainLimit: limit, isFirst: bin == crossoverBin, step: step)
      } else {
        if bin <= crossoverBin {
          current = solve(bins, bin, target: ears, limit: limit)
        } else {
          let levels = ears.map(\.magnitude)
          current = previous
          for _ in 0..<parameters.stereo.magnitudePasses {
            match.pattern(of: current, outputs: 2, into: &pattern)
            let target = zip(levels, pattern).map { level, response in level * response.direction }
            current = solve(bins, bin, target: target, limit: limit)
          }
        }
        current = scaled(current, match, ears: ears, scratch: &pattern)
      }
      previous = current
      lowered[bin] = limit > limits[bin]
      weights[bin] = lowered[bin] ? withoutBoost(current, ears: ears, limit: limits[bin]) : current
    }
    return (weights, lowered)
  }

  /// 3 dB, as a logarithm of energies.
  private static let widestTone = 0.3 * log(10)
  /// How often tone is corrected again after truncation.
  private static let tonePasses = 2

  private func response(of filters: Taps<Float>) -> Weights {
    FilterResponse(
      taps: filters, sampleRate: grid.sampleRate, delayFrames: grid.delayFrames, frequencies: grid.frequencies
    ).weights
  }

  /// Raises or lowers bins, both ears alike so that no cue changes, towards the target's energy in the diffuse field and
  /// straight ahead, both averaged over third octaves. Where they want different gains, the error ahead may be twice the
  /// one of the diffuse field; where they differ by more than `widestTone`, as in the notch of a pinna, the diffuse
  /// field keeps its 1 dB.
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
                $0 + weight[ear * match.microphones + $1] * bins.front[bin, $1, 0]
              }.squaredMagnitude
          }, frontTarget[bin]
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
      let gain = exp(-parameters.stereo.toneCorrection * (ofDiffuse + difference / 3) / 2)
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
  private func solve(_ bins: StereoBins, _ bin: Int, target: [Complex], limit: Double) -> [Complex] {
    let match = bins.counted[bin]
    let count = directions.count
    let counted = target.indices.map { bins.amplitudes[$0 % count] * target[$0] }
    let eigenvalues = match.covarianceEigen.values
    let mean = eigenvalues.reduce(0, +) / Double(eigenvalues.count)
    return match.correlation(with: counted, outputs: 2).flatMap { correlation in
      let regulariser = match.regulariser(
        of: correlation, from: parameters.stereo.minimumRegulariser * mean, to: 100 * eigenvalues.last!
      ) { components in
        let power = bins.all[bin].outputPowers(of: match.covarianceEigen.combine(components))[0]
        return power.noise <= limit * max(power.signal, 1e-30)
      }
      return match.covarianceEigen.combine(match.solution(correlation, regulariser: regulariser))
    }
  }

  /// Scales `weights` to the target's diffuse-field energy, summed over both ears. The gain is clamped to
  /// `scalingLimit`.
  private func scaled(
    _ weights: [Complex], _ match: BinMatching, ears: [Complex], scratch: inout [Complex]
  ) -> [Complex] {
    match.pattern(of: weights, outputs: 2, into: &scratch)
    let targetEnergy = ears.reduce(0) { $0 + $1.squaredMagnitude }
    let energy = scratch.reduce(0) { $0 + $1.squaredMagnitude }
    let gain = (targetEnergy / max(energy, 1e-12)).squareRoot()
    let limit = parameters.stereo.scalingLimit
    return weights.map { min(max(gain, 1 / limit), limit) * $0 }
  }
}

/// What the design of one stereo case knows of its array.
private struct StereoBins {
  /// One per designed bin: all directions count the same, as for noise and the diffuse field.
  let all: [BinMatching]
  /// The same with directions as they count in least squares.
  let counted: [BinMatching]
  /// Square root of what each direction counts.
  let amplitudes: [Double]
  /// Responses for a source straight ahead: `[frequency][microphone][0]`.
  let front: ResponseGrid
  /// Nil for magnitude least squares.
  let refinement: SectorRefinement?
}
