import Acoustics
import Foundation
import HeadResponses
import Manifolds
import Numerics

/// Designs binaural filters with two outputs from all microphones. The outputs approximate the ear signals of a
/// listener in the device's place. Sound from behind is attenuated by `rearGain` relative to that listener.
///
/// - Below the crossover: complex least squares (binaural signal matching, BSM). Each output is regularised until its
///   noise gain ‖w‖² / mean |Vᵀw|² is within the limit. Both outputs get the same gain, which matches the target's
///   diffuse-field energy.
/// - Above the crossover, where only levels matter: `SectorRefinement`; without it, magnitude least squares (MagLS),
///   each bin with the phases of the bin below.
///
/// Truncation adds noise gain where weights change fast over frequency. The limits of such bins are lowered, and the
/// design is repeated.
/// - Source: Madmoni et al., Binaural reproduction from microphone array signals (2024) for BSM;
///   Schörkhuber et al., Binaural rendering of Ambisonic signals via magnitude least squares (2018) for MagLS.
package struct StereoDesign: Sendable {
  private let parameters: DesignParameters.Stereo
  private let grid: DesignGrid
  /// Directions of the design, unit vectors of the head frame. They are the same for all cases, which share one target.
  package let directions: [SIMD3<Double>]
  /// Target ear responses for `directions` at the grid's frequencies: `[frequency][ear][direction]`.
  private let target: ResponseGrid
  private let refinement: SectorRefinement?

  /// - Parameters:
  ///   - hrtf: the listener's head-related transfer functions.
  ///   - isRefined: whether bins above the crossover use `SectorRefinement`; otherwise they use MagLS.
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
      var progress = 0.2
      for _ in 0...parameters.tightenings {
        // Usually there are two or three rounds: each gets half of the remaining progress.
        let round = step.within(progress...(progress + 1) / 2)
        progress = (progress + 1) / 2
        let weights = try weights(matches, limits: limits.ratios, step: round)
        let filters = try weights.filters(on: grid, step: step)
        let excess = try limits.tighten(filters, matches, step: step)
        if excess < best?.excess ?? .infinity { best = (filters, excess) }
        if excess <= 0 { break }
      }
      return best!.filters
    }
  }

  /// - Parameter limits: noise gain limit of each bin, as a power ratio.
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
        current = solve(match, target: ears, limit: limits[bin])
      } else {
        let levels = ears.map(\.magnitude)
        current = weights[bin - 1]
        for _ in 0..<parameters.magnitudePasses {
          match.pattern(of: current, outputs: 2, into: &pattern)
          let target = zip(levels, pattern).map { level, response in level * response.direction }
          current = solve(match, target: target, limit: limits[bin])
        }
      }
      weights[bin] = scaled(current, match, ears: ears, scratch: &pattern)
    }
    return weights
  }

  /// Least squares with the smallest regulariser that keeps each output's noise gain within `limit`, a power ratio.
  private func solve(_ match: BinMatching, target: [Complex], limit: Double) -> [Complex] {
    let eigenvalues = match.covarianceEigen.values
    let mean = eigenvalues.reduce(0, +) / Double(eigenvalues.count)
    return match.correlation(with: target, outputs: 2).flatMap { correlation in
      let regulariser = match.regulariser(
        of: correlation, from: parameters.leastRegulariser * mean, to: 100 * eigenvalues.last!
      ) { components in
        var noise = 0.0
        var signal = 0.0
        for (component, eigenvalue) in zip(components, eigenvalues) {
          noise += component.squaredMagnitude
          signal += eigenvalue * component.squaredMagnitude
        }
        return noise <= limit * max(signal, 1e-30)
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
    let limit = parameters.scalingLimit
    return weights.map { min(max(gain, 1 / limit), limit) * $0 }
  }
}
