import Acoustics
import CLapack
import Glibc
import Numerics
import Synchronization

/// The functions of which `TruncationRepair` makes its corrections, a discrete cosine transform's, and what all patterns
/// of the same microphones share of the normal equations.
final class CorrectionBasis: Sendable {
  /// The correction is fitted to the bins 0..<binCount.
  let binCount: Int
  private let cosines: Int
  private let microphones: Int
  private let tapCount: Int
  /// `[cosine][tap]`
  private let basis: [Double]
  /// `[cosine][bin](real, imaginary)`
  private let spectra: [Double]
  /// Covariances of the bins, `[bin][row][column]`.
  private let covariances: [[Complex]]
  /// Σ weight · Re Bᴴ R B over the bins, where B are the spectra of the basis, by the lowest matched bin, on which the
  /// weights depend. Only the upper triangle is valid.
  private let known = Mutex([Int: [Double]]())

  init(grid: DesignGrid, matches: [BinMatching], parameters: DesignParameters.Truncation) {
    let tapCount = grid.tapCount
    let count = min(
      tapCount / 2, Int(parameters.highestCosine.value * Double(2 * tapCount) / Double(grid.sampleRate)))
    basis = (0..<count).flatMap { j in
      let step = Double.pi * Double(j)
      return (0..<tapCount).map { tap -> Double in cos(step * (Double(tap) + 0.5) / Double(tapCount)) }
    }
    binCount = min(matches.count, Int(parameters.highestFrequency.value / grid.binWidth) + 1)
    spectra = FilterResponse.spectra(
      of: basis, rows: count, sampleRate: grid.sampleRate, delayFrames: grid.delayFrames,
      frequencies: Array(grid.frequencies.prefix(binCount)))
    covariances = matches.prefix(binCount).map(\.covariance)
    cosines = count
    microphones = matches[0].microphones
    self.tapCount = tapCount
  }

  /// How many patterns may be corrected together: their factors take 64 MB on each core, or one does.
  var mostTogether: Int {
    let unknowns = microphones * cosines
    return max(1, (64 << 20) / (unknowns * unknowns * MemoryLayout<Double>.stride))
  }

  /// Spectra of filters `[row][tap]`: `[row][bin](real, imaginary)`.
  func spectra(of taps: [Double], rows: Int, grid: DesignGrid) -> [Double] {
    FilterResponse.spectra(
      of: taps, rows: rows, sampleRate: grid.sampleRate, delayFrames: grid.delayFrames,
      frequencies: Array(grid.frequencies.prefix(binCount)))
  }

  /// The Cholesky factor of the normal equations' matrix Σ weight · Re Bᴴ (R + λ) B over the bins.
  /// - Parameters:
  ///   - lowest: the lowest matched bin, from which `binWeights` follow.
  ///   - loading: added to the diagonal, relative to its mean.
  /// - Returns: nil if the matrix is not positive definite.
  func normalFactor(
    binWeights: [Double], lowest: Int, regularisers: [Double], loading: Double, step: DesignStep
  ) throws(DesignError) -> [Double]? {
    let unknowns = microphones * cosines
    var matrix = try withoutRegularisers(binWeights: binWeights, lowest: lowest, step: step.within(0...0.5))
    // λ is the same for all microphones.
    var weighted = [Double](repeating: 0, count: spectra.count)
    for cosine in 0..<cosines {
      for bin in 0..<binCount {
        let (at, factor) = (2 * (cosine * binCount + bin), binWeights[bin] * regularisers[bin])
        (weighted[at], weighted[at + 1]) = (factor * spectra[at], factor * spectra[at + 1])
      }
    }
    var block = [Double](repeating: 0, count: cosines * cosines)
    let (size, length) = (Int32(cosines), Int32(2 * binCount))
    cblas_dgemm(
      CblasRowMajor, CblasNoTrans, CblasTrans, size, size, length, 1, weighted, length, spectra, length, 0,
      &block, size)
    for m in 0..<microphones {
      for i in 0..<cosines {
        let start = (m * cosines + i) * unknowns + m * cosines
        for j in i..<cosines { matrix[start + j] += block[i * cosines + j] }
      }
    }
    let trace = (0..<unknowns).reduce(0) { $0 + matrix[$1 * unknowns + $1] }
    for i in 0..<unknowns { matrix[i * unknowns + i] += loading * trace / Double(unknowns) }
    let isDefinite = try matrix.withUnsafeMutableBufferPointer { matrix throws(DesignError) in
      try Cholesky.factor(matrix.baseAddress!, order: unknowns, step: step.within(0.5...1))
    }
    return isDefinite ? matrix : nil
  }

  private func withoutRegularisers(
    binWeights: [Double], lowest: Int, step: DesignStep
  ) throws(DesignError) -> [Double] {
    if let matrix = known.withLock({ $0[lowest] }) { return matrix }
    let unknowns = microphones * cosines
    var matrix = [Double](repeating: 0, count: unknowns * unknowns)
    // Of each microphone with all that follow: Σ Re(conj(a) · factor · b) over the bins, as a product of real matrices,
    // [cosine][bin, (real, imaginary)] times [bin, (real, imaginary)][microphone, cosine].
    for m in 0..<microphones {
      try step.reached(Double(m) / Double(microphones))
      let others = microphones - m
      let weighted = [Double](unsafeUninitializedCapacity: others * spectra.count) { weighted, size in
        spectra.withUnsafeBufferPointer { spectra in
          for bin in 0..<binCount {
            let row = weighted.baseAddress! + 2 * bin * others * cosines
            for n in m..<microphones {
              let factor = binWeights[bin] * covariances[bin][m * microphones + n]
              let own = row + (n - m) * cosines
              for j in 0..<cosines {
                let at = 2 * (j * binCount + bin)
                let value = factor * Complex(spectra[at], spectra[at + 1])
                (own[j], own[others * cosines + j]) = (value.real, value.imaginary)
              }
            }
          }
        }
        size = others * spectra.count
      }
      matrix.withUnsafeMutableBufferPointer { matrix in
        cblas_dgemm(
          CblasRowMajor, CblasNoTrans, CblasNoTrans, Int32(cosines), Int32(others * cosines),
          Int32(2 * binCount), 1, spectra, Int32(2 * binCount), weighted, Int32(others * cosines), 0,
          matrix.baseAddress! + m * cosines * (unknowns + 1), Int32(unknowns))
      }
    }
    known.withLock { [matrix] in $0[lowest] = matrix }
    return matrix
  }

  /// Σ Re(conj(b) · residual) over the bins for each basis function b: `[microphone][cosine]`.
  /// - Parameter residuals: `[microphone][bin](real, imaginary)`.
  func products(with residuals: [Double]) -> [Double] {
    var result = [Double](repeating: 0, count: microphones * cosines)
    let length = Int32(2 * binCount)
    cblas_dgemm(
      CblasRowMajor, CblasNoTrans, CblasTrans, Int32(microphones), Int32(cosines), length, 1, residuals,
      length, spectra, length, 0, &result, Int32(cosines))
    return result
  }

  /// Filters `[microphone][tap]` with corrections of these coefficients, `[microphone][cosine]`.
  func add(_ coefficients: [Double], to taps: [Double]) -> [Double] {
    sum(taps, coefficients, basis, width: tapCount)
  }

  /// The spectra of such filters, `[microphone][bin](real, imaginary)`.
  func addSpectra(of coefficients: [Double], to spectra: [Double]) -> [Double] {
    sum(spectra, coefficients, self.spectra, width: 2 * binCount)
  }

  private func sum(_ rows: [Double], _ coefficients: [Double], _ functions: [Double], width: Int) -> [Double]
  {
    var result = rows
    cblas_dgemm(
      CblasRowMajor, CblasNoTrans, CblasNoTrans, Int32(microphones), Int32(width), Int32(cosines), 1,
      coefficients, Int32(cosines), functions, Int32(width), 1, &result, Int32(width))
    return result
  }
}
