import Acoustics
import Foundation
import HeadResponses
import Manifolds
import Numerics

/// Binaural weights of two outputs, all microphones: what the ears of a listener in the device's place hear.
///
/// Below the crossover complex least squares (binaural signal matching), each output regularised until its noise gain
/// ‖w‖² / mean |Vw|² is within its limit, both scaled alike to the target's diffuse energy. Above, where only
/// levels matter, the sector refinement; without one, magnitude least squares with the phase that the bin
/// below left. Cutting the filters to their length adds noise gain where weights change fast: there the limit
/// is tightened, and the design repeated. Sound from behind is softer than the listener's, by `rearGain`.
/// - Source: Madmoni et al., Binaural reproduction from microphone array signals (2024) for the matching;
///   Schörkhuber et al., Binaural rendering of Ambisonic signals via magnitude least squares (2018).
package struct StereoDesign: Sendable {
  private let parameters: DesignParameters.Stereo
  private let grid: DesignGrid
  /// Directions of the design in the head frame; the same for all cases, so that one target serves them all.
  package let directions: [SIMD3<Double>]
  /// What the ears should hear from `directions` at the grid's frequencies.
  private let target: ResponseGrid
  private let refinement: SectorRefinement?

  /// - Parameters:
  ///   - hrtf: the listener.
  ///   - isRefined: whether sectors are refined above the crossover; otherwise it is magnitude least squares.
  package init(
    hrtf: HRTF, grid: DesignGrid, parameters: DesignParameters, isRefined: Bool = true,
    step: DesignStep = .unobserved
  ) throws(DesignError) {
    self.parameters = parameters.stereo
    self.grid = grid
    directions = fibonacciSphere(parameters.stereo.directions)
    try step.reached(0)
    target = Self.target(
      hrtf, from: directions, frequencies: grid.frequencies, rearGain: parameters.stereo.rearGain)
    try step.reached(0.5)
    refinement =
      isRefined
      ? SectorRefinement(target: target, directions: directions, parameters: parameters.refinement) : nil
  }

  /// What the ears should hear: `hrtf` with the front emphasised. Shape `[frequency][ear][direction]`.
  /// - Parameter rearGain: of sound from straight behind. Figures are held against the listener's, the default.
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

  /// - Parameter frame: the listener's axes in the device.
  /// - Returns: `[output][microphone][tap]`.
  package func filters(
    manifold: any ArrayManifold, frame: HeadFrame, step: DesignStep = .unobserved
  ) throws(DesignError) -> [[[Double]]] {
    let frequencies = grid.frequencies
    let microphones = manifold.microphoneCount
    let responses = try manifold.responses(
      from: directions.map(frame.device(fromHead:)), frequencies: frequencies, step: step.within(0...0.1))
    return try responses.values.withUnsafeBufferPointer { buffer throws(DesignError) in
      let matches = try BinMatching.all(
        buffer, microphones: microphones, directions: directions.count, step: step.within(0.1...0.2))
      var limits = NoiseGainLimits(grid: grid, parameters: parameters)
      var best: (filters: [[[Double]]], excess: Double)?
      var done = 0.2
      for _ in 0...parameters.tightenings {
        // Mostly there are two or three rounds.
        let round = step.within(done...(done + 1) / 2)
        done = (done + 1) / 2
        let weights = try weights(matches, limits: limits.ratios, step: round)
        let filters = try weights.filters(on: grid, step: step)
        let excess = try limits.tighten(filters, matches, step: step)
        if excess < best?.excess ?? .infinity { best = (filters, excess) }
        if excess <= 0 { break }
      }
      return best!.filters
    }
  }

  private func weights(
    _ matches: [BinMatching], limits: [Double], step: DesignStep
  ) throws(DesignError) -> Weights {
    var weights = Weights(frequencies: matches.count, outputs: 2, microphones: matches[0].microphones)
    var pattern = [Complex](repeating: .zero, count: 2 * directions.count)
    let crossoverBin = grid.bin(nearest: parameters.crossover.value)
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
        for _ in 0..<parameters.magnitudePasses {
          match.pattern(of: current, outputs: 2, into: &pattern)
          let wanted = zip(levels, pattern).map { level, reached in level * reached.direction }
          current = solve(match, wanted: wanted, limit: limits[bin])
        }
      }
      weights[bin] = scaled(current, match, ears: ears, scratch: &pattern)
    }
    return weights
  }

  private func solve(_ match: BinMatching, wanted: [Complex], limit: Double) -> [Complex] {
    let values = match.energy.values
    let mean = values.reduce(0, +) / Double(values.count)
    return match.correlation(with: wanted, outputs: 2).flatMap { correlation in
      let regulariser = match.regulariser(
        of: correlation, from: parameters.leastRegulariser * mean, to: 100 * values.last!
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

  /// `weights` with the target's energy over all directions and both ears, as far as `scalingLimit` allows.
  private func scaled(
    _ weights: [Complex], _ match: BinMatching, ears: [Complex], scratch: inout [Complex]
  ) -> [Complex] {
    match.pattern(of: weights, outputs: 2, into: &scratch)
    let wanted = ears.reduce(0) { $0 + $1.squaredMagnitude }
    let reached = scratch.reduce(0) { $0 + $1.squaredMagnitude }
    let gain = (wanted / max(reached, 1e-12)).squareRoot()
    let limit = parameters.scalingLimit
    return weights.map { min(max(gain, 1 / limit), limit) * $0 }
  }
}
