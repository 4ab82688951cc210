import Acoustics
import Glibc
import Numerics

/// Noise gain limit of each bin's weights.
///
/// Truncation adds noise gain. The limits are therefore lowered until the finished filters meet their own limit.
struct NoiseGainLimits {
  let grid: DesignGrid
  let parameters: DesignParameters.Stereo
  /// The limit of each designed bin, as a power ratio.
  private(set) var ratios: [Double]

  init(grid: DesignGrid, parameters: DesignParameters.Stereo) {
    self.grid = grid
    self.parameters = parameters
    ratios = [Double](repeating: parameters.noiseGainLimit.powerRatio, count: grid.designedBinCount)
  }

  /// Lowers the limits around the bins in which the finished filters exceed their limit.
  /// - Parameters:
  ///   - filters: the finished filters.
  ///   - covariances: over all directions, one per designed bin.
  /// - Returns: the largest excess in decibels; zero or less if no bin exceeds the limit.
  mutating func tighten(
    _ filters: Taps<Float>, _ covariances: [BinCovariance], step: DesignStep
  ) throws(DesignError) -> Double {
    try step.check()
    let response = FilterResponse(
      taps: filters, sampleRate: grid.sampleRate, delayFrames: grid.delayFrames, frequencies: grid.frequencies
    )
    var gains = [NoiseGain](repeating: NoiseGain(), count: filters.outputs)
    for (bin, covariance) in covariances.enumerated() {
      for (output, power) in covariance.outputPowers(of: response.weights[bin]).enumerated() {
        gains[output].add(noise: power.noise, signal: power.signal)
      }
    }
    let levels = gains.map(\.levels)
    let excesses = covariances.indices.map { bin in
      let frequency = Hertz(grid.frequency(bin))
      return frequency >= parameters.lowestNoise && frequency <= parameters.highestNoise
        ? levels.map { $0[bin] }.max()! - parameters.finishedNoiseGain.value : -1
    }
    let previous = ratios
    let least = parameters.minimumNoiseGainLimit.powerRatio
    let (reach, margin) = (parameters.tighteningReach, parameters.tighteningMargin.value)
    for (bin, excess) in excesses.enumerated() where excess > 0 {
      for near in max(0, bin - reach)...min(ratios.count - 1, bin + reach) {
        ratios[near] = max(least, min(ratios[near], previous[near] * pow(10, -(excess + margin) / 10)))
      }
    }
    return excesses.max() ?? 0
  }
}
