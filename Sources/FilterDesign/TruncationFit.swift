import Glibc
import Numerics

/// Fits FIR filters of the grid's length to weights, each filter by itself, by weighted least squares over the bins.
///
/// The weights of a figure of eight on a small array jump at 0 Hz, from j to −j. Cutting its impulse response off smears
/// the jump up to 500 Hz, and costs 2 dB and 0.05 of its correlation. The fit leaves what is below `lowest` free. Because
/// it is linear and the same for all microphones, differences of microphones remain differences. Its filters end abruptly,
/// though, so that high frequencies leak to low ones, 50 dB down.
struct TruncationFit {
  /// Below this frequency, in hertz, weights hardly count: by `weightBelow`.
  private static let lowest = 80.0
  private static let weightBelow = 3e-4
  /// From there on, bins count by this power of the frequency: less the higher they are.
  private static let slope = -0.3
  /// Added to the diagonal of the normal equations, relative to its mean.
  private static let loading = 1e-7

  private let grid: DesignGrid
  /// Of each bin up to the Nyquist frequency.
  private let binWeights: [Double]
  /// Cholesky factor of the normal equations' matrix, `[tap][tap]`.
  private let factor: [Double]

  init(grid: DesignGrid) {
    self.grid = grid
    let lowest = max(Self.lowest, grid.binWidth)
    let weights = (0..<grid.binCount).map { bin -> Double in
      let frequency = grid.frequency(bin)
      let isEnd = bin == 0 || bin == grid.binCount - 1
      return (isEnd ? 0.5 : 1)
        * (frequency < lowest ? Self.weightBelow : pow(frequency / lowest, Self.slope))
    }
    binWeights = weights
    // Σ weight · cos(ω (m − n)): a Toeplitz matrix.
    let row = (0..<grid.tapCount).map { lag in
      weights.enumerated().reduce(0) { sum, bin in
        sum + bin.element * cos(2 * .pi * Double(bin.offset * lag % grid.length) / Double(grid.length))
      }
    }
    var matrix = [Double](repeating: 0, count: grid.tapCount * grid.tapCount)
    for m in 0..<grid.tapCount {
      for n in 0..<grid.tapCount {
        matrix[m * grid.tapCount + n] = row[abs(m - n)] + (m == n ? Self.loading * row[0] : 0)
      }
    }
    let isDefinite = matrix.withUnsafeMutableBufferPointer {
      Cholesky.factor($0.baseAddress!, order: grid.tapCount)
    }
    precondition(isDefinite, "positive weights make a definite matrix")
    factor = matrix
  }

  /// The filters of some outputs, with the grid's modelling delay.
  ///
  /// Above the designed bins the weights have the last bin's magnitude, which rolls off where the array is not known, and
  /// only the modelling delay's phase and its own sign.
  /// - Parameter taps: what the fitted filters replace: `outputs` of it.
  func fit(
    _ weights: Weights, outputs chosen: Range<Int>, of taps: inout Taps<Double>, step: DesignStep
  ) throws(DesignError) {
    let (outputs, microphones, designed) = (weights.outputs, weights.microphones, grid.designedBinCount)
    let phasors = (0..<grid.length).map { Complex(phase: 2 * .pi * Double($0) / Double(grid.length)) }
    for output in chosen {
      for microphone in 0..<microphones {
        try step.check()
        let spectrum = binWeights.indices.map { bin -> Complex in
          let weight = weights.values[(min(bin, designed - 1) * outputs + output) * microphones + microphone]
          guard bin >= designed else { return binWeights[bin] * weight }
          let level = weight.magnitude * grid.magnitudeAboveDesign(bin)
          return Complex(binWeights[bin] * (weight.real < 0 ? -level : level), 0)
        }
        guard spectrum.contains(where: { $0 != .zero }) else { continue }
        var filter = (0..<grid.tapCount).map { tap -> Double in
          let time = (tap - grid.delayFrames + grid.length) % grid.length
          var sum = 0.0
          for bin in spectrum.indices {
            let phasor = phasors[bin * time % grid.length]
            sum += spectrum[bin].real * phasor.real - spectrum[bin].imaginary * phasor.imaginary
          }
          return sum
        }
        Cholesky.solve(factor, order: grid.tapCount, &filter)
        taps[output, microphone] = filter[...]
      }
    }
  }
}
