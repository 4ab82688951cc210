import Acoustics
import Foundation
import Numerics

/// The weights of a first-order pattern in every designed bin.
struct PatternBins {
  /// Weights of one output.
  var weights: Weights
  /// Regulariser of each bin, in the unit of the covariance's eigenvalues.
  var regularisers: [Double]
}

/// Least-squares match of a first-order pattern in each bin: complex below a crossover, magnitude least squares above.
///
/// - White-noise gain: the regulariser grows until the white-noise gain reaches its floor (−10 dB). Some patterns never
///   reach it, such as a figure of eight at low frequencies, which no regulariser makes less directional. Their on-axis
///   response rolls off instead, so that their noise stays within the same bound.
/// - Width: regularisation widens a pattern. The design then aims at a narrower one.
/// - Equalisation: the on-axis response is made flat. If it is below the diffuse-field response, the gain is limited to
///   +6 dB or to what gives a diffuse-field response of 0 dB, whichever is more.
struct PatternMatching {
  let parameters: DesignParameters.Mono
  /// A power ratio.
  private let whiteNoiseGainFloor: Double
  let grid: DesignGrid
  /// One per designed bin.
  let matches: [BinMatching]
  /// Microphone responses on the pattern's axis: `[bin][microphone]`.
  let onAxisResponses: [[Complex]]
  /// cos θ of each direction.
  let cosines: [Double]
  /// α of the pattern α + (1 − α) cos θ.
  let omnidirectionalPart: Double
  /// The first bin that is matched by magnitude only.
  let crossoverBin: Int

  init(
    grid: DesignGrid, matches: [BinMatching], onAxisResponses: [[Complex]], cosines: [Double],
    omnidirectionalPart: Double, crossover: Double, parameters: DesignParameters.Mono
  ) {
    self.parameters = parameters
    whiteNoiseGainFloor = parameters.whiteNoiseGainFloor.powerRatio
    self.grid = grid
    self.matches = matches
    self.onAxisResponses = onAxisResponses
    self.cosines = cosines
    self.omnidirectionalPart = omnidirectionalPart
    crossoverBin = min(Int(crossover / grid.binWidth) + 1, matches.count)
  }

  /// Matches the pattern in every designed bin.
  func bins(step: DesignStep) throws(DesignError) -> PatternBins {
    var bins = PatternBins(
      weights: Weights(frequencies: matches.count, outputs: 1, microphones: matches[0].microphones),
      regularisers: [])
    for bin in 0..<crossoverBin {
      try step.reached(0.1 * Double(bin) / Double(crossoverBin))
      let match = complexMatch(bin)
      bins.weights[bin] = equalised(match.weights, bin)
      bins.regularisers.append(match.regulariser)
    }
    var startingMicrophone = try startingMicrophone(below: bins.weights, step: step.within(0.1...0.8))
    for bin in crossoverBin..<matches.count {
      try step.reached(0.8 + 0.2 * Double(bin) / Double(matches.count))
      let phases =
        startingMicrophone.map { responses(ofMicrophone: $0, bin) } ?? pattern(of: bins.weights[bin - 1], bin)
      let match = try magnitudeMatch(
        bin, phases: phases,
        passes: startingMicrophone == nil ? parameters.magnitudePasses : parameters.firstMagnitudePasses,
        step: step)
      startingMicrophone = nil
      bins.weights[bin] = equalised(match.weights, bin)
      bins.regularisers.append(match.regulariser)
    }
    return bins
  }

  /// Directivity factor, a power ratio: on-axis energy over diffuse-field energy.
  func directivity(of weights: [Complex], _ bin: Int) -> Double {
    onAxisResponse(weights, bin).squaredMagnitude / max(diffuseEnergy(weights, bin), 1e-30)
  }

  /// Directivity factor of the match without the white-noise gain constraint.
  func unconstrainedDirectivity(_ bin: Int) -> Double {
    let match = matches[bin]
    let correlation = match.correlation(with: target(omnidirectionalPart), outputs: 1)[0]
    let least = parameters.leastRegulariser * match.covarianceEigen.values.last!
    return directivity(
      of: match.covarianceEigen.combine(match.solution(correlation, regulariser: least)), bin)
  }

  /// Directional response of `weights` in `bin`: `[direction]`.
  func pattern(of weights: [Complex], _ bin: Int) -> [Complex] {
    var pattern = [Complex](repeating: .zero, count: cosines.count)
    matches[bin].pattern(of: weights, outputs: 1, into: &pattern)
    return pattern
  }

  private typealias Match = (weights: [Complex], regulariser: Double)

  private func target(_ alpha: Double) -> [Complex] { cosines.map { Complex(alpha + (1 - alpha) * $0, 0) } }

  /// Matches magnitude and phase. While noise limits the directivity, it lowers α as long as that helps.
  private func complexMatch(_ bin: Int) -> Match {
    let least = parameters.leastRegulariser
    var best = solve(bin, target: target(omnidirectionalPart), least: least)
    guard omnidirectionalPart > 0, best.isLimitedByNoise else { return (best.weights, best.regulariser) }
    // The pattern's own directivity factor: the denominator is the mean of (α + (1 − α) cos θ)² over the sphere.
    let targetDirectivity = 1 / (pow(omnidirectionalPart, 2) + pow(1 - omnidirectionalPart, 2) / 3)
    var alpha = omnidirectionalPart
    while directivity(of: best.weights, bin) < targetDirectivity, alpha > parameters.leastOmnidirectionalPart
    {
      alpha -= parameters.narrowing
      let narrower = solve(bin, target: target(alpha), least: least)
      guard narrower.isLimitedByNoise,
        directivity(of: narrower.weights, bin) > 1.0001 * directivity(of: best.weights, bin)
      else { break }
      best = narrower
    }
    return (best.weights, best.regulariser)
  }

  /// Magnitude least squares: alternates between solving and adopting the phases of the result.
  /// - Parameter phases: the initial phases, as a directional response; its magnitudes are ignored.
  private func magnitudeMatch(
    _ bin: Int, phases: [Complex], passes: Int, step: DesignStep
  ) throws(DesignError) -> Match {
    let magnitudes = cosines.map { abs(omnidirectionalPart + (1 - omnidirectionalPart) * $0) }
    var phases = phases
    var match: Match = ([], 0)
    for _ in 0..<passes {
      try step.check()
      let target = zip(magnitudes, phases).map { magnitude, response in magnitude * response.direction }
      let solution = solve(bin, target: target, least: parameters.leastMagnitudeRegulariser)
      match = (solution.weights, solution.regulariser)
      phases = pattern(of: match.weights, bin)
    }
    return match
  }

  /// The microphone whose phases are the best initial phases for the first magnitude match; nil if those of the bin
  /// below are better.
  ///
  /// Magnitude least squares converges to a local optimum near its initial phases, and each bin passes it on to the
  /// next. For the cardioid of a flat phone or of a ring, the phases of a microphone can lead to a pattern error up to
  /// 10 dB lower than those of the complex match below.
  private func startingMicrophone(below weights: Weights, step: DesignStep) throws(DesignError) -> Int? {
    guard crossoverBin < matches.count else { return nil }
    var best: (error: Double, microphone: Int?) = (.infinity, nil)
    let candidates = [nil] + (0..<matches[0].microphones).map(Optional.some)
    for (number, microphone) in candidates.enumerated() {
      try step.reached(Double(number) / Double(candidates.count))
      var phases =
        microphone.map { responses(ofMicrophone: $0, crossoverBin) }
        ?? pattern(of: weights[crossoverBin - 1], crossoverBin)
      var (error, weightSum) = (0.0, 0.0)
      let last = min(matches.count, Int(parameters.highestTrial.value / grid.binWidth))
      for bin in stride(from: crossoverBin, to: last, by: parameters.trialStride) {
        let match = try magnitudeMatch(
          bin, phases: phases,
          passes: bin == crossoverBin ? parameters.firstMagnitudePasses : parameters.magnitudePasses,
          step: step)
        // The weight 1/f gives every octave the same weight.
        error += log(patternError(of: match.weights, bin)) / Double(bin)
        weightSum += 1 / Double(bin)
        if bin + parameters.trialStride < last {
          phases = pattern(of: match.weights, bin + parameters.trialStride)
        }
      }
      error /= max(weightSum, 1e-9)
      // Mirror-image microphones give the same error except for rounding. The margin makes the first of them win.
      let margin = best.microphone == nil ? parameters.worthAJump.value / 10 * log(10) : parameters.tie
      if number == 0 || error < best.error - margin {
        best = (error, microphone)
      }
    }
    return best.microphone
  }

  /// Responses of one microphone: `[direction]`.
  private func responses(ofMicrophone microphone: Int, _ bin: Int) -> [Complex] {
    let match = matches[bin]
    return (0..<match.directions).map { match.responses[microphone * match.directions + $0] }
  }

  /// Mean of (|response| − |target|)² over the directions.
  private func patternError(of weights: [Complex], _ bin: Int) -> Double {
    mean(
      zip(cosines, pattern(of: weights, bin)).map { cosine, response in
        pow(response.magnitude - abs(omnidirectionalPart + (1 - omnidirectionalPart) * cosine), 2)
      })
  }

  /// Least squares with the smallest regulariser that keeps the white-noise gain above its floor. If none does, it uses
  /// the smallest regulariser. The weights are zero if the array cannot produce the target at all.
  /// - Parameters:
  ///   - target: `[direction]`.
  ///   - least: the smallest regulariser relative to the largest eigenvalue.
  /// - Returns: `isLimitedByNoise` tells whether the white-noise gain required a larger regulariser than `least`.
  private func solve(
    _ bin: Int, target: [Complex], least: Double
  ) -> (weights: [Complex], regulariser: Double, isLimitedByNoise: Bool) {
    let match = matches[bin]
    let largest = match.covarianceEigen.values.last!
    let correlation = match.correlation(with: target, outputs: 1)[0]
    // By the Cauchy–Schwarz inequality ‖V* t‖² is at most the largest eigenvalue times ‖t‖².
    guard
      squaredNorm(correlation)
        >= pow(parameters.leastReach, 2) * largest * mean(target.map(\.squaredMagnitude))
    else {
      return ([Complex](repeating: .zero, count: match.microphones), least * largest, false)
    }
    func isRobust(_ components: [Complex]) -> Bool {
      let weights = match.covarianceEigen.combine(components)
      return onAxisResponse(weights, bin).squaredMagnitude >= whiteNoiseGainFloor * squaredNorm(weights)
    }
    let plain = match.solution(correlation, regulariser: least * largest)
    if isRobust(plain) { return (match.covarianceEigen.combine(plain), least * largest, false) }
    let regulariser = match.regulariser(
      of: correlation, from: least * largest, to: largest * 1e3, accepts: isRobust)
    let robust = match.solution(correlation, regulariser: regulariser)
    guard isRobust(robust) else { return (match.covarianceEigen.combine(plain), least * largest, false) }
    return (match.covarianceEigen.combine(robust), regulariser, true)
  }

  /// `weights` scaled to an on-axis response of 1, as far as `leastOnAxis` and the noise bound allow.
  private func equalised(_ weights: [Complex], _ bin: Int) -> [Complex] {
    let onAxis = onAxisResponse(weights, bin).magnitude
    let reference = max(
      onAxis, min(parameters.leastOnAxis, diffuseEnergy(weights, bin).squareRoot()), 1e-9)
    let flat = weights.map { (1 / reference) * $0 }
    let excess = squaredNorm(flat) * whiteNoiseGainFloor
    return excess > 1 ? flat.map { (1 / excess.squareRoot()) * $0 } : flat
  }

  /// Output energy averaged over all directions, wᴴ R w.
  private func diffuseEnergy(_ weights: [Complex], _ bin: Int) -> Double {
    let eigen = matches[bin].covarianceEigen
    return weights.withUnsafeBufferPointer { weights in
      zip(eigen.project(weights.baseAddress!), eigen.values)
        .reduce(0) { $0 + $1.0.squaredMagnitude * $1.1 }
    }
  }

  private func onAxisResponse(_ weights: [Complex], _ bin: Int) -> Complex {
    zip(weights, onAxisResponses[bin]).reduce(.zero) { $0 + $1.0 * $1.1 }
  }

  private func squaredNorm(_ vector: [Complex]) -> Double { vector.reduce(0) { $0 + $1.squaredMagnitude } }
}
