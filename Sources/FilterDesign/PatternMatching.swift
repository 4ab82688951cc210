import Acoustics
import Foundation
import Numerics

/// The weights of a first-order pattern, bin by bin.
struct PatternBins {
  /// Of one output.
  var weights: Weights
  /// What each bin was regularised by, in units of the mean response.
  var regularisers: [Double]
}

/// Matches a first-order pattern in each bin: complex below a crossover, above it by magnitude.
///
/// The regulariser grows until the white-noise gain is at its floor (−10 dB); a pattern that cannot get there (a
/// figure of eight at low frequencies, which no regulariser makes less directional) rolls off on axis instead,
/// so that its noise stays within the same bound. Where the regulariser makes a pattern wider than was asked
/// for, a narrower one is aimed at. The response on axis is made flat, but never by raising the mean of all
/// directions above −6 dB.
struct PatternMatching {
  let parameters: DesignParameters.Mono
  /// As a power ratio.
  private let whiteNoiseGainFloor: Double
  let grid: DesignGrid
  /// Of each designed bin.
  let matches: [BinMatching]
  /// Responses of the microphones on axis: `[bin][microphone]`.
  let axes: [[Complex]]
  /// cos θ of each direction.
  let cosines: [Double]
  let omnidirectionalPart: Double
  /// The first bin whose phases do not count.
  let crossoverBin: Int

  init(
    grid: DesignGrid, matches: [BinMatching], axes: [[Complex]], cosines: [Double],
    omnidirectionalPart: Double, crossover: Double, parameters: DesignParameters.Mono
  ) {
    self.parameters = parameters
    whiteNoiseGainFloor = parameters.whiteNoiseGainFloor.powerRatio
    self.grid = grid
    self.matches = matches
    self.axes = axes
    self.cosines = cosines
    self.omnidirectionalPart = omnidirectionalPart
    crossoverBin = min(Int(crossover / grid.binWidth) + 1, matches.count)
  }

  func bins(step: DesignStep) throws(DesignError) -> PatternBins {
    var bins = PatternBins(
      weights: Weights(frequencies: matches.count, outputs: 1, microphones: matches[0].microphones),
      regularisers: [])
    for bin in 0..<crossoverBin {
      try step.reached(0.1 * Double(bin) / Double(crossoverBin))
      let found = complexMatch(bin)
      bins.weights[bin] = flattened(found.weights, bin)
      bins.regularisers.append(found.regulariser)
    }
    var start = try bestStart(below: bins.weights, step: step.within(0.1...0.8))
    for bin in crossoverBin..<matches.count {
      try step.reached(0.8 + 0.2 * Double(bin) / Double(matches.count))
      let phases = start.map { waves(ofMicrophone: $0, bin) } ?? pattern(of: bins.weights[bin - 1], bin)
      let found = try magnitudeMatch(
        bin, phases: phases,
        passes: start == nil ? parameters.magnitudePasses : parameters.firstMagnitudePasses,
        step: step)
      start = nil
      bins.weights[bin] = flattened(found.weights, bin)
      bins.regularisers.append(found.regulariser)
    }
    return bins
  }

  /// On-axis energy over the mean of all directions.
  func directivity(of weights: [Complex], _ bin: Int) -> Double {
    response(weights, bin).squaredMagnitude / max(diffuse(weights, bin), 1e-30)
  }

  /// The directivity of the match without regard to noise.
  func freeDirectivity(_ bin: Int) -> Double {
    let match = matches[bin]
    let correlation = match.correlation(with: target(omnidirectionalPart), outputs: 1)[0]
    let least = parameters.leastRegulariser * match.energy.values.last!
    return directivity(of: match.energy.combine(match.solution(correlation, regulariser: least)), bin)
  }

  /// What `weights` make of the directions in `bin`.
  func pattern(of weights: [Complex], _ bin: Int) -> [Complex] {
    var pattern = [Complex](repeating: .zero, count: cosines.count)
    matches[bin].pattern(of: weights, outputs: 1, into: &pattern)
    return pattern
  }

  private typealias Match = (weights: [Complex], regulariser: Double)

  private func target(_ part: Double) -> [Complex] { cosines.map { Complex(part + (1 - part) * $0, 0) } }

  private func complexMatch(_ bin: Int) -> Match {
    let least = parameters.leastRegulariser
    var found = solve(bin, wanted: target(omnidirectionalPart), least: least)
    guard omnidirectionalPart > 0, found.isHeldByNoise else { return (found.weights, found.regulariser) }
    // ∫ (α + (1 − α) c)² over the sphere.
    let wanted = 1 / (pow(omnidirectionalPart, 2) + pow(1 - omnidirectionalPart, 2) / 3)
    var part = omnidirectionalPart
    while directivity(of: found.weights, bin) < wanted, part > parameters.leastOmnidirectionalPart {
      part -= parameters.narrowing
      let narrower = solve(bin, wanted: target(part), least: least)
      guard narrower.isHeldByNoise,
        directivity(of: narrower.weights, bin) > 1.0001 * directivity(of: found.weights, bin)
      else { break }
      found = narrower
    }
    return (found.weights, found.regulariser)
  }

  private func magnitudeMatch(
    _ bin: Int, phases: [Complex], passes: Int, step: DesignStep
  ) throws(DesignError) -> Match {
    let levels = cosines.map { abs(omnidirectionalPart + (1 - omnidirectionalPart) * $0) }
    var phases = phases
    var found: Match = ([], 0)
    for _ in 0..<passes {
      try step.check()
      let wanted = zip(levels, phases).map { level, reached in level * reached.direction }
      let solved = solve(bin, wanted: wanted, least: parameters.leastMagnitudeRegulariser)
      found = (solved.weights, solved.regulariser)
      phases = pattern(of: found.weights, bin)
    }
    return found
  }

  /// The microphone whose phases make the best start of the magnitude matches; nil where the bin below does.
  ///
  /// Each match ends in an optimum near its start, and the bins above follow: for a flat phone's cardioid or a
  /// ring's there is a better one than the complex match leads to, by up to 10 dB of pattern error.
  private func bestStart(below weights: Weights, step: DesignStep) throws(DesignError) -> Int? {
    guard crossoverBin < matches.count else { return nil }
    var best: (error: Double, start: Int?) = (.infinity, nil)
    let starts = [nil] + (0..<matches[0].microphones).map(Optional.some)
    for (number, start) in starts.enumerated() {
      try step.reached(Double(number) / Double(starts.count))
      var phases =
        start.map { waves(ofMicrophone: $0, crossoverBin) }
        ?? pattern(of: weights[crossoverBin - 1], crossoverBin)
      var (error, sum) = (0.0, 0.0)
      let last = min(matches.count, Int(parameters.highestTrial.value / grid.binWidth))
      for bin in stride(from: crossoverBin, to: last, by: parameters.trialStride) {
        let found = try magnitudeMatch(
          bin, phases: phases,
          passes: bin == crossoverBin ? parameters.firstMagnitudePasses : parameters.magnitudePasses,
          step: step)
        // Each octave weighs the same.
        error += log(patternError(of: found.weights, bin)) / Double(bin)
        sum += 1 / Double(bin)
        if bin + parameters.trialStride < last {
          phases = pattern(of: found.weights, bin + parameters.trialStride)
        }
      }
      error /= max(sum, 1e-9)
      // Microphones that mirror each other reach the same error but for rounding: the first of them is taken.
      let margin = best.start == nil ? parameters.worthAJump.value / 10 * log(10) : parameters.tie
      if number == 0 || error < best.error - margin {
        best = (error, start)
      }
    }
    return best.start
  }

  private func waves(ofMicrophone microphone: Int, _ bin: Int) -> [Complex] {
    let match = matches[bin]
    return (0..<match.directions).map { match.responses[microphone * match.directions + $0] }
  }

  /// Mean (|P| − |T|)² of the directions.
  private func patternError(of weights: [Complex], _ bin: Int) -> Double {
    mean(
      zip(cosines, pattern(of: weights, bin)).map { cosine, reached in
        pow(reached.magnitude - abs(omnidirectionalPart + (1 - omnidirectionalPart) * cosine), 2)
      })
  }

  private func solve(
    _ bin: Int, wanted: [Complex], least: Double
  ) -> (weights: [Complex], regulariser: Double, isHeldByNoise: Bool) {
    let match = matches[bin]
    let largest = match.energy.values.last!
    let correlation = match.correlation(with: wanted, outputs: 1)[0]
    // By Cauchy and Schwarz ‖V* t‖² is at most the largest eigenvalue times ‖t‖².
    guard
      energy(correlation) >= pow(parameters.leastReach, 2) * largest * mean(wanted.map(\.squaredMagnitude))
    else {
      return ([Complex](repeating: .zero, count: match.microphones), least * largest, false)
    }
    func isRobust(_ components: [Complex]) -> Bool {
      let weights = match.energy.combine(components)
      return response(weights, bin).squaredMagnitude >= whiteNoiseGainFloor * energy(weights)
    }
    let plain = match.solution(correlation, regulariser: least * largest)
    if isRobust(plain) { return (match.energy.combine(plain), least * largest, false) }
    let regulariser = match.regulariser(
      of: correlation, from: least * largest, to: largest * 1e3, accepts: isRobust)
    let robust = match.solution(correlation, regulariser: regulariser)
    guard isRobust(robust) else { return (match.energy.combine(plain), least * largest, false) }
    return (match.energy.combine(robust), regulariser, true)
  }

  /// `weights` with a flat response on axis, as far as equalisation and noise allow.
  private func flattened(_ weights: [Complex], _ bin: Int) -> [Complex] {
    let level = response(weights, bin).magnitude
    let reached = max(level, min(parameters.leastOnAxis, diffuse(weights, bin).squareRoot()), 1e-9)
    let flat = weights.map { (1 / reached) * $0 }
    let excess = energy(flat) * whiteNoiseGainFloor
    return excess > 1 ? flat.map { (1 / excess.squareRoot()) * $0 } : flat
  }

  /// Mean energy of all directions.
  private func diffuse(_ weights: [Complex], _ bin: Int) -> Double {
    let energy = matches[bin].energy
    return weights.withUnsafeBufferPointer { weights in
      zip(energy.project(weights.baseAddress!), energy.values)
        .reduce(0) { $0 + $1.0.squaredMagnitude * $1.1 }
    }
  }

  private func response(_ weights: [Complex], _ bin: Int) -> Complex {
    zip(weights, axes[bin]).reduce(.zero) { $0 + $1.0 * $1.1 }
  }

  private func energy(_ weights: [Complex]) -> Double { weights.reduce(0) { $0 + $1.squaredMagnitude } }
}
