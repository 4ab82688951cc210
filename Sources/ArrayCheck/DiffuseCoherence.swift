import Acoustics
import Manifolds
import Numerics

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
}
