import Acoustics
import Glibc
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
/// - Aliasing: where the microphones are too far apart for the wavelength, one of them takes over.
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
  /// Square root of what each direction counts, relative to the mean; `matches` have it, too.
  let amplitudes: [Double]
  /// α of the pattern α + (1 − α) cos θ.
  let omnidirectionalPart: Double
  /// The first bin that is matched by magnitude only.
  let crossoverBin: Int

  init(
    grid: DesignGrid, matches: [BinMatching], onAxisResponses: [[Complex]], cosines: [Double],
    amplitudes: [Double], omnidirectionalPart: Double, crossover: Double, parameters: DesignParameters.Mono
  ) {
    self.parameters = parameters
    whiteNoiseGainFloor = parameters.whiteNoiseGainFloor.powerRatio
    self.grid = grid
    self.matches = matches
    self.onAxisResponses = onAxisResponses
    self.cosines = cosines
    self.amplitudes = amplitudes
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
    fadeAboveAliasing(&bins.weights)
    return bins
  }

  /// Above the frequency at which spatial aliasing makes the pattern less directional than a single microphone, fades
  /// to that microphone within half an octave. The sum stays flat on axis: both parts have the same phase there.
  private func fadeAboveAliasing(_ weights: inout Weights) {
    guard let (first, microphone) = aliasing(of: weights) else { return }
    let phase = onAxisResponse(weights[first], first).phase
    for bin in first..<matches.count {
      let part = min(1, log2(Double(bin) / Double(first)) / Self.aliasingFade)
      let share = part * part * (3 - 2 * part)
      let pattern = weights[bin]
      let response = onAxisResponses[bin][microphone]
      let turn = Complex(phase: (1 - share) * phase)
      let own = (turn * onAxisResponse(pattern, bin).direction.conjugate)
      var faded = pattern.map { (1 - share) * (own * $0) }
      faded[microphone] +=
        share / max(response.magnitude, parameters.minimumOnAxis) * (turn * response.direction.conjugate)
      weights[bin] = faded
    }
  }

  /// Octaves of the fade to a single microphone.
  private static let aliasingFade = 0.5
  /// A pattern is aliased if its directivity index is this many decibels below the ideal one, and below the single
  /// microphone's.
  private static let aliasingLoss = 2.5
  /// Directivity indices that differ by less than this, in decibels, are alike.
  private static let alikeMicrophones = 0.05

  /// The first aliased bin, and the microphone with the greatest directivity above the crossover; nil if no bin is
  /// aliased. Directivity indices are means over the third octave from a bin on.
  private func aliasing(of weights: Weights) -> (bin: Int, microphone: Int)? {
    guard omnidirectionalPart < 1, crossoverBin < matches.count else { return nil }
    let bins = max(1, crossoverBin)..<matches.count
    let microphones = matches[0].microphones
    let singles = (0..<microphones).map { m -> [Double] in
      let unit = (0..<microphones).map { Complex($0 == m ? 1 : 0, 0) }
      return bins.map { 10 * log10(max(directivity(of: unit, $0), 1e-6)) }
    }
    // The weight 1/f gives every octave the same weight.
    let octaves = bins.reduce(0) { $0 + 1 / Double($1) }
    let means = singles.map { levels in zip(bins, levels).reduce(0) { $0 + $1.1 / Double($1.0) } / octaves }
    // Of microphones that are alike except for rounding, the first.
    let best = means.firstIndex { $0 > means.max()! - Self.alikeMicrophones }!
    let levels = bins.map { 10 * log10(max(directivity(of: weights[$0], $0), 1e-6)) }
    let ideal = 10 * log10(targetDirectivity)
    for (i, bin) in bins.enumerated() {
      let third = i...min(bins.count - 1, i + Int(0.26 * Double(bin)))
      let level = mean(Array(levels[third]))
      if level < ideal - Self.aliasingLoss, level < mean(Array(singles[best][third])) { return (bin, best) }
    }
    return nil
  }

  /// Directivity factor, a power ratio: on-axis energy over diffuse-field energy.
  func directivity(of weights: [Complex], _ bin: Int) -> Double {
    onAxisResponse(weights, bin).squaredMagnitude / max(diffuseEnergy(weights, bin), 1e-30)
  }

  /// Directivity factor of the match without the white-noise gain constraint.
  func unconstrainedDirectivity(_ bin: Int) -> Double {
    let match = matches[bin]
    let correlation = match.correlation(with: target(omnidirectionalPart), outputs: 1)[0]
    let least = parameters.minimumRegulariser * match.covarianceEigen.values.last!
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

  private func target(_ alpha: Double) -> [Complex] {
    zip(cosines, amplitudes).map { Complex((alpha + (1 - alpha) * $0) * $1, 0) }
  }

  /// The ideal pattern's directivity factor: 1 over the mean of (α + (1 − α) cos θ)².
  private var targetDirectivity: Double { 1 / mean(target(omnidirectionalPart).map(\.squaredMagnitude)) }

  /// Matches magnitude and phase. While noise limits the directivity, it lowers α as long as that helps.
  private func complexMatch(_ bin: Int) -> Match {
    let least = parameters.minimumRegulariser
    var best = solve(bin, target: target(omnidirectionalPart), least: least)
    guard omnidirectionalPart > 0, best.isLimitedByNoise else { return (best.weights, best.regulariser) }
    let targetDirectivity = targetDirectivity
    var alpha = omnidirectionalPart
    while directivity(of: best.weights, bin) < targetDirectivity,
      alpha > parameters.minimumOmnidirectionalPart
    {
      alpha -= parameters.omnidirectionalStep
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
    let magnitudes = target(omnidirectionalPart).map(\.magnitude)
    var phases = phases
    var match: Match = ([], 0)
    for _ in 0..<passes {
      try step.check()
      let target = zip(magnitudes, phases).map { magnitude, response in magnitude * response.direction }
      let solution = solve(bin, target: target, least: parameters.minimumMagnitudeRegulariser)
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
      let last = min(matches.count, Int(parameters.highestStartComparison.value / grid.binWidth))
      for bin in stride(from: crossoverBin, to: last, by: parameters.startComparisonStride) {
        let match = try magnitudeMatch(
          bin, phases: phases,
          passes: bin == crossoverBin ? parameters.firstMagnitudePasses : parameters.magnitudePasses,
          step: step)
        // The weight 1/f gives every octave the same weight.
        error += log(patternError(of: match.weights, bin)) / Double(bin)
        weightSum += 1 / Double(bin)
        if bin + parameters.startComparisonStride < last {
          phases = pattern(of: match.weights, bin + parameters.startComparisonStride)
        }
      }
      error /= max(weightSum, 1e-9)
      // Mirror-image microphones give the same error except for rounding. The margin makes the first of them win.
      let margin =
        best.microphone == nil
        ? parameters.minimumStartImprovement.value / 10 * log(10) : parameters.startTieMargin
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
      zip(target(omnidirectionalPart), pattern(of: weights, bin)).map { target, response in
        pow(response.magnitude - target.magnitude, 2)
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
        >= pow(parameters.minimumCorrelation, 2) * largest * mean(target.map(\.squaredMagnitude))
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

  /// `weights` scaled to an on-axis response of 1, as far as `minimumOnAxis` and the noise bound allow.
  private func equalised(_ weights: [Complex], _ bin: Int) -> [Complex] {
    let onAxis = onAxisResponse(weights, bin).magnitude
    let reference = max(
      onAxis, min(parameters.minimumOnAxis, diffuseEnergy(weights, bin).squareRoot()), 1e-9)
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
