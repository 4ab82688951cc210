import Acoustics
import Glibc
import Manifolds
import Numerics

/// Which microphones are inverted: in pairs that are close compared with the wavelength, sound is nearly in phase.
struct PolarityVote {
  /// The microphones of the smaller camp.
  let inverted: [Int]
  /// Whether both camps are equally large, so that it may as well be the others.
  let isTie: Bool
  /// Whether all pairs agree with the two camps.
  let isClear: Bool

  private static let band = 80.0...1500.0
  /// Pairs count at frequencies at which their coherence in diffuse sound is above this.
  private static let leastCoherence = 0.75

  /// - Parameter order: the microphone of `manifold` that each channel carries.
  init(_ spectra: ShortTimeSpectra, manifold: any ArrayManifold, order: [Int]) {
    let count = order.count
    let bins = Array(spectra.bins(in: Self.band))
    let frequencies = bins.map { Double($0) * spectra.binWidth }
    let diffuse = DiffuseCoherence(manifold, frequencies: frequencies)
    var weights = [[Double]](repeating: [Double](repeating: 0, count: count), count: count)
    for i in 0..<count {
      for j in 0..<i {
        var (sum, total) = (0.0, 0.0)
        for (f, bin) in bins.enumerated() where diffuse.real(f, order[i], order[j]) > Self.leastCoherence {
          var (dot, a, b) = (0.0, 0.0, 0.0)
          for frame in 0..<spectra.frames {
            let (x, y) = (spectra.index(frame, i) + bin, spectra.index(frame, j) + bin)
            dot += Double(spectra.re[x] * spectra.re[y] + spectra.im[x] * spectra.im[y])
            a += Double(spectra.power(frame, i, bin))
            b += Double(spectra.power(frame, j, bin))
          }
          guard a > 0, b > 0 else { continue }
          sum += dot / (a * b).squareRoot()
          total += 1
        }
        weights[i][j] = total > 0 ? sum / total : 0
        weights[j][i] = weights[i][j]
      }
    }
    // The leading eigenvector, by power iteration; the shift makes the matrix positive.
    let shift = weights.map { $0.reduce(0) { $0 + abs($1) } }.max() ?? 1
    var random = SplitMix(state: 7)
    var vector = (0..<count).map { _ in 1 + Double.random(in: -0.3...0.3, using: &random) }
    for _ in 0..<400 {
      var next = vector.map { $0 * (shift + 1e-9) }
      for i in 0..<count { for j in 0..<count { next[i] += weights[i][j] * vector[j] } }
      let length = max(1e-12, next.reduce(0) { $0 + $1 * $1 }.squareRoot())
      vector = next.map { $0 / length }
    }
    let negative = (0..<count).filter { vector[$0] < 0 }
    let positive = (0..<count).filter { vector[$0] >= 0 }
    inverted = negative.count <= positive.count ? negative : positive
    isTie = negative.count == positive.count
    let sign = vector.map { $0 < 0 ? -1.0 : 1.0 }
    var (agreeing, all) = (0.0, 0.0)
    var support = [Double](repeating: 0, count: count)
    for i in 0..<count {
      for j in 0..<count where i != j {
        agreeing += sign[i] * sign[j] * weights[i][j]
        all += abs(weights[i][j])
        support[i] = max(support[i], sign[i] * sign[j] * weights[i][j])
      }
    }
    isClear = all > 0 && agreeing > 0.8 * all && support.allSatisfy { $0 > 0.2 }
  }
}

/// The coherence of every pair of microphones in sound from all around, as the device's model has it.
struct DiffuseCoherence {
  private let values: [[Complex]]
  private let count: Int
  /// Level of diffuse sound at each microphone, as power. Shape: `[frequency][microphone]`.
  let powers: [[Double]]

  init(_ manifold: any ArrayManifold, frequencies: [Double]) {
    let directions = fibonacciSphere(150)
    let grid = manifold.responses(from: directions, frequencies: frequencies)
    let count = grid.channels
    self.count = count
    var powers: [[Double]] = []
    values = frequencies.indices.map { f in
      var covariance = [Complex](repeating: .zero, count: count * count)
      for i in 0..<count {
        for j in 0...i {
          var sum = Complex.zero
          for d in directions.indices { sum += grid[f, i, d] * grid[f, j, d].conjugate }
          covariance[i * count + j] = (1 / Double(directions.count)) * sum
          covariance[j * count + i] = covariance[i * count + j].conjugate
        }
      }
      let diagonal = (0..<count).map { max(1e-12, covariance[$0 * count + $0].real) }
      powers.append(diagonal)
      return covariance.indices.map { n in
        (1 / (diagonal[n / count] * diagonal[n % count]).squareRoot()) * covariance[n]
      }
    }
    self.powers = powers
  }

  func value(_ frequency: Int, _ i: Int, _ j: Int) -> Complex { values[frequency][i * count + j] }
  func real(_ frequency: Int, _ i: Int, _ j: Int) -> Double { value(frequency, i, j).real }
}
