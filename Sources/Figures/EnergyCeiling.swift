import Acoustics
import CLapack
import FilterDesign
import Glibc
import Manifolds
import Numerics

/// The physical limit of an array: the maximum ratio of the energy from one side to the energy from the opposite side,
/// over all weights whose noise gain stays within the limit of the designs; per octave.
///
/// It is the largest generalised eigenvalue of the covariance matrices of two opposite cones. The matrix in the
/// denominator is regularised until the noise gain ‖w‖² / mean |Vᵀw|² is within the design's limit. All directions
/// within a cone have equal weight, so filters may slightly exceed the ceiling on the axis itself.
/// - Source: Parra and Alvino, Geometric source separation (2002), for beams by generalised eigenvectors.
package struct EnergyCeiling: Sendable {
  /// Half the opening angle of the cones at the listener's sides.
  static let sideAngle = Angle.degrees(45)
  /// Exponents of ten of the regularisers to try, relative to the mean energy of the microphones.
  private static let regularisers = stride(from: -6.0, through: 1, by: 0.1)

  /// Directions that are mirror-symmetric in all octants, so that an array without left-right resolution gets exactly
  /// 0 dB.
  package static let sphere = fibonacciSphere(900).filter { $0.min() > 0 }.flatMap { point in
    (0..<8).map { octant -> SIMD3<Double> in
      point * SIMD3(octant & 1 == 0 ? 1 : -1, octant & 2 == 0 ? 1 : -1, octant & 4 == 0 ? 1 : -1)
    }
  }

  private let centres: [Int]
  private let responses: ResponseGrid
  /// A power ratio.
  private let noiseGainLimit: Double

  /// - Parameters:
  ///   - design: parameters of the device's designs; only the limit of noise gain is used.
  ///   - highestFrequency: in hertz; octaves that extend above it are omitted.
  package init(
    manifold: any ArrayManifold, design: DesignParameters = .init(),
    highestFrequency: Double = DesignParameters.Grid().highestFrequency.value,
    step: DesignStep = .unobserved
  ) throws(DesignError) {
    noiseGainLimit = design.stereo.noiseGainLimit.powerRatio
    centres = SeriesFigure.octaves.filter { Double($0) * 1.3 <= highestFrequency }
    responses = try manifold.responses(
      from: Self.sphere, frequencies: centres.map { Double($0) }, step: step)
  }

  /// Mean of the ceilings of left over right and right over left, in decibels, keyed by octave centre in hertz.
  package func separation(
    _ frame: HeadFrame, step: DesignStep = .unobserved
  ) throws(DesignError) -> [Int: Double] {
    let left = try ratio(towards: frame.left, within: Self.sideAngle, step: step.within(0...0.5))
    let right = try ratio(towards: frame.right, within: Self.sideAngle, step: step.within(0.5...1))
    return left.merging(right) { ($0 + $1) / 2 }
  }

  /// Ceiling of the front-to-back ratio, in decibels, keyed by octave centre in hertz.
  /// - Parameter channels: the microphones that may be used.
  package func frontBack(
    _ forward: Direction, channels: [Int], step: DesignStep = .unobserved
  ) throws(DesignError) -> [Int: Double] {
    try ratio(towards: forward, within: PatternReading.coneAngle, channels: channels, step: step)
  }

  /// The ceiling of the energy ratio of two cones, around `axis` and around its opposite, in decibels by octave centre.
  /// - Parameter angle: half the opening angle of the cones.
  private func ratio(
    towards axis: Direction, within angle: Angle, channels: [Int]? = nil, step: DesignStep
  ) throws(DesignError) -> [Int: Double] {
    let used = channels.map(responses.selecting(channels:)) ?? responses
    let cosines = Self.sphere.map { $0.dot(axis.vector) }
    let edge = cos(angle.radians)
    let towards = cosines.indices.filter { cosines[$0] > edge }
    let away = cosines.indices.filter { cosines[$0] < -edge }
    var result: [Int: Double] = [:]
    for (f, centre) in centres.enumerated() {
      let octave = step.within(Double(f) / Double(centres.count)...Double(f + 1) / Double(centres.count))
      try octave.reached(0)
      result[centre] = try ratio(
        used.energies(f, towards), over: used.energies(f, away),
        diffuse: used.energies(f, Array(cosines.indices)), microphones: used.channels, step: octave)
    }
    return result
  }

  /// The best ratio over all regularisers, in decibels. Nil if none keeps the noise gain within the limit.
  private func ratio(
    _ wanted: [Complex], over unwanted: [Complex], diffuse: [Complex], microphones: Int, step: DesignStep
  ) throws(DesignError) -> Double? {
    let mean = (0..<microphones).reduce(0) { $0 + diffuse[$1 * microphones + $1].real } / Double(microphones)
    var best: Double?
    for power in Self.regularisers {
      try step.check()
      var loaded = unwanted
      for m in 0..<microphones { loaded[m * microphones + m].real += pow(10, power) * mean }
      guard let weights = Self.greatest(wanted, over: loaded, order: microphones) else { continue }
      let noise = weights.reduce(0) { $0 + $1.squaredMagnitude }
      guard noise <= noiseGainLimit * Self.form(diffuse, weights) else { continue }
      let level = 10 * log10(Self.form(wanted, weights) / max(Self.form(unwanted, weights), 1e-12))
      best = max(best ?? level, level)
    }
    return best
  }

  /// The eigenvector x of A x = λ B x with the largest λ. Matrices are `[column][row]`.
  private static func greatest(_ a: [Complex], over b: [Complex], order: Int) -> [Complex]? {
    var (vectors, divisor) = (a, b)
    var values = [Double](repeating: 0, count: order)
    let isSolved = vectors.withUnsafeMutableBufferPointer { vectors in
      divisor.withUnsafeMutableBufferPointer { divisor in
        decompose(vectors.baseAddress!, over: divisor.baseAddress!, order: order, values: &values)
      }
    }
    return isSolved ? Array(vectors.suffix(order)) : nil
  }

  /// Solves the generalised Hermitian eigenproblem in place: `a` is replaced by the eigenvectors, `b` by its Cholesky
  /// factor. Only the lower triangles are read; see `HermitianEigen.decompose` for the reason.
  /// - Returns: whether LAPACK succeeded.
  package static func decompose(
    _ a: UnsafeMutablePointer<Complex>, over b: UnsafeMutablePointer<Complex>, order: Int,
    values: UnsafeMutablePointer<Double>
  ) -> Bool {
    LAPACKE_zhegv(
      LAPACK_COL_MAJOR, 1, CChar(UInt8(ascii: "V")), CChar(UInt8(ascii: "L")), Int32(order),
      OpaquePointer(a), Int32(order), OpaquePointer(b), Int32(order), values) == 0
  }

  /// The quadratic form wᴴ R w; R is `[column][row]`.
  private static func form(_ matrix: [Complex], _ w: [Complex]) -> Double {
    var sum = 0.0
    for n in w.indices {
      for m in w.indices { sum += (w[m].conjugate * matrix[n * w.count + m] * w[n]).real }
    }
    return sum
  }
}

extension ResponseGrid {
  /// The covariance matrix R = mean conj(V) Vᵀ over `directions`, `[column][row]`: wᴴ R w is the energy that weights w
  /// pick up from these directions.
  fileprivate func energies(_ frequency: Int, _ directions: [Int]) -> [Complex] {
    var matrix = [Complex](repeating: .zero, count: channels * channels)
    for n in 0..<channels {
      for m in 0..<channels {
        var sum = Complex.zero
        for d in directions { sum += self[frequency, m, d].conjugate * self[frequency, n, d] }
        matrix[n * channels + m] = (1 / Double(directions.count)) * sum
      }
    }
    return matrix
  }
}
