import Acoustics
import CLapack
import Glibc
import Numerics

/// Boundary element method (BEM) for a rigid box: the pressure at microphones on its surface, as a linear functional of
/// the incident wave.
///
/// On the surface, ½p = p_in + ∫ p ∂G/∂n dS. Collocation at the panel centres turns this into one linear system per
/// parity sector. Evaluating the same equation at a microphone gives its pressure from that of the panels, anywhere on
/// the surface. The adjoint (transposed) system is solved: one right-hand side per microphone serves all incident
/// waves.
///
/// The equation has no unique solution at the interior resonances. CHIEF removes this: near and above the first
/// resonance, additional equations require zero pressure at interior points, and the system is solved by least squares.
/// - Source: Schenck, Improved integral formulation for acoustic radiation problems, J. Acoust. Soc. Am. 44
///   (1968); Sloan, Improvement by iteration for compact operator equations, Math. Comp. 30 (1976).
package struct BoundaryElements: Sendable {
  let mesh: BoxMesh
  /// Microphone positions on the surface, in metres.
  package let microphones: [Position]
  private let integrals: PanelIntegrals
  /// CHIEF points are used from this fraction of the first interior resonance.
  private let resonanceMargin: Double
  /// In hertz.
  private let spacing: Double
  /// How many frequencies are best asked for together: few enough for 8 MB of integrals each.
  let together: Int

  /// - Parameters:
  ///   - microphones: at least one.
  ///   - spacing: distance between frequencies that are asked for together, in hertz.
  init(
    mesh: BoxMesh, microphones: [Position], resonanceMargin: Double, spacing: Double, step: DesignStep
  ) throws(DesignError) {
    self.mesh = mesh
    self.resonanceMargin = resonanceMargin
    self.microphones = microphones
    self.spacing = spacing
    integrals = try PanelIntegrals(
      mesh: mesh, points: Self.points(of: mesh) + microphones, spacing: Self.wavenumber(spacing), step: step)
    together = max(1, min(4, (32 << 20) / (integrals.entries * MemoryLayout<Complex>.stride)))
  }

  private static func wavenumber(_ frequency: Double) -> Double { 2 * .pi * frequency / speedOfSound }

  /// Points at which the incident wave is evaluated: panel centres, then interior (CHIEF) points.
  static func points(of mesh: BoxMesh) -> [Position] { mesh.panels.map(\.centre) + mesh.interior }

  /// The number of leading `points` that are used at `frequency`, in hertz.
  func pointCount(frequency: Double) -> Int {
    mesh.panels.count + (frequency < resonanceMargin * mesh.firstResonance ? 0 : mesh.interior.count)
  }

  /// Weights that give the pressure at each microphone from the incident wave: p = 2 p_in + Σ weight × (component of
  /// the incident wave in a parity sector, at a point).
  /// - Parameters:
  ///   - frequencies: in hertz, ascending, `spacing` apart; `together` at most.
  ///   - memory: for intermediate results; as it is after another call, which saves the time of new memory, or empty.
  /// - Returns: of each frequency `[sector][microphone that hears it][point]`, or nil if LAPACK cannot solve the system.
  func weights(
    frequencies: [Double], memory: inout [Complex], step: DesignStep
  ) throws(DesignError) -> [[Complex]?] {
    if memory.isEmpty {
      memory = [Complex](unsafeUninitializedCapacity: together * integrals.entries) { _, size in
        size = together * integrals.entries
      }
    }
    let most = frequencies.map(pointCount).max()!
    let steps = step.within(0.1...1).divided(by: frequencies.map { _ in 1 })
    return try memory.withUnsafeMutableBufferPointer { memory throws(DesignError) in
      let planes = frequencies.indices.map { memory.baseAddress! + $0 * integrals.entries }
      try integrals.write(
        first: Self.wavenumber(frequencies[0]), without: most..<mesh.panels.count + mesh.interior.count,
        to: planes, step: step)
      var result: [[Complex]?] = []
      for (number, frequency) in frequencies.enumerated() {
        result.append(
          try weights(planes[number], rows: pointCount(frequency: frequency), step: steps[number]))
      }
      return result
    }
  }

  /// The weights of one frequency.
  /// - Parameters:
  ///   - kernels: its integrals, which are overwritten.
  ///   - rows: the number of points.
  private func weights(
    _ kernels: UnsafeMutablePointer<Complex>, rows: Int, step: DesignStep
  ) throws(DesignError) -> [Complex]? {
    let unknowns = mesh.panels.count
    let plane = integrals.plane
    let firstMicrophone = (unknowns + mesh.interior.count) * unknowns
    var result: [Complex] = []
    result.reserveCapacity(Parity.count * microphones.count * rows)
    Parity.sectors(kernels, plane: plane)
    for sector in 0..<Parity.count {
      try step.reached(Double(sector) / Double(Parity.count))
      // The equations, with the opposite sign, are stored row by row, so a column-major solver sees the transposed matrix.
      let matrix = kernels + sector * plane
      let hearing = Parity.hearing(sector, microphones)
      guard !hearing.isEmpty else { continue }
      let count = hearing.count
      var right = [Complex](repeating: .zero, count: count * rows)
      for (number, m) in hearing.enumerated() {
        for j in 0..<unknowns { right[number * rows + j] = -2 * matrix[firstMicrophone + m * unknowns + j] }
      }
      for i in 0..<unknowns { matrix[i * unknowns + i].real -= 0.5 }
      let status = right.withUnsafeMutableBytes {
        Self.solve(matrix, unknowns: unknowns, rows: rows, OpaquePointer($0.baseAddress!), count: count)
      }
      guard status == 0, right.allSatisfy({ $0.squaredMagnitude.isFinite }) else { return nil }
      result += right
    }
    return result
  }

  /// Solves `matrix`ᵀ x = `right` in place. With more rows than unknowns, x is the minimum-norm solution.
  ///
  /// Hazard: `unknowns` values behind the end of `matrix` must be readable, because zgels passes rows of it to zgemv_n,
  /// which reads beyond them (see `HermitianEigen.decompose`). Here the microphones' equations follow the matrix.
  package static func solve(
    _ matrix: UnsafeMutablePointer<Complex>, unknowns: Int, rows: Int, _ right: OpaquePointer, count: Int
  ) -> Int32 {
    let (n, r, m) = (Int32(unknowns), Int32(rows), Int32(count))
    if rows == unknowns {
      var pivots = [Int32](repeating: 0, count: unknowns)
      return LAPACKE_zgesv_work(LAPACK_COL_MAJOR, n, m, OpaquePointer(matrix), n, &pivots, right, n)
    }
    // A x = b with the transposed matrix A = (B C): x = (z − Z y, y), where B z = b, B Z = C and (1 + Zᴴ Z) y = Zᴴ z. It takes
    // half the time of an LQ factorisation of A. Next to an interior resonance B is singular: digits are lost with Z.
    let extra = rows - unknowns
    let square = [Complex](UnsafeBufferPointer(start: matrix, count: unknowns * unknowns))
    let rightSide = UnsafeMutablePointer<Complex>(right)
    var solved = [Complex](UnsafeBufferPointer(start: matrix + unknowns * unknowns, count: extra * unknowns))
    for m in 0..<count {
      solved += UnsafeBufferPointer(start: rightSide + m * rows, count: unknowns)
    }
    var pivots = [Int32](repeating: 0, count: unknowns)
    let status = solved.withUnsafeMutableBytes {
      LAPACKE_zgesv_work(
        LAPACK_COL_MAJOR, n, Int32(extra + count), OpaquePointer(matrix), n, &pivots,
        OpaquePointer($0.baseAddress!), n)
    }
    guard status == 0, solved.prefix(extra * unknowns).allSatisfy({ $0.squaredMagnitude < mostSquared })
    else {
      matrix.update(from: square, count: square.count)
      return LAPACKE_zgels(
        LAPACK_COL_MAJOR, CChar(UInt8(ascii: "N")), n, r, m, OpaquePointer(matrix), n, right, r)
    }
    // Zᴴ (Z z), then y.
    let width = Int32(extra)
    var products = [Complex](repeating: .zero, count: extra * (extra + count))
    var (one, minusOne, zero) = (Complex.one, Complex(-1, 0), Complex.zero)
    cblas_zgemm(
      CblasColMajor, CblasConjTrans, CblasNoTrans, width, width + m, n, &one, solved, n, solved, n, &zero,
      &products, width)
    for i in 0..<extra { products[i * (extra + 1)].real += 1 }
    let found = products.withUnsafeMutableBytes { products in
      let gram = products.bindMemory(to: Complex.self).baseAddress!
      return LAPACKE_zposv(
        LAPACK_COL_MAJOR, CChar(UInt8(ascii: "L")), width, m, OpaquePointer(gram), width,
        OpaquePointer(gram + extra * extra), width)
    }
    guard found == 0 else { return found }
    products.withUnsafeBufferPointer { products in
      solved.withUnsafeMutableBufferPointer { solved in
        let (y, z) = (products.baseAddress! + extra * extra, solved.baseAddress! + extra * unknowns)
        cblas_zgemm(
          CblasColMajor, CblasNoTrans, CblasNoTrans, n, m, width, &minusOne, solved.baseAddress!, n, y, width,
          &one, z, n)
        for column in 0..<count {
          (rightSide + column * rows).update(from: z + column * unknowns, count: unknowns)
          (rightSide + column * rows + unknowns).update(from: y + column * extra, count: extra)
        }
      }
    }
    return 0
  }

  /// Largest squared magnitude in Z with which digits enough are left.
  private static let mostSquared = 1e10
}
