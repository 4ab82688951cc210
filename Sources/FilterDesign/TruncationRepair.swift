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
  /// Correction basis, a discrete cosine transform's: `[cosine][tap]`.
  private let basis: [[Double]]
  /// Spectra of the basis: `[bin][cosine]`.
  private let spectra: [[Complex]]
  /// The same, `[cosine][bin, (real, imaginary)]`.
  private let flatSpectra: [Double]
  /// The correction is fitted to the bins 0..<binCount.
  private let binCount: Int

  init(matching: PatternMatching, parameters: DesignParameters.Truncation) {
    self.parameters = parameters
    self.matching = matching
    grid = matching.grid
    let (tapCount, binWidth) = (grid.tapCount, grid.binWidth)
    let count = min(
      tapCount / 2, Int(parameters.highestCosine.value * Double(2 * tapCount) / Double(grid.sampleRate)))
    basis = (0..<count).map { j in
      let step = Double.pi * Double(j)
      return (0..<tapCount).map { tap -> Double in cos(step * (Double(tap) + 0.5) / Double(tapCount)) }
    }
    binCount = min(matching.matches.count, Int(parameters.highestFrequency.value / binWidth) + 1)
    let spectra = (0..<binCount).map { [basis, grid] bin in Self.spectrum(of: basis, bin: bin, grid: grid) }
    self.spectra = spectra
    flatSpectra = basis.indices.flatMap { cosine in
      spectra.flatMap { [$0[cosine].real, $0[cosine].imaginary] }
    }
  }

  /// Truncates the impulse responses of `bins` and corrects them.
  /// - Returns: filters of one output.
  func filters(from bins: PatternBins, step: DesignStep) throws(DesignError) -> Taps<Float> {
    let truncated = try bins.weights.filters(on: grid, step: step)
    let uncorrected = truncated[0]
    let lowest = lowestBin(bins)
    let binWeights = binWeights(from: lowest)
    let truncatedSpectra = (0..<binCount).map { Self.spectrum(of: uncorrected, bin: $0, grid: grid) }
    let magnitudes = (matching.crossoverBin..<max(binCount, matching.crossoverBin)).map { bin in
      matching.pattern(of: bins.weights[bin], bin).map(\.magnitude)
    }
    var regularisers = Array(bins.regularisers.prefix(binCount))
    let lowNoiseGain = parameters.lowNoiseGain.powerRatio
    var corrected = uncorrected
    var progress = 0.0
    for _ in 0..<parameters.noiseRounds {
      // Usually there are one or two rounds: each gets half of the remaining progress.
      let round = step.within(progress...(progress + 1) / 2)
      progress = (progress + 1) / 2
      guard let factor = try normalFactor(binWeights: binWeights, regularisers: regularisers, step: round)
      else { return Taps<Float>(truncated) }
      // The right-hand side (R + λ)·w of each bin's normal equations.
      var rightSides = (0..<binCount).map { covarianceProduct(bins.weights[$0], $0, regularisers) }
      var correctedSpectra = truncatedSpectra
      for _ in 0..<parameters.passes {
        try step.check()
        let corrections = solve(
          factor, rightSides, truncatedSpectra: truncatedSpectra, binWeights: binWeights, regularisers)
        corrected = sum(uncorrected, corrections)
        correctedSpectra = (0..<binCount).map { Self.sum(truncatedSpectra[$0], corrections, spectra[$0]) }
        // Above the crossover only magnitudes are matched: the target adopts the phases of the corrected filters.
        for bin in matching.crossoverBin..<max(binCount, matching.crossoverBin) {
          let phases = matching.pattern(of: correctedSpectra[bin], bin)
          let target = zip(magnitudes[bin - matching.crossoverBin], phases).map { $0 * $1.direction }
          let match = matching.matches[bin]
          rightSides[bin] = match.covarianceEigen.combine(match.correlation(with: target, outputs: 1)[0])
        }
      }
      var isWithin = true
      for bin in 0..<binCount {
        let noise = correctedSpectra[bin].reduce(0) { $0 + $1.squaredMagnitude } / lowNoiseGain
        guard noise > 1 else { continue }
        regularisers[bin] *= parameters.regulariserGrowth * noise
        isWithin = false
      }
      if isWithin { break }
    }
    return Taps<Float>(Taps([corrected]))
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
    let matrix = matching.matches[bin].covariance
    let count = weights.count
    return (0..<count).map { m in
      (0..<count).reduce(regularisers[bin] * weights[m]) { $0 + matrix[m * count + $1] * weights[$1] }
    }
  }

  /// The Cholesky factor of the normal equations' matrix Σ weight · Re Bᴴ (R + λ) B over the bins, where B are the
  /// spectra of the basis.
  /// - Returns: nil if the matrix is not positive definite.
  private func normalFactor(
    binWeights: [Double], regularisers: [Double], step: DesignStep
  ) throws(DesignError) -> [Double]? {
    let (microphones, cosines) = (matching.matches[0].microphones, basis.count)
    let unknowns = microphones * cosines
    var matrix = [Double](repeating: 0, count: unknowns * unknowns)
    // Of each pair of microphones: Σ Re(conj(a) · factor · b) over the bins, as a product of real matrices,
    // [cosine][bin, (real, imaginary)] times [bin, (real, imaginary)][cosine].
    var weighted = [Double](repeating: 0, count: 2 * binCount * cosines)
    var block = [Double](repeating: 0, count: cosines * cosines)
    for m in 0..<microphones {
      for n in m..<microphones {
        try step.reached(0.5 * Double(m) / Double(microphones))
        for bin in 0..<binCount {
          let covariance = matching.matches[bin].covariance[m * microphones + n]
          let factor = binWeights[bin] * (covariance + Complex(m == n ? regularisers[bin] : 0, 0))
          for (j, b) in spectra[bin].enumerated() {
            let value = factor * b
            weighted[2 * bin * cosines + j] = value.real
            weighted[(2 * bin + 1) * cosines + j] = value.imaginary
          }
        }
        multiply(
          flatSpectra, weighted, rows: cosines, inner: 2 * binCount, columns: cosines, into: &block)
        for i in 0..<cosines {
          let start = (m * cosines + i) * unknowns + n * cosines
          for j in 0..<cosines { matrix[start + j] = block[i * cosines + j] }
        }
      }
    }
    let trace = (0..<unknowns).reduce(0) { $0 + matrix[$1 * unknowns + $1] }
    for i in 0..<unknowns {
      matrix[i * unknowns + i] += parameters.diagonalLoading * trace / Double(unknowns)
    }
    let isDefinite = try matrix.withUnsafeMutableBufferPointer { matrix throws(DesignError) in
      try Cholesky.factor(matrix.baseAddress!, order: unknowns, step: step.within(0.5...1))
    }
    return isDefinite ? matrix : nil
  }

  /// Coefficients of the cosines to add to the truncated filters: `[microphone][cosine]`.
  /// - Parameters:
  ///   - factor: the Cholesky factor of the normal equations.
  ///   - rightSides: (R + λ)·w of the target, `[bin][microphone]`.
  ///   - truncatedSpectra: of the truncated filters, `[bin][microphone]`.
  private func solve(
    _ factor: [Double], _ rightSides: [[Complex]], truncatedSpectra: [[Complex]], binWeights: [Double],
    _ regularisers: [Double]
  ) -> [[Double]] {
    let (microphones, cosines) = (matching.matches[0].microphones, basis.count)
    var right = [Double](repeating: 0, count: microphones * cosines)
    for bin in 0..<binCount {
      let current = covarianceProduct(truncatedSpectra[bin], bin, regularisers)
      for m in 0..<microphones {
        let residual = binWeights[bin] * (rightSides[bin][m] - current[m])
        for (i, a) in spectra[bin].enumerated() { right[m * cosines + i] += (a.conjugate * residual).real }
      }
    }
    Cholesky.solve(factor, order: microphones * cosines, &right)
    return (0..<microphones).map { Array(right[$0 * cosines..<($0 + 1) * cosines]) }
  }

  /// Filters with their corrections: `[microphone][tap]`.
  private func sum(_ filters: [[Double]], _ corrections: [[Double]]) -> [[Double]] {
    zip(filters, corrections).map { taps, correction in
      taps.indices.map { tap in
        zip(correction, basis).reduce(taps[tap]) { $0 + $1.0 * $1.1[tap] }
      }
    }
  }

  /// Responses of the corrected filters in one bin: `[microphone]`.
  private static func sum(
    _ truncated: [Complex], _ corrections: [[Double]], _ spectra: [Complex]
  ) -> [Complex] {
    zip(truncated, corrections).map { value, correction in
      zip(correction, spectra).reduce(value) { $0 + $1.0 * $1.1 }
    }
  }

  /// Frequency response of each row of taps in `bin`, without the modelling delay.
  private static func spectrum(of rows: [[Double]], bin: Int, grid: DesignGrid) -> [Complex] {
    let step = -2 * Double.pi * grid.frequency(bin) / Double(grid.sampleRate)
    let phasors = (0..<grid.tapCount).map { Complex(phase: step * Double($0 - grid.delayFrames)) }
    return rows.map { taps in zip(taps, phasors).reduce(.zero) { $0 + $1.0 * $1.1 } }
  }
}
