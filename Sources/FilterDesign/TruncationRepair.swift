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
  private let matching: PatternMatching
  private let grid: DesignGrid
  private let basis: CorrectionBasis

  init(matching: PatternMatching, basis: CorrectionBasis, parameters: DesignParameters.Truncation) {
    self.parameters = parameters
    self.matching = matching
    self.basis = basis
    grid = matching.grid
  }

  /// The correction is fitted to the bins 0..<binCount.
  private var binCount: Int { basis.binCount }

  /// Truncates the impulse responses of `bins` and corrects them.
  /// - Returns: filters of one output.
  func filters(from bins: PatternBins, step: DesignStep) throws(DesignError) -> Taps<Float> {
    let truncated = try bins.weights.filters(on: grid, step: step)
    let lowest = lowestBin(bins)
    let binWeights = binWeights(from: lowest)
    let truncatedSpectra = basis.spectra(of: truncated.values, rows: truncated.microphones, grid: grid)
    let above = matching.crossoverBin..<max(binCount, matching.crossoverBin)
    let magnitudes = above.map { bin in matching.pattern(of: bins.weights[bin], bin).map(\.magnitude) }
    var regularisers = Array(bins.regularisers.prefix(binCount))
    let lowNoiseGain = parameters.lowNoiseGain.powerRatio
    var corrected = truncated.values
    var progress = 0.0
    for _ in 0..<parameters.noiseRounds {
      // Usually there are one or two rounds: each gets half of the remaining progress.
      let round = step.within(progress...(progress + 1) / 2)
      progress = (progress + 1) / 2
      guard
        let factor = try basis.normalFactor(
          binWeights: binWeights, lowest: lowest, regularisers: regularisers,
          loading: parameters.diagonalLoading, step: round)
      else { return Taps<Float>(truncated) }
      // The right-hand side (R + λ)·w of each bin's normal equations.
      var rightSides = (0..<binCount).map { covarianceProduct(bins.weights[$0], $0, regularisers) }
      var correctedSpectra = truncatedSpectra
      for _ in 0..<parameters.passes {
        try step.check()
        let corrections = solve(
          factor, rightSides, truncatedSpectra: truncatedSpectra, binWeights: binWeights, regularisers)
        corrected = basis.add(corrections, to: truncated.values)
        correctedSpectra = basis.addSpectra(of: corrections, to: truncatedSpectra)
        // Above the crossover only magnitudes are matched: the target adopts the phases of the corrected filters.
        for bin in above {
          var target = matching.pattern(of: weights(correctedSpectra, bin), bin)
          for (d, magnitude) in magnitudes[bin - above.lowerBound].enumerated() {
            target[d] = magnitude * target[d].direction
          }
          matching.matches[bin].correlation(with: target, into: &rightSides[bin])
        }
      }
      var isWithin = true
      for bin in 0..<binCount {
        let noise =
          weights(correctedSpectra, bin).reduce(0) { $0 + $1.squaredMagnitude } / lowNoiseGain
        guard noise > 1 else { continue }
        regularisers[bin] *= parameters.regulariserGrowth * noise
        isWithin = false
      }
      if isWithin { break }
    }
    var filters = Taps<Double>(outputs: 1, microphones: truncated.microphones, length: grid.tapCount)
    for m in 0..<truncated.microphones {
      filters[0, m] = corrected[m * grid.tapCount..<(m + 1) * grid.tapCount]
    }
    return Taps<Float>(filters)
  }

  /// The weights of one bin, `[microphone]`, of spectra `[microphone][bin](real, imaginary)`.
  private func weights(_ spectra: [Double], _ bin: Int) -> [Complex] {
    stride(from: 2 * bin, to: spectra.count, by: 2 * binCount).map { Complex(spectra[$0], spectra[$0 + 1]) }
  }

  /// The lowest bin from `lowestFrequency` to `lowestFrequencyAtMost` in which the noise bound permits the pattern; the
  /// first bin of that range if there is none.
  private func lowestBin(_ bins: PatternBins) -> Int {
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

  /// (R + λ)·w, with the covariance R and the regulariser λ of `bin`.
  private func covarianceProduct(_ weights: [Complex], _ bin: Int, _ regularisers: [Double]) -> [Complex] {
    let count = weights.count
    return matching.matches[bin].covariance.withUnsafeBufferPointer { matrix in
      (0..<count).map { m in
        var sum = regularisers[bin] * weights[m]
        for n in 0..<count { sum += matrix[m * count + n] * weights[n] }
        return sum
      }
    }
  }

  /// Coefficients of the cosines to add to the truncated filters: `[microphone][cosine]`.
  /// - Parameters:
  ///   - factor: the Cholesky factor of the normal equations.
  ///   - rightSides: (R + λ)·w of the target, `[bin][microphone]`.
  ///   - truncatedSpectra: of the truncated filters, `[microphone][bin](real, imaginary)`.
  private func solve(
    _ factor: [Double], _ rightSides: [[Complex]], truncatedSpectra: [Double], binWeights: [Double],
    _ regularisers: [Double]
  ) -> [Double] {
    var residuals = truncatedSpectra
    for bin in 0..<binCount {
      let current = covarianceProduct(weights(truncatedSpectra, bin), bin, regularisers)
      for (m, value) in current.enumerated() {
        let residual = binWeights[bin] * (rightSides[bin][m] - value)
        residuals[2 * (m * binCount + bin)] = residual.real
        residuals[2 * (m * binCount + bin) + 1] = residual.imaginary
      }
    }
    var right = basis.products(with: residuals)
    Cholesky.solve(factor, order: right.count, &right)
    return right
  }
}
