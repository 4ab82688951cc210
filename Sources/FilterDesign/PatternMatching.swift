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
  /// The microphones as their data source lists them: of those that are alike, the first counts.
  let order: [Int]
  /// Time by which a wave from each direction reaches the microphones' centroid before the origin, in seconds.
  let leads: [Double]
  /// Magnitude of the pattern in each direction, times the square root of what the direction counts, which `matches` have,
  /// too; and the mean of its square.
  let magnitudes: [Double]
  let meanEnergy: Double
  /// Means over the directions of what they count, times 1, cos θ and cos² θ.
  private let moments: SIMD3<Double>

  /// - Parameters:
  ///   - axis: one per designed bin.
  ///   - cosines: cos θ of each direction.
  ///   - amplitudes: square root of what each direction counts, relative to the mean; `matches` have it, too.
  init(
    grid: DesignGrid, matches: [BinMatching], axis: [PatternAxis], cosines: [Double],
    amplitudes: [Double], omnidirectionalPart: Double, crossover: Double, order: [Int],
    leads: [Double], parameters: DesignParameters.Mono
  ) {
    self.parameters = parameters
    whiteNoiseGainFloor = parameters.whiteNoiseGainFloor.powerRatio
    self.grid = grid
    self.matches = matches
    self.axis = axis
    self.omnidirectionalPart = omnidirectionalPart
    self.order = order
    self.leads = leads
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

  /// Matches several patterns of the same microphones in every designed bin.
  static func bins(
    _ matchings: [PatternMatching], step: DesignStep
  ) throws(DesignError) -> [PatternBins] {
    let (matches, crossover) = (matchings[0].matches, matchings[0].crossoverBin)
    var bins = matchings.map { _ in
      PatternBins(
        weights: Weights(frequencies: matches.count, outputs: 1, microphones: matches[0].microphones),
        regularisers: [])
    }
    for bin in 0..<crossover {
      try step.reached(0.1 * Double(bin) / Double(crossover))
      for (number, matching) in matchings.enumerated() {
        let match = matching.complexMatch(bin)
        bins[number].weights[bin] = matching.equalised(match.weights, bin)
        bins[number].regularisers.append(match.regulariser)
      }
    }
    guard crossover < matches.count else { return bins }
    let starts = try startingMicrophones(
      matchings, below: bins.map { $0.weights[crossover - 1] }, step: step.within(0.1...0.6))
    let parameters = matchings[0].parameters
    var rows = MagnitudeRows(matchings)
    for bin in crossover..<matches.count {
      try step.reached(0.6 + 0.4 * Double(bin - crossover) / Double(matches.count))
      var regularisers: [Double] = []
      if bin == crossover {
        for (number, start) in starts.enumerated() {
          var row = MagnitudeRows([matchings[number]])
          if let start {
            row.begin(0, bin, from: start)
          } else {
            row.begin(0, bin, from: bins[number].weights[bin - 1])
          }
          regularisers += try row.match(
            bin, passes: start == nil ? parameters.magnitudePasses : parameters.firstMagnitudePasses,
            step: step)
          rows.setWeights(number, row.weights(0))
        }
      } else {
        rows.respond(bin)
        regularisers = try rows.match(bin, passes: parameters.magnitudePasses, step: step)
      }
      for (number, matching) in matchings.enumerated() {
        bins[number].weights[bin] = matching.equalised(rows.weights(number), bin)
        bins[number].regularisers.append(regularisers[number])
      }
    }
    for (number, matching) in matchings.enumerated() {
      matching.fadeAboveAliasing(&bins[number].weights)
    }
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
    let singles = order.map { m -> [Double] in
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
      if level < ideal - Self.aliasingLoss, level < mean(Array(singles[best][third])) {
        return (bin, order[best])
      }
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
    matches[bin].patterns(of: weights + [.zero], rows: 1, into: &pattern)
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

  /// The microphone whose phases are the best initial phases for the first magnitude match of each pattern; nil where
  /// those of the bin below are better.
  ///
  /// Magnitude least squares converges to a local optimum near its initial phases, and each bin passes it on to the
  /// next. For the cardioid of a flat phone or of a ring, the phases of a microphone can lead to a pattern error up to
  /// 10 dB lower than those of the complex match below.
  /// - Parameter weights: of each pattern in the last bin of the complex match.
  private static func startingMicrophones(
    _ matchings: [PatternMatching], below weights: [[Complex]], step: DesignStep
  ) throws(DesignError) -> [Int?] {
    let (first, matches) = (matchings[0], matchings[0].matches)
    let (parameters, crossover) = (first.parameters, first.crossoverBin)
    let count = matches[0].microphones + 1
    let all = matchings.indices.flatMap { pattern in
      ([nil] + matchings[pattern].order.map(Optional.some)).map { (pattern: pattern, start: $0) }
    }
    let last = min(matches.count, Int(parameters.highestStartComparison.value / first.grid.binWidth))
    let bins = Array(stride(from: crossover, to: last, by: parameters.startComparisonStride))
    // The weight 1/f gives every octave the same weight.
    let weightSum = max(bins.reduce(0) { $0 + 1 / Double($1) }, 1e-9)
    var errors: [Double] = []
    for start in stride(from: 0, to: all.count, by: MagnitudeRows.most) {
      let chosen = all[start..<min(start + MagnitudeRows.most, all.count)]
      try step.reached(Double(start) / Double(all.count))
      var rows = MagnitudeRows(chosen.map { matchings[$0.pattern] })
      for (row, (pattern, start)) in chosen.enumerated() {
        if let start {
          rows.begin(row, crossover, from: start)
        } else {
          rows.begin(row, crossover, from: weights[pattern])
        }
      }
      var sums = [Double](repeating: 0, count: chosen.count)
      for bin in bins {
        if bin > crossover { rows.respond(bin) }
        _ = try rows.match(
          bin, passes: bin == crossover ? parameters.firstMagnitudePasses : parameters.magnitudePasses,
          step: step)
        for row in sums.indices { sums[row] += log(rows.patternError(row)) / Double(bin) }
      }
      errors += sums.map { $0 / weightSum }
    }
    return matchings.indices.map { pattern in
      var best: (error: Double, microphone: Int?) = (.infinity, nil)
      for number in 0..<count {
        let (error, microphone) = (errors[pattern * count + number], all[pattern * count + number].start)
        // Mirror-image microphones give the same error except for rounding. The margin makes the first of them win.
        let margin =
          best.microphone == nil
          ? parameters.minimumStartImprovement.value / 10 * log(10) : parameters.startTieMargin
        if number == 0 || error < best.error - margin { best = (error, microphone) }
      }
      return best.microphone
    }
  }

  /// Components along the eigenvectors, the regulariser, and whether the white-noise gain required a larger one than
  /// the smallest.
  typealias Solution = (components: [Complex], regulariser: Double, isLimitedByNoise: Bool)

  /// Least squares with the smallest regulariser that keeps the white-noise gain above its floor. If none does, it uses
  /// the smallest regulariser. The weights are zero if the array cannot produce the target at all.
  /// - Parameters:
  ///   - correlation: of the target with the microphones, along the eigenvectors.
  ///   - energy: the target's mean square.
  ///   - least: the smallest regulariser relative to the largest eigenvalue.
  func solve(_ bin: Int, _ correlation: [Complex], energy: Double, least: Double) -> Solution {
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
