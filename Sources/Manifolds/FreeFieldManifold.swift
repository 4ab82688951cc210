import Acoustics
import Numerics

/// Array manifold of microphones in the free field: p = e^(+jk d·r).
/// - Source: Van Trees, Optimum Array Processing (2002), section 2.2.
package struct FreeFieldManifold: ArrayManifold {
  package let positions: [Position]

  package init(positions: [Position]) { self.positions = positions }

  package func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    var grid = ResponseGrid(
      frequencies: frequencies.count, channels: positions.count, directions: directions.count)
    let lead = positions.flatMap { position in directions.map { $0.dot(position) / speedOfSound } }
    grid.values.withUnsafeMutableBufferPointer { values in
      for (f, frequency) in frequencies.enumerated() {
        let omega = 2 * .pi * frequency
        let base = f * lead.count
        for i in 0..<lead.count { values[base + i] = Complex(phase: omega * lead[i]) }
      }
    }
    return grid
  }
}
