import Acoustics
import Glibc
import Manifolds
import Numerics

/// B-format of microphones all around a rigid sphere, below its spatial aliasing: per channel a mixture of the microphones
/// that hears its harmonic and none of the lower ones, whatever the frequency, and per order one radial filter, which undoes
/// what the sphere does to that order. From spatial aliasing on, least squares per bin is better, and takes over.
///
/// Least squares within a limit of noise shortens each filter for itself, so that the orders differ in level and phase; a
/// virtual cardioid of W and X then has a rear null of 17 dB. Here the filters are fitted at their finished length, and
/// level and phase relative to W count: W itself gives way where X cannot be had, by 10° at most from 125 Hz on, and by 3 dB at 63 Hz.
/// - Noise: an order is softer where it would exceed its limit, and so much softer below that its noise falls, too.
/// - Source: Moreau, Daniel and Bertet, 3D sound field recording with higher order Ambisonics (AES 120, 2006).
struct RadialFilters {
  /// Noise of a mixture, at most, relative to that of as many microphones evenly spread.
  private static let mostNoise = 10.0
  /// Bins below this frequency, in hertz, do not count; the others count by 1 / frequency.
  private static let lowest = 40.0
  /// What the difference of first order from W counts, relative to W's own error, from this frequency in hertz on; below,
  /// it falls as the frequency's square.
  private static let (tie, tiedFrom) = (4.0, 160.0)
  /// Where the noise of an order would exceed its limit, its energy falls by this power of the excess. At 1, the noise would
  /// be the limit at all low frequencies, where nothing is heard of the order.
  private static let softening = 1.2
  /// How sharply it begins to fall: at the limit it has 0.9 dB less.
  private static let knee = 4.0
  /// Where least squares begins, and where nothing else is left: ka relative to the highest order of mixtures.
  private static let (aliasing, aliased) = (0.5, 0.9)
  /// Added to the diagonal of the normal equations, relative to its mean.
  private static let loading = 1e-12

  private let grid: DesignGrid
  private let radius: Double
  /// `[order][channel of the order][microphone]`, as far as the microphones suffice.
  private let mixtures: [[[Double]]]
  /// `[order][tap]`, as far as both the microphones and the order of B-format go.
  private var filters: [[Double]] = []
  /// The bins that count.
  private let bins: [Int]
  private let phasors: [Complex]

  /// Nil if the microphones do not surround a rigid sphere, so that they cannot tell apart the harmonics of first order.
  /// - Parameter limits: of each order's noise, relative to the harmonic's level in a diffuse field.
  init?(_ manifold: any ArrayManifold, frame: HeadFrame, limits: [Decibels], grid: DesignGrid) {
    guard let radius = manifold.sphereRadius else { return nil }
    let microphones = manifold.positions.map { $0 / $0.length }
    var mixtures: [[[Double]]] = []
    while let next = Self.mixtures(mixtures.count, of: microphones, frame: frame) { mixtures.append(next) }
    guard mixtures.count > 1 else { return nil }
    self.grid = grid
    self.radius = radius
    self.mixtures = mixtures
    bins = (0..<grid.binCount).filter { grid.frequency($0) >= Self.lowest }
    phasors = (0..<grid.length).map { Complex(phase: 2 * .pi * Double($0) / Double(grid.length)) }
    fit(limits)
  }

  /// The mixtures that hear the harmonics of one order, and nothing of the lower ones: `[channel][microphone]`. Nil if the
  /// microphones cannot tell them apart.
  private static func mixtures(
    _ order: Int, of microphones: [SIMD3<Double>], frame: HeadFrame
  ) -> [[Double]]? {
    let targets = SphericalHarmonicTargets(order: order, frame: frame, directions: microphones)
    let (channels, count) = (targets.channels, microphones.count)
    guard channels <= count else { return nil }
    let heard = (0..<channels).map { targets.values[$0 * count..<($0 + 1) * count] }
    var products = heard.flatMap { a in heard.map { b in zip(a, b).reduce(0) { $0 + $1.0 * $1.1 } } }
    guard Cholesky.factor(&products, order: channels) else { return nil }
    let result = (order * order..<channels).map { channel in
      var shares = [Double](repeating: 0, count: channels)
      shares[channel] = 1
      Cholesky.solve(products, order: channels, &shares)
      return (0..<count).map { m in
        zip(shares, heard).reduce(0) { $0 + $1.0 * $1.1[$1.1.startIndex + m] }
      }
    }
    return noise(result) <= mostNoise * Double(2 * order + 1) / Double(count) ? result : nil
  }

  /// Of the noisiest mixture, for microphones with noise of unit power.
  private static func noise(_ mixtures: [[Double]]) -> Double {
    mixtures.map { $0.reduce(0) { $0 + $1 * $1 } }.max()!
  }

  /// What least squares counts at a frequency in hertz: 1 from spatial aliasing on.
  private func leastSquares(_ frequency: Double) -> Double {
    let size = 2 * .pi * frequency / speedOfSound * radius / Double(mixtures.count - 1)
    let share = log(max(size, 1e-9) / Self.aliasing) / log(Self.aliased / Self.aliasing)
    return 0.5 - 0.5 * cos(.pi * min(1, max(0, share)))
  }

  /// W and first order together, then the others, which follow W.
  private mutating func fit(_ limits: [Decibels]) {
    let frequencies = bins.map(grid.frequency)
    let orders = min(mixtures.count, limits.count)
    let strengths = frequencies.map {
      RigidSphereManifold.modeStrengths(orders: orders, size: 2 * .pi * $0 / speedOfSound * radius)
    }
    /// The level in each bin.
    func levels(_ order: Int) -> [Double] {
      let noise = Self.noise(mixtures[order]) / SphericalHarmonicTargets.diffuseEnergy(order * order)
      return strengths.map {
        let excess = noise / $0[order].squaredMagnitude / limits[order].powerRatio
        return pow(1 + pow(excess, Self.knee), -Self.softening / Self.knee / 2)
      }
    }
    let first = levels(1)
    var (ofW, ofFirst, between, wanted): ([Complex], [Complex], [Complex], [Complex]) = ([], [], [], [])
    for (bin, frequency) in frequencies.enumerated() {
      let (w, x) = (strengths[bin][0], strengths[bin][1])
      let own = 1 / frequency
      let rise = min(1, pow(frequency / Self.tiedFrom, 2))
      let tied = own * pow(Self.tie * rise, 2)
      ofW.append(Complex((own + tied * first[bin] * first[bin]) * w.squaredMagnitude, 0))
      ofFirst.append(Complex(tied * x.squaredMagnitude, 0))
      between.append(-tied * first[bin] * (w.conjugate * x))
      wanted.append(own * (1 - leastSquares(frequency)) * w.conjugate)
    }
    let none = [Complex](repeating: .zero, count: bins.count)
    filters = minimum([[ofW, between], [between.map(\.conjugate), ofFirst]], [wanted, none])
    let reached = zip(strengths, spectrum(filters[0])).map { $0[0] * $1 }
    for order in 2..<max(2, orders) {
      // Relative to the level: what is soft is exact, too, and has no more noise than it should.
      let levels = levels(order)
      let weights = zip(frequencies, levels).map { 1 / ($0 * $1 * $1) }
      filters += minimum(
        [[bins.indices.map { Complex(weights[$0] * strengths[$0][order].squaredMagnitude, 0) }]],
        [bins.indices.map { weights[$0] * levels[$0] * (strengths[$0][order].conjugate * reached[$0]) }])
    }
  }

  /// The filters whose spectra G minimise Σ Gᴴ Q G − 2 Re(Gᴴ L) over the bins.
  /// - Parameters:
  ///   - quadratic: Q, `[filter][filter][bin]`.
  ///   - linear: L, `[filter][bin]`.
  private func minimum(_ quadratic: [[[Complex]]], _ linear: [[Complex]]) -> [[Double]] {
    let (count, taps) = (linear.count, grid.tapCount)
    let order = count * taps
    func sum(_ spectrum: [Complex], at time: Int) -> Double {
      let time = (time + grid.length) % grid.length
      return zip(bins, spectrum).reduce(0) {
        let phasor = phasors[$1.0 * time % grid.length]
        return $0 + $1.1.real * phasor.real - $1.1.imaginary * phasor.imaginary
      }
    }
    var matrix = [Double](repeating: 0, count: order * order)
    for i in 0..<count {
      for j in i..<count {
        let lags = (1 - taps..<taps).map { sum(quadratic[i][j], at: $0) }
        for m in 0..<taps {
          for n in 0..<taps { matrix[(i * taps + m) * order + j * taps + n] = lags[m - n + taps - 1] }
        }
      }
    }
    let load = Self.loading * (0..<order).reduce(0) { $0 + matrix[$1 * (order + 1)] } / Double(order)
    for n in 0..<order { matrix[n * (order + 1)] += load }
    var solution = linear.flatMap { bins in (0..<taps).map { sum(bins, at: $0 - grid.delayFrames) } }
    let isDefinite = matrix.withUnsafeMutableBufferPointer { Cholesky.factor($0.baseAddress!, order: order) }
    precondition(isDefinite, "positive weights make a definite matrix")
    Cholesky.solve(matrix, order: order, &solution)
    return (0..<count).map { Array(solution[$0 * taps..<($0 + 1) * taps]) }
  }

  /// Of a filter without the modelling delay, in each bin that counts.
  private func spectrum(_ filter: [Double]) -> [Complex] {
    bins.map { bin in
      filter.enumerated().reduce(.zero) { sum, tap in
        let time = (tap.offset - grid.delayFrames + grid.length) % grid.length
        return sum + tap.element * phasors[bin * time % grid.length].conjugate
      }
    }
  }

  /// Leaves of the weights of least squares what counts: that from spatial aliasing on.
  func reduce(_ weights: inout Weights) {
    for bin in 0..<grid.designedBinCount {
      let share = leastSquares(grid.frequency(bin))
      let start = bin * weights.outputs * weights.microphones
      for i in start..<start + filters.count * filters.count * weights.microphones {
        weights.values[i] = share * weights.values[i]
      }
    }
  }

  /// Adds the filters below spatial aliasing.
  func add(to taps: inout Taps<Double>) {
    for (order, filter) in filters.enumerated() {
      for (channel, mixture) in mixtures[order].enumerated() {
        for (microphone, share) in mixture.enumerated() {
          let sum = zip(taps[order * order + channel, microphone], filter).map { $0 + share * $1 }
          taps[order * order + channel, microphone] = sum[...]
        }
      }
    }
  }
}
