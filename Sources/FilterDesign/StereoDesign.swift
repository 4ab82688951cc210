import Acoustics
import Foundation

/// Binaural weights of two outputs, all microphones: what the ears of a listener in the device's place hear.
///
/// Below 1.5 kHz (1.3 kHz on a box) complex least squares (binaural signal matching), each output regularised until its noise gain
/// ‖w‖² / mean |Vw|² is at most 10 dB, both scaled alike to the target's diffuse energy. Above, where only
/// levels matter, the sector refinement; without one, magnitude least squares with the phase that the bin
/// below left. Cutting the filters to their length adds noise gain where weights change fast: there the limit
/// is tightened, and the design repeated. Sound from behind is up to 6 dB softer.
/// - Source: Madmoni et al., Binaural reproduction from microphone array signals (2024) for the matching;
///   Schörkhuber et al., Binaural rendering of Ambisonic signals via magnitude least squares (2018).
package struct StereoDesign {
  /// What depends on the body.
  package struct Tuning: Sendable {
    /// Above this only levels matter, in hertz.
    package let crossover: Double
    /// Gain of sound from straight behind relative to that from the front.
    package let rearGain: Double

    /// The listener's: the target that figures are held against.
    package static let standard = Tuning(crossover: 1500, rear: Decibels(-6))
    /// Found by trial on phone5: at 1.5 kHz the octave at 1 kHz is 3.2 dB off in one case, at 1.2 kHz time
    /// differences suffer; with −6 dB front/back stays at 4.1 dB in one case, on a mesh that is not the design's.
    package static let box = Tuning(crossover: 1300, rear: Decibels(-6.7))
    /// Found by trial on ring7: without a body's shadow front/back stays at 4.5 dB with −6 dB, and left/right at
    /// 7.9 dB; so tuned, they come to 6.9 dB, for 7.1 dB of the listener's, and 8.1 dB.
    package static let free = Tuning(crossover: 1700, rear: Decibels(-9.2))

    package init(crossover: Double, rear: Decibels) {
      self.crossover = crossover
      rearGain = pow(10, rear.value / 20)
    }

    package init(body: Body) {
      self =
        switch body {
        case .box: .box
        case .free: .free
        case .sphere, .measured: .standard
        }
    }
  }

  /// Noise gain that the weights of a bin may have at first, as a power ratio.
  static let noiseGainLimit = 10.0
  /// Noise gain that finished filters may have, 100 Hz to 16 kHz.
  static let finishedNoiseGain = Decibels(10.4)
  /// Limits are tightened at most this often.
  static let tightenings = 5
  static let magnitudePasses = 6
  static let leastRegulariser = 1e-3

  /// Directions of the design in the head frame; the same for all cases, so that one target serves them all.
  package static let directions = fibonacciSphere(1200)

  /// What the ears should hear: `hrtf` with the front emphasised. Shape `[frequency][ear][direction]`.
  package static func target(
    _ hrtf: HRTF, from directions: [SIMD3<Double>], frequencies: [Double], tuning: Tuning = .standard
  ) -> ResponseGrid {
    let rearGain = tuning.rearGain
    var target = hrtf.responses(from: directions, frequencies: frequencies)
    let gains = directions.map { rearGain + (1 - rearGain) * (1 + $0.x) / 2 }
    target.values.withUnsafeMutableBufferPointer { values in
      for i in values.indices { values[i] = gains[i % directions.count] * values[i] }
    }
    return target
  }

  /// - Parameters:
  ///   - target: of `directions` at the grid's frequencies.
  ///   - frame: the listener's axes in the device.
  ///   - refinement: of the same target; nil leaves magnitude least squares above the crossover.
  /// - Returns: `[output][microphone][tap]`.
  package static func filters(
    target: ResponseGrid, manifold: any ArrayManifold, frame: HeadFrame, grid: DesignGrid,
    refinement: SectorRefinement?, tuning: Tuning = .standard, step: DesignStep = .unobserved
  ) throws(DesignError) -> [[[Double]]] {
    let frequencies = grid.frequencies
    let microphones = manifold.microphoneCount
    let responses = try manifold.responses(
      from: directions.map(frame.device(fromHead:)), frequencies: frequencies, step: step.within(0...0.1))
    return try responses.values.withUnsafeBufferPointer { buffer throws(DesignError) in
      let matches = try BinMatching.all(
        buffer, microphones: microphones, directions: directions.count, step: step.within(0.1...0.2))
      var limits = NoiseGainLimits(grid: grid, start: noiseGainLimit, allowed: finishedNoiseGain)
      var best: (filters: [[[Double]]], excess: Double)?
      var done = 0.2
      for _ in 0...tightenings {
        // Mostly there are two or three rounds.
        let round = step.within(done...(done + 1) / 2)
        done = (done + 1) / 2
        let weights = try weights(
          target: target, matches, limits: limits.ratios, grid: grid, refinement, tuning, round)
        let filters = try weights.filters(on: grid, step: step)
        let excess = try limits.tighten(filters, matches, step: step)
        if excess < best?.excess ?? .infinity { best = (filters, excess) }
        if excess <= 0 { break }
      }
      return best!.filters
    }
  }

  private static func weights(
    target: ResponseGrid, _ matches: [BinMatching], limits: [Double], grid: DesignGrid,
    _ refinement: SectorRefinement?, _ tuning: Tuning, _ step: DesignStep
  ) throws(DesignError) -> Weights {
    var weights = Weights(frequencies: matches.count, outputs: 2, microphones: matches[0].microphones)
    var pattern = [Complex](repeating: .zero, count: 2 * directions.count)
    let crossoverBin = grid.bin(nearest: tuning.crossover)
    for (bin, match) in matches.enumerated() {
      try step.reached(Double(bin) / Double(matches.count))
      if let refinement, bin >= crossoverBin {
        weights[bin] = try refinement.refined(
          weights[bin - 1], bin: bin, match, noiseGainLimit: limits[bin], isFirst: bin == crossoverBin,
          step: step)
        continue
      }
      let ears = Array(target.values[bin * pattern.count..<(bin + 1) * pattern.count])
      var current: [Complex]
      if bin <= crossoverBin {
        current = solve(match, wanted: ears, limit: limits[bin])
      } else {
        let levels = ears.map(\.magnitude)
        current = weights[bin - 1]
        for _ in 0..<magnitudePasses {
          match.pattern(of: current, outputs: 2, into: &pattern)
          let wanted = zip(levels, pattern).map { level, reached in level * reached.direction }
          current = solve(match, wanted: wanted, limit: limits[bin])
        }
      }
      weights[bin] = scaled(current, match, ears: ears, scratch: &pattern)
    }
    return weights
  }

  private static func solve(_ match: BinMatching, wanted: [Complex], limit: Double) -> [Complex] {
    let values = match.energy.values
    let mean = values.reduce(0, +) / Double(values.count)
    return match.correlation(with: wanted, outputs: 2).flatMap { correlation in
      let regulariser = match.regulariser(
        of: correlation, from: leastRegulariser * mean, to: 100 * values.last!
      ) { components in
        var noise = 0.0
        var signal = 0.0
        for (component, value) in zip(components, values) {
          noise += component.squaredMagnitude
          signal += value * component.squaredMagnitude
        }
        return noise <= limit * max(signal, 1e-30)
      }
      return match.energy.combine(match.solution(correlation, regulariser: regulariser))
    }
  }

  /// `weights` with the target's energy over all directions and both ears, by no more than 12 dB.
  private static func scaled(
    _ weights: [Complex], _ match: BinMatching, ears: [Complex], scratch: inout [Complex]
  ) -> [Complex] {
    match.pattern(of: weights, outputs: 2, into: &scratch)
    let wanted = ears.reduce(0) { $0 + $1.squaredMagnitude }
    let reached = scratch.reduce(0) { $0 + $1.squaredMagnitude }
    let gain = (wanted / max(reached, 1e-12)).squareRoot()
    return weights.map { min(max(gain, 0.25), 4) * $0 }
  }
}
