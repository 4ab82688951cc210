import Acoustics
import Foundation

/// How much noise gain each bin's weights may have so that the finished filters keep within what is allowed.
struct NoiseGainLimits {
  /// Finished filters are held to the limit between these frequencies, in hertz.
  static let band = 100.0...16_000
  /// Bins on either side of one that is over the limit that are tightened with it.
  static let reach = 3
  /// Tightening stops here, a power ratio: 5 dB.
  static let least = pow(10, 0.5)

  let grid: DesignGrid
  let allowed: Decibels
  /// Power ratio per designed bin.
  private(set) var ratios: [Double]

  init(grid: DesignGrid, start: Double, allowed: Decibels) {
    self.grid = grid
    self.allowed = allowed
    ratios = [Double](repeating: start, count: grid.designedBinCount)
  }

  /// Lowers the limits around bins in which `filters` (`[output][microphone][tap]`) are over it.
  /// - Returns: the greatest excess in decibels; not above zero if nothing is over.
  mutating func tighten(
    _ filters: [[[Double]]], _ matches: [BinMatching], step: DesignStep
  ) throws(DesignError) -> Double {
    try step.check()
    let response = FilterResponse(
      taps: filters.map { $0.map { $0.map { Float($0) } } }, sampleRate: grid.sampleRate,
      delayFrames: grid.delayFrames, frequencies: grid.frequencies)
    let excesses = matches.enumerated().map { bin, match in
      Self.band.contains(grid.frequency(bin))
        ? match.noiseGain(of: response.weights[bin]) - allowed.value : -1
    }
    let old = ratios
    for (bin, excess) in excesses.enumerated() where excess > 0 {
      for near in max(0, bin - Self.reach)...min(ratios.count - 1, bin + Self.reach) {
        ratios[near] = max(Self.least, min(ratios[near], old[near] * pow(10, -(excess + 0.1) / 10)))
      }
    }
    return excesses.max() ?? 0
  }
}

extension BinMatching {
  /// ‖w‖² / wᴴRw of the output that has more of it, in decibels; `weights` shape `[output][microphone]`.
  func noiseGain(of weights: [Complex]) -> Double {
    var greatest = -Double.infinity
    for start in stride(from: 0, to: weights.count, by: microphones) {
      var noise = 0.0
      var signal = 0.0
      for m in 0..<microphones {
        let w = weights[start + m]
        noise += w.squaredMagnitude
        for n in 0..<microphones {
          signal += (w.conjugate * energyMatrix[m * microphones + n] * weights[start + n]).real
        }
      }
      greatest = max(greatest, 10 * log10(noise / max(signal, 1e-12)))
    }
    return greatest
  }
}
