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
  /// What the patterns of one axis share in each bin.
  private let axis: [PatternAxis]
  /// α of the pattern α + (1 − α) cos θ.
  let omnidirectionalPart: Double
  /// The first bin that is matched by magnitude only.
  let crossoverBin: Int
  /// Magnitude of the pattern in each direction, times the square root of what the direction counts, which `matches` have,
  /// too; and the mean of its square.
  private let magnitudes: [Double]
  private let meanEnergy: Double
  /// Means over the directions of what they count, times 1, cos θ and cos² θ.
  private let moments: SIMD3<Double>

  /// - Parameters:
  ///   - axis: one per designed bin.
  ///   - cosines: cos θ of each direction.
  ///   - amplitudes: square root of what each direction counts, relative to the mean; `matches` have it, too.
  init(
    grid: DesignGrid, matches: [BinMatching], axis: [PatternAxis], cosines: [Double],
    amplitudes: [Double], omnidirectionalPart: Double, crossover: Double, parameters: DesignParameters.Mono
  ) {
    self.parameters = parameters
    whiteNoiseGainFloor = parameters.whiteNoiseGainFloor.powerRatio
    self.grid = grid
    self.matches = matches
    self.axis = axis
    self.omnidirectionalPart = omnidirectionalPart
    crossoverBin = min(Int(crossover / grid.binWidth) + 1, matches.count)
    let target = zip(cosines, amplitudes).map {
      (omnidirectionalPart + (1 - omnidirectionalPart) * $0) * $1
    }
    magnitudes = target.map(abs)
    meanEnergy = mean(target.map { $0 * $0 })
    let squares = amplitudes.map { $0 * $0 }
    moments = [
      mean(squares), mean(zip(squares, cosines).map { $0 * $1 }),
      mean(zip(squares, cosines).map { $0 * $1 * $1 }),
    ]
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
      var phases =
        startingMicrophone.map { responses(ofMicrophone: $0, bin) } ?? pattern(of: bins.weights[bin - 1], bin)
      let match = try magnitudeMatch(
        bin, phases: &phases,
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
      let response = axis[bin].responses[microphone]
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
      bins.map { bin in
        let diffuse = matches[bin].covariance[m * (microphones + 1)].real
        return 10 * log10(max(axis[bin].responses[m].squaredMagnitude / max(diffuse, 1e-30), 1e-6))
      }
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
    let correlation = axis[bin].correlation(omnidirectionalPart)
    let least = parameters.minimumRegulariser * match.covarianceEigen.values.last!
    return axis[bin].directivity(of: match.solution(correlation, regulariser: least), match)
  }

  /// Directional response of `weights` in `bin`: `[direction]`.
  func pattern(of weights: [Complex], _ bin: Int) -> [Complex] {
    var pattern = [Complex](repeating: .zero, count: magnitudes.count)
    // One more, which zgemv reads.
    matches[bin].pattern(of: weights + [.zero], into: &pattern)
    return pattern
  }

  private typealias Match = (weights: [Complex], regulariser: Double)

  /// The ideal pattern's directivity factor: 1 over the mean of (α + (1 − α) cos θ)².
  private var targetDirectivity: Double { 1 / meanEnergy }

  /// The mean square of the target of a pattern α.
  private func energy(_ alpha: Double) -> Double {
    (moments * [alpha * alpha, 2 * alpha * (1 - alpha), (1 - alpha) * (1 - alpha)]).sum()
  }

  /// Matches magnitude and phase. While noise limits the directivity, it lowers α as long as that helps.
  private func complexMatch(_ bin: Int) -> Match {
    let (own, match) = (axis[bin], matches[bin])
    func solve(_ alpha: Double) -> Solution {
      self.solve(
        bin, own.correlation(alpha), energy: energy(alpha), least: parameters.minimumRegulariser)
    }
    var best = solve(omnidirectionalPart)
    guard omnidirectionalPart > 0, best.isLimitedByNoise else {
      return (match.covarianceEigen.combine(best.components), best.regulariser)
    }
    var alpha = omnidirectionalPart
    var reached = own.directivity(of: best.components, match)
    while reached < targetDirectivity, alpha > parameters.minimumOmnidirectionalPart {
      alpha -= parameters.omnidirectionalStep
      let narrower = solve(alpha)
      let directivity = own.directivity(of: narrower.components, match)
      guard narrower.isLimitedByNoise, directivity > 1.0001 * reached else { break }
      (best, reached) = (narrower, directivity)
    }
    return (match.covarianceEigen.combine(best.components), best.regulariser)
  }

  /// Magnitude least squares: alternates between solving and adopting the phases of the result.
  /// - Parameter phases: the initial phases, as a directional response whose magnitudes are ignored; then the response of
  ///   the match.
  private func magnitudeMatch(
    _ bin: Int, phases: inout [Complex], passes: Int, step: DesignStep
  ) throws(DesignError) -> Match {
    let match = matches[bin]
    let eigen = match.covarianceEigen
    var correlation = [Complex](repeating: .zero, count: match.microphones)
    var weights: [Complex] = []
    var regulariser = 0.0
    for _ in 0..<passes {
      try step.check()
      adopt(&phases)
      match.correlation(with: phases, into: &correlation)
      let solution = solve(
        bin, correlation.withUnsafeBufferPointer { eigen.project($0.baseAddress!) }, energy: meanEnergy,
        least: parameters.minimumMagnitudeRegulariser)
      regulariser = solution.regulariser
      // One more, which zgemv reads.
      weights = eigen.combine(solution.components) + [.zero]
      match.pattern(of: weights, into: &phases)
    }
    return (Array(weights.dropLast()), regulariser)
  }

  /// Replaces the magnitudes of a response by those of the pattern. What is zero gets the phase 0.
  private func adopt(_ phases: inout [Complex]) {
    phases.withUnsafeMutableBufferPointer { phases in
      magnitudes.withUnsafeBufferPointer { magnitudes in
        for d in magnitudes.indices {
          let square = phases[d].squaredMagnitude
          let scale = magnitudes[d] / square.squareRoot()
          phases[d] = square > 0 ? scale * phases[d] : Complex(magnitudes[d], 0)
        }
      }
    }
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
          bin, phases: &phases,
          passes: bin == crossoverBin ? parameters.firstMagnitudePasses : parameters.magnitudePasses,
          step: step)
        // The weight 1/f gives every octave the same weight.
        error += log(patternError(of: phases)) / Double(bin)
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
  private func patternError(of responses: [Complex]) -> Double {
    var sum = 0.0
    for (response, magnitude) in zip(responses, magnitudes) {
      let error = response.magnitude - magnitude
      sum += error * error
    }
    return sum / Double(magnitudes.count)
  }

  /// Components along the eigenvectors, the regulariser, and whether the white-noise gain required a larger one than
  /// the smallest.
  private typealias Solution = (components: [Complex], regulariser: Double, isLimitedByNoise: Bool)

  /// Least squares with the smallest regulariser that keeps the white-noise gain above its floor. If none does, it uses
  /// the smallest regulariser. The weights are zero if the array cannot produce the target at all.
  /// - Parameters:
  ///   - correlation: of the target with the microphones, along the eigenvectors.
  ///   - energy: the target's mean square.
  ///   - least: the smallest regulariser relative to the largest eigenvalue.
  private func solve(_ bin: Int, _ correlation: [Complex], energy: Double, least: Double) -> Solution {
    let (match, own) = (matches[bin], axis[bin])
    let eigenvalues = match.covarianceEigen.values
    let largest = eigenvalues.last!
    // By the Cauchy–Schwarz inequality ‖V* t‖² is at most the largest eigenvalue times ‖t‖².
    guard squaredNorm(correlation) >= pow(parameters.minimumCorrelation, 2) * largest * energy else {
      return ([Complex](repeating: .zero, count: match.microphones), least * largest, false)
    }
    func isRobust(_ regulariser: Double) -> Bool {
      var (onAxis, norm) = (Complex.zero, 0.0)
      for j in eigenvalues.indices {
        let component = (1 / (eigenvalues[j] + regulariser)) * correlation[j]
        onAxis += component * own.components[j]
        norm += component.squaredMagnitude
      }
      return onAxis.squaredMagnitude >= whiteNoiseGainFloor * norm
    }
    let plain = least * largest
    var regulariser = plain
    if !isRobust(plain) {
      regulariser = match.regulariser(from: plain, to: largest * 1e3, accepts: isRobust)
      if !isRobust(regulariser) { regulariser = plain }
    }
    return (match.solution(correlation, regulariser: regulariser), regulariser, regulariser > plain)
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
    zip(weights, axis[bin].responses).reduce(.zero) { $0 + $1.0 * $1.1 }
  }

  private func squaredNorm(_ vector: [Complex]) -> Double { vector.reduce(0) { $0 + $1.squaredMagnitude } }
}

/// What the patterns of one axis share in one bin.
struct PatternAxis: Sendable {
  /// Microphone responses on the axis: `[microphone]`.
  let responses: [Complex]
  /// The same along the covariance's eigenvectors, so that Σ component × component of weights is the response.
  let components: [Complex]
  /// Correlations of the microphones with an omnidirectional pattern and a figure of eight, along the eigenvectors. Those
  /// of all patterns are sums of them.
  private let omnidirectional: [Complex]
  private let figureEight: [Complex]

  /// - Parameters:
  ///   - responses: on the axis, `[microphone]`.
  ///   - targets: of both patterns, `[pattern][direction]`.
  init(_ match: BinMatching, responses: [Complex], targets: [Complex]) {
    self.responses = responses
    let eigen = match.covarianceEigen
    components = (0..<eigen.order).map { j in
      (0..<eigen.order).reduce(Complex.zero) { $0 + eigen.vectors[j * eigen.order + $1] * responses[$1] }
    }
    let correlations = match.correlation(with: targets, outputs: 2)
    (omnidirectional, figureEight) = (correlations[0], correlations[1])
  }

  /// The correlation of the pattern α + (1 − α) cos θ with the microphones, along the eigenvectors.
  func correlation(_ alpha: Double) -> [Complex] {
    omnidirectional.indices.map { alpha * omnidirectional[$0] + (1 - alpha) * figureEight[$0] }
  }

  /// Directivity factor, a power ratio, of weights along the eigenvectors.
  func directivity(of weights: [Complex], _ match: BinMatching) -> Double {
    var (onAxis, diffuse) = (Complex.zero, 0.0)
    for (j, eigenvalue) in match.covarianceEigen.values.enumerated() {
      onAxis += weights[j] * components[j]
      diffuse += eigenvalue * weights[j].squaredMagnitude
    }
    return onAxis.squaredMagnitude / max(diffuse, 1e-30)
  }
}
