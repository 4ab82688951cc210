import Acoustics
import Foundation
import Numerics

/// Filters of one output from a pattern's bins, with what cutting them to their length did taken back.
///
/// Differential patterns need integrators, whose impulse responses no 5 ms hold: cut, they ripple by 1 dB
/// around 500 Hz and lose 10 dB of front/back. To the cut filters is added what least squares finds among
/// cosines of low frequencies so that the pattern comes back, the lower octaves counting the more; below the lowest
/// frequency at which noise lets the pattern be what was asked for, noise alone is kept within bounds.
struct TruncationRepair {
  private let parameters: DesignParameters.Truncation
  private let matching: PatternMatching
  private let grid: DesignGrid
  /// Cosines over the taps, `[cosine][tap]`, and their spectra, `[bin][cosine]`.
  private let basis: [[Double]]
  private let spectra: [[Complex]]
  private let binCount: Int

  init(matching: PatternMatching, parameters: DesignParameters.Truncation) {
    self.parameters = parameters
    self.matching = matching
    grid = matching.grid
    let (tapCount, binWidth) = (grid.tapCount, grid.binWidth)
    let count = min(
      tapCount / 2, Int(parameters.highestCosine.value * Double(2 * tapCount) / Double(grid.sampleRate)))
    basis = (0..<count).map { j in
      (0..<tapCount).map { cos(.pi * Double(j) * (Double($0) + 0.5) / Double(tapCount)) }
    }
    binCount = min(matching.matches.count, Int(parameters.highestFrequency.value / binWidth) + 1)
    spectra = (0..<binCount).map { [basis, grid] bin in Self.spectrum(of: basis, bin: bin, grid: grid) }
  }

  /// - Returns: `[microphone][tap]`.
  func filters(from bins: PatternBins, step: DesignStep) throws(DesignError) -> [[Double]] {
    let cut = try bins.weights.filters(on: grid, step: step)[0]
    let lowest = lowestBin(bins)
    let weights = importances(from: lowest)
    let start = (0..<binCount).map { Self.spectrum(of: cut, bin: $0, grid: grid) }
    let levels = (matching.crossoverBin..<max(binCount, matching.crossoverBin)).map { bin in
      matching.pattern(of: bins.weights[bin], bin).map(\.magnitude)
    }
    var regularisers = Array(bins.regularisers.prefix(binCount))
    let lowNoiseGain = parameters.lowNoiseGain.powerRatio
    var best = cut
    var done = 0.0
    for _ in 0..<parameters.noiseRounds {
      // Mostly there are one or two rounds.
      let round = step.within(done...(done + 1) / 2)
      done = (done + 1) / 2
      guard let solver = try factored(weights: weights, regularisers: regularisers, step: round) else {
        return cut
      }
      var wanted = (0..<binCount).map { product(bins.weights[$0], $0, regularisers) }
      var reached = start
      for _ in 0..<parameters.passes {
        try step.check()
        let additions = solve(solver, wanted, start: start, weights: weights, regularisers)
        best = sum(cut, additions)
        reached = (0..<binCount).map { Self.sum(start[$0], additions, spectra[$0]) }
        for bin in matching.crossoverBin..<max(binCount, matching.crossoverBin) {
          let phases = matching.pattern(of: reached[bin], bin)
          let target = zip(levels[bin - matching.crossoverBin], phases).map { $0 * $1.direction }
          let match = matching.matches[bin]
          wanted[bin] = match.energy.combine(match.correlation(with: target, outputs: 1)[0])
        }
      }
      var isWithin = true
      for bin in 0..<lowest {
        let noise = reached[bin].reduce(0) { $0 + $1.squaredMagnitude } / lowNoiseGain
        guard noise > 1 else { continue }
        regularisers[bin] *= parameters.regulariserGrowth * noise
        isWithin = false
      }
      if isWithin { break }
    }
    return best
  }

  /// The first bin whose pattern counts.
  private func lowestBin(_ bins: PatternBins) -> Int {
    let first = min(Int((parameters.lowestFrequency.value / grid.binWidth).rounded(.up)), binCount - 1)
    let last = min(Int(parameters.lowestFrequencyAtMost.value / grid.binWidth), binCount - 1)
    let kept = Decibels(-parameters.directivityLoss.value).powerRatio
    guard first <= last else { return first }
    return (first...last).first { bin in
      matching.directivity(of: bins.weights[bin], bin) >= kept * matching.freeDirectivity(bin)
    } ?? first
  }

  private func importances(from lowest: Int) -> [Double] {
    let unit = Double(max(lowest, 1))
    return (0..<binCount).map { $0 < lowest ? parameters.lowWeight : pow(unit / Double(max($0, 1)), 2) }
  }

  /// (R + l)·w
  private func product(_ weights: [Complex], _ bin: Int, _ regularisers: [Double]) -> [Complex] {
    let matrix = matching.matches[bin].energyMatrix
    let count = weights.count
    return (0..<count).map { m in
      (0..<count).reduce(regularisers[bin] * weights[m]) { $0 + matrix[m * count + $1] * weights[$1] }
    }
  }

  /// The Cholesky factor of Σ importance · Re Bᴴ (R + l) B over the bins; nil where there is none.
  private func factored(
    weights: [Double], regularisers: [Double], step: DesignStep
  ) throws(DesignError) -> [Double]? {
    let (microphones, cosines) = (matching.matches[0].microphones, basis.count)
    let unknowns = microphones * cosines
    var matrix = [Double](repeating: 0, count: unknowns * unknowns)
    for bin in 0..<binCount {
      try step.reached(0.5 * Double(bin) / Double(binCount))
      let energy = matching.matches[bin].energyMatrix
      for m in 0..<microphones {
        for n in m..<microphones {
          let value = energy[m * microphones + n] + Complex(m == n ? regularisers[bin] : 0, 0)
          let factor = weights[bin] * value
          for (i, a) in spectra[bin].enumerated() {
            let row = a.conjugate * factor
            let start = (m * cosines + i) * unknowns + n * cosines
            for (j, b) in spectra[bin].enumerated() {
              matrix[start + j] += row.real * b.real - row.imaginary * b.imaginary
            }
          }
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

  /// How much of each cosine to add: `[microphone][cosine]`.
  private func solve(
    _ factor: [Double], _ wanted: [[Complex]], start: [[Complex]], weights: [Double],
    _ regularisers: [Double]
  ) -> [[Double]] {
    let (microphones, cosines) = (matching.matches[0].microphones, basis.count)
    var right = [Double](repeating: 0, count: microphones * cosines)
    for bin in 0..<binCount {
      let there = product(start[bin], bin, regularisers)
      for m in 0..<microphones {
        let missing = weights[bin] * (wanted[bin][m] - there[m])
        for (i, a) in spectra[bin].enumerated() { right[m * cosines + i] += (a.conjugate * missing).real }
      }
    }
    Cholesky.solve(factor, order: microphones * cosines, &right)
    return (0..<microphones).map { Array(right[$0 * cosines..<($0 + 1) * cosines]) }
  }

  private func sum(_ cut: [[Double]], _ additions: [[Double]]) -> [[Double]] {
    zip(cut, additions).map { taps, addition in
      taps.indices.map { tap in
        zip(addition, basis).reduce(taps[tap]) { $0 + $1.0 * $1.1[tap] }
      }
    }
  }

  private static func sum(_ start: [Complex], _ additions: [[Double]], _ spectra: [Complex]) -> [Complex] {
    zip(start, additions).map { value, addition in
      zip(addition, spectra).reduce(value) { $0 + $1.0 * $1.1 }
    }
  }

  /// Response of each row of taps in `bin`, without the modelling delay.
  private static func spectrum(of rows: [[Double]], bin: Int, grid: DesignGrid) -> [Complex] {
    let step = -2 * Double.pi * grid.frequency(bin) / Double(grid.sampleRate)
    let turns = (0..<grid.tapCount).map { Complex(phase: step * Double($0 - grid.delayFrames)) }
    return rows.map { taps in zip(taps, turns).reduce(.zero) { $0 + $1.0 * $1.1 } }
  }
}
