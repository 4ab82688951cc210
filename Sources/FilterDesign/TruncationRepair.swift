import Acoustics
import Glibc
import Numerics

/// Computes the filters of one output from the bins of a pattern, and corrects the error that truncation introduces.
///
/// Differential patterns need integrators, whose impulse responses are longer than 5 ms. Truncation causes ripples of
/// 1 dB around 500 Hz and costs 10 dB of front/back ratio. The correction is a sum of low-frequency cosines over the
/// taps, found by weighted least squares on the pattern; lower octaves have more weight. Below the lowest frequency at
/// which the noise bound permits the pattern, the pattern hardly counts. The noise is kept within bounds everywhere.
struct TruncationRepair {
  private let parameters: DesignParameters.Truncation
  private let grid: DesignGrid
  private let matchings: [PatternMatching]
  private let basis: CorrectionBasis

  /// - Parameter matchings: of the same microphones; they are corrected in step, so that products with the responses of
  ///   a bin serve all.
  init(matchings: [PatternMatching], basis: CorrectionBasis, parameters: DesignParameters.Truncation) {
    self.parameters = parameters
    self.matchings = matchings
    self.basis = basis
    grid = matchings[0].grid
  }

  /// One pattern while it is corrected.
  private struct Pattern {
    let matching: PatternMatching
    let bins: PatternBins
    let truncated: Taps<Double>
    /// `[microphone][bin](real, imaginary)`
    let truncatedSpectra: [Double]
    let lowest: Int
    let binWeights: [Double]
    /// Wanted magnitudes above the crossover, `[bin][direction]`.
    let magnitudes: [[Double]]
    var regularisers: [Double]
    /// `[microphone][tap]`, and its spectra.
    var corrected: [Double]
    var correctedSpectra: [Double]
    /// The right-hand side (R + λ)·w of each bin's normal equations.
    var rightSides: [[Complex]] = []
    var factor: [Double] = []
    /// Whether more rounds would change it.
    var isOpen = true
  }

  /// The correction is fitted to the bins 0..<binCount.
  private var binCount: Int { basis.binCount }

  /// Truncates the impulse responses of the patterns' bins and corrects them.
  /// - Returns: filters of one output for each pattern.
  func filters(from bins: [PatternBins], step: DesignStep) throws(DesignError) -> [Taps<Float>] {
    let matches = matchings[0].matches
    let above = matchings[0].crossoverBin..<max(binCount, matchings[0].crossoverBin)
    var patterns: [Pattern] = []
    for (matching, bins) in zip(matchings, bins) {
      let truncated = try bins.weights.filters(on: grid, step: step)
      let spectra = basis.spectra(of: truncated.values, rows: truncated.microphones, grid: grid)
      let lowest = lowestBin(bins, matching)
      patterns.append(
        Pattern(
          matching: matching, bins: bins, truncated: truncated, truncatedSpectra: spectra, lowest: lowest,
          binWeights: binWeights(from: lowest),
          magnitudes: above.map { bin in
            matching.pattern(of: bins.weights[bin], bin).map { $0.magnitude }
          },
          regularisers: Array(bins.regularisers.prefix(binCount)), corrected: truncated.values,
          correctedSpectra: spectra))
    }
    let lowNoiseGain = parameters.lowNoiseGain.powerRatio
    var progress = 0.0
    for _ in 0..<parameters.noiseRounds {
      // Usually there are one or two rounds: each gets half of the remaining progress.
      let round = step.within(progress...(progress + 1) / 2)
      progress = (progress + 1) / 2
      for number in patterns.indices where patterns[number].isOpen {
        let pattern = patterns[number]
        guard
          let factor = try basis.normalFactor(
            binWeights: pattern.binWeights, lowest: pattern.lowest, regularisers: pattern.regularisers,
            loading: parameters.diagonalLoading, step: round)
        else {
          patterns[number].corrected = pattern.truncated.values
          patterns[number].isOpen = false
          continue
        }
        patterns[number].factor = factor
        patterns[number].rightSides = (0..<binCount).map {
          covarianceProduct(matches[$0], pattern.bins.weights[$0], pattern.regularisers[$0])
        }
      }
      let open = patterns.indices.filter { patterns[$0].isOpen }
      if open.isEmpty { break }
      for _ in 0..<parameters.passes {
        try step.check()
        for number in open {
          let pattern = patterns[number]
          let corrections = solve(pattern)
          patterns[number].corrected = basis.add(corrections, to: pattern.truncated.values)
          patterns[number].correctedSpectra = basis.addSpectra(of: corrections, to: pattern.truncatedSpectra)
        }
        // Above the crossover only magnitudes are matched: the target adopts the phases of the corrected filters.
        for bin in above { adoptPhases(&patterns, open, bin, first: above.lowerBound) }
      }
      for number in open {
        var isWithin = true
        for bin in 0..<binCount {
          let noise =
            weights(patterns[number].correctedSpectra, bin).reduce(0) { $0 + $1.squaredMagnitude }
            / lowNoiseGain
          guard noise > 1 else { continue }
          patterns[number].regularisers[bin] *= parameters.regulariserGrowth * noise
          isWithin = false
        }
        patterns[number].isOpen = !isWithin
      }
    }
    return patterns.map { pattern in
      let microphones = pattern.truncated.microphones
      var filters = Taps<Double>(outputs: 1, microphones: microphones, length: grid.tapCount)
      for m in 0..<microphones {
        filters[0, m] = pattern.corrected[m * grid.tapCount..<(m + 1) * grid.tapCount]
      }
      return Taps<Float>(filters)
    }
  }

  /// Sets the right-hand sides of one bin to the correlations of the wanted magnitudes with the phases of the corrected
  /// filters.
  private func adoptPhases(_ patterns: inout [Pattern], _ open: [Int], _ bin: Int, first: Int) {
    let match = matchings[0].matches[bin]
    // One more weight, which `BinMatching.patterns` needs.
    let weights = open.flatMap { self.weights(patterns[$0].correctedSpectra, bin) } + [.zero]
    var targets = [Complex](repeating: .zero, count: open.count * match.directions)
    match.patterns(of: weights, rows: open.count, into: &targets)
    targets.withUnsafeMutableBufferPointer { targets in
      for (row, number) in open.enumerated() {
        patterns[number].magnitudes[bin - first].withUnsafeBufferPointer { magnitudes in
          let own = targets.baseAddress! + row * magnitudes.count
          for d in magnitudes.indices { own[d] = magnitudes[d] * own[d].direction }
        }
      }
    }
    var correlations = [Complex](repeating: .zero, count: open.count * match.microphones)
    match.correlations(with: targets, rows: open.count, into: &correlations)
    for (row, number) in open.enumerated() {
      patterns[number].rightSides[bin] = Array(
        correlations[row * match.microphones..<(row + 1) * match.microphones])
    }
  }

  /// The weights of one bin, `[microphone]`, of spectra `[microphone][bin](real, imaginary)`.
  private func weights(_ spectra: [Double], _ bin: Int) -> [Complex] {
    stride(from: 2 * bin, to: spectra.count, by: 2 * binCount).map { Complex(spectra[$0], spectra[$0 + 1]) }
  }

  /// The lowest bin from `lowestFrequency` to `lowestFrequencyAtMost` in which the noise bound permits the pattern; the
  /// first bin of that range if there is none.
  private func lowestBin(_ bins: PatternBins, _ matching: PatternMatching) -> Int {
    let first = min(Int((parameters.lowestFrequency.value / grid.binWidth).rounded(.up)), binCount - 1)
    let last = min(Int(parameters.lowestFrequencyAtMost.value / grid.binWidth), binCount - 1)
    let retained = Decibels(-parameters.directivityLoss.value).powerRatio
    guard first <= last else { return first }
    return (first...last).first { bin in
      matching.directivity(of: bins.weights[bin], bin) >= retained * matching.unconstrainedDirectivity(bin)
    } ?? first
  }

  /// Weight of each bin in the fit: 1/f² from `lowest` on, and a small constant below.
  private func binWeights(from lowest: Int) -> [Double] {
    let unit = Double(max(lowest, 1))
    return (0..<binCount).map {
      $0 < lowest ? parameters.weightBelowPattern : pow(unit / Double(max($0, 1)), 2)
    }
  }

  /// (R + λ)·w, with the covariance R and the regulariser λ of a bin.
  private func covarianceProduct(
    _ match: BinMatching, _ weights: [Complex], _ regulariser: Double
  ) -> [Complex] {
    let count = weights.count
    return match.covariance.withUnsafeBufferPointer { matrix in
      (0..<count).map { m in
        var sum = regulariser * weights[m]
        for n in 0..<count { sum += matrix[m * count + n] * weights[n] }
        return sum
      }
    }
  }

  /// Coefficients of the cosines to add to the truncated filters: `[microphone][cosine]`.
  private func solve(_ pattern: Pattern) -> [Double] {
    var residuals = pattern.truncatedSpectra
    for bin in 0..<binCount {
      let current = covarianceProduct(
        pattern.matching.matches[bin], weights(pattern.truncatedSpectra, bin), pattern.regularisers[bin])
      for (m, value) in current.enumerated() {
        let residual = pattern.binWeights[bin] * (pattern.rightSides[bin][m] - value)
        residuals[2 * (m * binCount + bin)] = residual.real
        residuals[2 * (m * binCount + bin) + 1] = residual.imaginary
      }
    }
    var right = basis.products(with: residuals)
    Cholesky.solve(pattern.factor, order: right.count, &right)
    return right
  }
}
