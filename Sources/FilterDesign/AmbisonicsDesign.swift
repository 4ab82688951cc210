import Acoustics
import Glibc
import Manifolds
import Numerics
import Synchronization

/// Designs B-format: filters from all microphones of an array to the spherical harmonics up to an order, by regularised
/// least squares over the sphere in each bin.
///
/// - Origin: the harmonics are heard at a point that `OriginSearch` finds.
/// - Noise: ‖w‖² is at most 10 dB above the harmonic's own energy in a diffuse field. At low frequencies, where the array
///   is too small for the wavelength, that makes the channels softer. An order that would hardly live within that limit
///   has 20 dB.
/// - Crosstalk: the channels of first order, which carry directions, hear each other's harmonics no more than the array itself
///   mixes them.
/// - Equalisation: from where a channel comes within 3 dB of its level, it is raised to it, bin by bin. Above spatial
///   aliasing the pattern stays wrong, but the timbre of a diffuse field stays flat.
/// - Silence: a channel that the array does not hear at all has filters of zeros: height, for an array in a plane.
/// - Length: as of all cases. `TruncationFit` shortens the filters of first order, which reach lowest. It turns their phase by
///   10° or so below 500 Hz, which is a correlation of 0.98. The others are soft there: leaks would exceed them.
/// - Spheres: microphones all around a rigid one have `RadialFilters` up to spatial aliasing.
/// - Source: Moreau, Daniel and Bertet, 3D sound field recording with higher order Ambisonics (AES 120, 2006).
package struct AmbisonicsDesign {
  /// Limits of noise for an order, of which the first is taken that makes it live.
  private static let noiseLimits = [Decibels(10), Decibels(20)]
  /// How much the equalisation may raise the noise, in addition.
  private static let noiseOfEqualisation = 3.0
  /// Level from which a channel is equalised, and level up to which it is not at all; in between gradually.
  private static let (equalised, unequalised) = (-3.0, -9.0)
  /// Largest gain of the equalisation.
  private static let mostEqualisation = 20.0
  /// A channel is silent if its correlation stays below this in every octave.
  private static let leastCorrelation = 0.05

  private let manifold: any ArrayManifold
  private let frame: HeadFrame
  private let order: Int
  private let grid: DesignGrid

  private static let quadrature = gaussSphere(latitudes: 24)
  /// The design directions.
  package static var sphere: [SIMD3<Double>] { quadrature.directions }

  package init(manifold: any ArrayManifold, frame: HeadFrame, order: Int, grid: DesignGrid) {
    self.manifold = manifold
    self.frame = frame
    self.order = order
    self.grid = grid
  }

  /// - Parameter fixed: the origin, in metres in the device frame; nil searches it.
  /// - Returns: filters with an output for each channel, and their origin.
  package func filters(
    origin fixed: Position? = nil, step: DesignStep
  ) throws(DesignError) -> (taps: Taps<Float>, origin: Position) {
    let sphere = Self.sphere
    let frequencies = grid.frequencies
    let responses = try manifold.responses(
      from: sphere, frequencies: frequencies, step: step.within(0...0.2))
    let amplitudes = zip(manifold.amplitudes(of: sphere), Self.quadrature.weights).map {
      $0 * $1.squareRoot()
    }
    func matching(_ order: Int) -> HarmonicMatching {
      HarmonicMatching(
        targets: SphericalHarmonicTargets(order: order, frame: frame, directions: sphere),
        importance: amplitudes.map { $0 * $0 })
    }
    return try responses.values.withUnsafeBufferPointer { buffer throws(DesignError) in
      let matches = try BinMatching.all(
        buffer, microphones: manifold.microphoneCount, directions: sphere.count, amplitudes: amplitudes,
        step: step.within(0.2...0.3))
      let search = OriginSearch(
        matching(1), matches: matches, frequencies: frequencies, positions: manifold.positions,
        limits: .init(overHarmonic: Self.noiseLimits[0]))
      let origin =
        if let fixed { fixed } else { try search.origin(step: step.within(0.3...0.6)) }
      var (weights, limits) = try weights(
        matching(order), matches, frequencies: frequencies, origin: origin, step: step.within(0.6...0.8))
      let radial = origin == .zero ? RadialFilters(manifold, frame: frame, limits: limits, grid: grid) : nil
      radial?.reduce(&weights)
      var taps = try weights.filters(on: grid, keepsSign: true, step: step)
      try step.reached(0.9)
      if let radial {
        radial.add(to: &taps)
      } else {
        try TruncationFit(grid: grid).fit(weights, outputs: 1..<4, of: &taps, step: step)
      }
      return (Taps<Float>(taps), origin)
    }
  }

  /// The weights of all channels in every designed bin, and the most noise of each order, with its equalisation.
  private func weights(
    _ matching: HarmonicMatching, _ matches: [BinMatching], frequencies: [Double], origin: Position,
    step: DesignStep
  ) throws(DesignError) -> (Weights, limits: [Decibels]) {
    let channels = matching.targets.channels
    let correlations = Mutex([[[Complex]]](repeating: [], count: matches.count))
    try DesignThreads.forEach(matches.count) { bin throws(DesignError) in
      try step.check()
      let found = matching.correlations(matches[bin], frequency: frequencies[bin], origin: origin)
      correlations.withLock { $0[bin] = found }
    }
    let found = correlations.withLock { $0 }
    var weights = Weights(
      frequencies: matches.count, outputs: channels, microphones: manifold.microphoneCount)
    var limits: [Decibels] = []
    let octaves = HarmonicOctaves(frequencies)
    for degree in 0...order {
      try step.reached(Double(degree) / Double(order + 1))
      let own = Array(degree * degree..<(degree + 1) * (degree + 1))
      func match(_ channel: Int, _ bin: Int, _ limits: HarmonicMatching.NoiseLimits) -> HarmonicMatching.Match
      {
        let others = degree == 1 ? own.filter { $0 != channel } : []
        return HarmonicMatching.match(
          matches[bin], found[bin][channel], channel: channel, limits: limits,
          crosstalk: HarmonicCrosstalk(matches[bin], found[bin], channel: channel, others: others))
      }
      /// Matches of the order's channels within a limit of noise: `[channel][bin]`.
      func matched(_ limit: Decibels) -> [[HarmonicMatching.Match]] {
        own.map { channel in matches.indices.map { match(channel, $0, .init(overHarmonic: limit)) } }
      }
      /// The octaves in which an order lives; for an array in a plane, without height.
      func living(_ matched: [[HarmonicMatching.Match]]) -> Int {
        let heard = zip(own, matched).map { channel, matches in
          (channel, octaves.means { matches[$0].correlation })
        }.filter { channel, correlations in
          !SphericalHarmonicTargets.changesSignWithHeight(channel)
            || correlations.contains { $0 >= Self.leastCorrelation }
        }.map(\.1)
        return octaves.centres.indices.count { octave in
          mean(heard.map { $0[octave] }) >= CaseCriteria.leastCorrelation
        }
      }
      var limit = Self.noiseLimits[0]
      var best = matched(limit)
      if living(best) < CaseCriteria.leastOctaves {
        let other = matched(Self.noiseLimits[1])
        if living(other) >= CaseCriteria.leastOctaves { (limit, best) = (Self.noiseLimits[1], other) }
      }
      limits.append(Decibels(limit.value + Self.noiseOfEqualisation))
      for (channel, unequalised) in zip(own, best) {
        let isHeard = octaves.means { unequalised[$0].correlation }.contains { $0 >= Self.leastCorrelation }
        guard isHeard else { continue }
        let equalised = Self.equalised(unequalised, limit: limit) { match(channel, $0, $1) }
        for bin in matches.indices {
          let row = matches[bin].covarianceEigen.combine(equalised[bin])
          let start = (bin * channels + channel) * weights.microphones
          weights.values.replaceSubrange(start..<start + row.count, with: row)
        }
      }
    }
    return (weights, limits)
  }

  /// The matches of a channel, raised to the level of its harmonic where they come near it: components by bin.
  /// - Parameter matched: the match in a bin within other limits.
  private static func equalised(
    _ unequalised: [HarmonicMatching.Match], limit: Decibels,
    matched: (Int, HarmonicMatching.NoiseLimits) -> HarmonicMatching.Match
  ) -> [[Complex]] {
    let levels = unequalised.map { 10 * log10(max($0.level, 1e-12)) }
    let first = levels.indices.dropFirst().first { levels[$0] >= equalised } ?? levels.count
    let limits = HarmonicMatching.NoiseLimits(
      overHarmonic: limit, overReached: Decibels(limit.value + noiseOfEqualisation))
    return unequalised.indices.map { bin in
      var match = unequalised[bin]
      var share = max(0, min(1, (levels[bin] - Self.unequalised) / (Self.equalised - Self.unequalised)))
      if bin >= first {
        match = matched(bin, limits)
        share = 1
      }
      let gain = -share * max(10 * log10(max(match.level, 1e-12)), -mostEqualisation)
      return match.components.map { Decibels(gain).amplitude * $0 }
    }
  }
}
