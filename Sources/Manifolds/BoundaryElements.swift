import Acoustics
import CLapack
import Foundation

/// Pressure at microphones on a rigid box, as sums over the incident wave at points of its surface.
///
/// On the surface ½p = p_in + ∫ p ∂G/∂n dS; collocated at the panels' centres that is a linear system per
/// parity sector. The same equation, read at a microphone, gives the pressure there from that of the panels,
/// wherever on the surface it is. Solved backwards: one right-hand side per microphone serves all waves.
/// Near and above the first interior resonance the pressure also has to vanish at points inside, in the
/// sense of least squares.
/// - Source: Schenck, Improved integral formulation for acoustic radiation problems, J. Acoust. Soc. Am. 44
///   (1968); Sloan, Improvement by iteration for compact operator equations, Math. Comp. 30 (1976).
package struct BoundaryElements: Sendable {
  let mesh: BoxMesh
  /// On the surface.
  let microphones: [Position]
  private let integrals: PanelIntegrals
  /// Interior points are used from this part of the first resonance.
  private static let resonanceMargin = 0.85

  /// - Parameter microphones: at least one.
  init(mesh: BoxMesh, microphones: [Position], step: DesignStep) throws(DesignError) {
    self.mesh = mesh
    self.microphones = microphones
    integrals = try PanelIntegrals(
      mesh: mesh, points: mesh.panels.map(\.centre) + mesh.interior + microphones, step: step)
  }

  /// Where the incident wave is to be known: panel centres, then interior points.
  var points: [Position] { mesh.panels.map(\.centre) + mesh.interior }

  /// How many of `points` matter at `frequency`.
  func pointCount(frequency: Double) -> Int {
    mesh.panels.count + (frequency < Self.resonanceMargin * mesh.firstResonance ? 0 : mesh.interior.count)
  }

  /// What a microphone hears beyond 2 p_in there: Σ weight × (the incident wave's part in a sector at a point).
  /// - Returns: `[sector][microphone][point]`, or nil where the system has no solution.
  func weights(frequency: Double, step: DesignStep) throws(DesignError) -> [Complex]? {
    let unknowns = mesh.panels.count
    let rows = pointCount(frequency: frequency)
    let count = microphones.count
    let plane = integrals.plane
    let firstMicrophone = (unknowns + mesh.interior.count) * unknowns
    var result: [Complex] = []
    result.reserveCapacity(Parity.count * count * rows)
    let kernels = UnsafeMutablePointer<Complex>.allocate(capacity: integrals.entries)
    defer { kernels.deallocate() }
    try integrals.write(wavenumber: 2 * .pi * frequency / speedOfSound, to: kernels, step: step)
    Parity.sectors(kernels, plane: plane)
    for sector in 0..<Parity.count {
      try step.reached(0.2 + 0.8 * Double(sector) / Double(Parity.count))
      // Row by row the equations, so column by column their transpose.
      let matrix = kernels + sector * plane
      var right = [Complex](repeating: .zero, count: count * rows)
      for m in 0..<count {
        for j in 0..<unknowns { right[m * rows + j] = 2 * matrix[firstMicrophone + m * unknowns + j] }
      }
      for i in 0..<rows * unknowns { matrix[i] = -1 * matrix[i] }
      for i in 0..<unknowns { matrix[i * unknowns + i].real += 0.5 }
      let status = right.withUnsafeMutableBytes {
        Self.solve(matrix, unknowns: unknowns, rows: rows, OpaquePointer($0.baseAddress!), count: count)
      }
      guard status == 0 else { return nil }
      result += right
    }
    return result
  }

  /// Least solutions of `matrix`ᵀ x = `right`. `unknowns` values behind `matrix` must be readable, as the
  /// microphones' equations there are: zgels gives zgemv_n rows of it (see `HermitianEigen.decompose`).
  package static func solve(
    _ matrix: UnsafeMutablePointer<Complex>, unknowns: Int, rows: Int, _ right: OpaquePointer, count: Int
  ) -> Int32 {
    let (n, r, m) = (Int32(unknowns), Int32(rows), Int32(count))
    if rows == unknowns {
      var pivots = [Int32](repeating: 0, count: unknowns)
      return LAPACKE_zgesv(LAPACK_COL_MAJOR, n, m, OpaquePointer(matrix), n, &pivots, right, n)
    }
    return LAPACKE_zgels(
      LAPACK_COL_MAJOR, CChar(UInt8(ascii: "N")), n, r, m, OpaquePointer(matrix), n, right, r)
  }
}
