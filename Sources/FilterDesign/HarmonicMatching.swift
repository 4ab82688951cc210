import Acoustics
import Glibc
import Numerics

/// Least-squares match of the spherical harmonics in single bins, within a limit of noise.
struct HarmonicMatching: Sendable {
  /// The harmonics, times what each direction counts, relative to the mean. The bins' covariances have it, too.
  let targets: SphericalHarmonicTargets

  init(targets: SphericalHarmonicTargets, importance: [Double]) {
    self.targets = targets.scaled(by: importance)
  }

  /// The weights of one channel in one bin, as components along the covariance's eigenvectors.
  struct Match: Sendable {
    let components: [Complex]
    /// Mean energy over all directions, relative to that of the harmonic.
    let level: Double
    /// Of the pattern that is reached with the harmonic.
    let correlation: Double
  }

  /// Limits of the noise of microphones with noise of unit power, ‖w‖².
  struct NoiseLimits: Sendable {
    /// Relative to the harmonic's diffuse energy.
    let overHarmonic: Decibels
    /// Relative to the diffuse energy that is reached; nil for no limit.
    var overReached: Decibels?
  }

  /// Smallest and largest regulariser, relative to the mean eigenvalue of the covariance.
  static let (least, greatest) = (1e-9, 1e3)

  /// The correlation of each channel's harmonic with the microphones: `[channel][eigenvector]`.
  func correlations(_ bin: BinMatching, frequency: Double, origin: Position) -> [[Complex]] {
    correlations(bin, frequency: frequency, origins: [origin])[0]
  }

  /// The same for several origins.
  func correlations(_ bin: BinMatching, frequency: Double, origins: [Position]) -> [[[Complex]]] {
    let found = bin.correlation(
      with: origins.flatMap { targets.heard(at: $0, frequency: frequency) },
      outputs: origins.count * targets.channels)
    return origins.indices.map {
      Array(found[$0 * targets.channels..<($0 + 1) * targets.channels])
    }
  }

  /// - Parameters:
  ///   - correlation: of the channel's harmonic with the microphones, as `correlations` returns it.
  ///   - crosstalk: with the other channels; nil if it does not count.
  static func match(
    _ bin: BinMatching, _ correlation: [Complex], channel: Int, limits: NoiseLimits,
    crosstalk: HarmonicCrosstalk? = nil
  ) -> Match {
    let wanted = SphericalHarmonicTargets.diffuseEnergy(channel)
    let most = limits.overHarmonic.powerRatio * wanted
    let mostOverReached = limits.overReached?.powerRatio ?? .infinity
    let eigenvalues = bin.covarianceEigen.values
    func reached(_ components: [Complex]) -> Double {
      zip(components, eigenvalues).reduce(0) { $0 + $1.1 * $1.0.squaredMagnitude }
    }
    let mean = bin.meanEnergy
    guard mean > 0 else { return Match(components: correlation.map { _ in .zero }, level: 0, correlation: 0) }
    func solution(_ regulariser: Double) -> [Complex] {
      crosstalk?.solution(correlation, regulariser: regulariser)
        ?? bin.solution(correlation, regulariser: regulariser)
    }
    let squares = correlation.map(\.squaredMagnitude)
    let regulariser = bin.regulariser(from: least * mean, to: greatest * mean) { regulariser in
      if crosstalk?.isNone ?? true {
        var (noise, energy) = (0.0, 0.0)
        for j in squares.indices {
          let component = squares[j] / ((eigenvalues[j] + regulariser) * (eigenvalues[j] + regulariser))
          noise += component
          energy += eigenvalues[j] * component
        }
        return noise <= most && noise <= mostOverReached * energy
      }
      let components = solution(regulariser)
      let noise = components.reduce(0) { $0 + $1.squaredMagnitude }
      return noise <= most && noise <= mostOverReached * reached(components)
    }
    let components = solution(regulariser)
    let energy = reached(components)
    let product = zip(components, correlation).reduce(0) { $0 + ($1.0.conjugate * $1.1).real }
    return Match(
      components: components, level: energy / wanted,
      correlation: product / max((energy * wanted).squareRoot(), 1e-12))
  }
}
