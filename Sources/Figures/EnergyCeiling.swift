import Acoustics
import CLapack
import Foundation

/// What the physics of an array allow: the most energy from one side over that from the opposite side that any
/// weights reach, octave by octave, with no more noise gain than a design's.
///
/// The greatest generalised eigenvalue of the energies of two opposite cones; the weaker one is regularised
/// until the noise gain ‖w‖² / mean |Vw|² is at most 10 dB. Directions within a cone all count alike, so that
/// filters may do a little better at the very axis.
/// - Source: Parra and Alvino, Geometric source separation (2002), for beams by generalised eigenvectors.
package struct EnergyCeiling: Sendable {
  /// Half the openings of the cones at a listener's sides, and in front and behind.
  static let sideAngle = Angle.degrees(45)
  /// Regularisers tried, relative to the mean energy of the microphones: powers of ten.
  private static let regularisers = stride(from: -6.0, through: 1, by: 0.1)

  /// Alike in all octants, so that an array without left and right has 0 dB between them, and no less.
  static let sphere = fibonacciSphere(900).filter { $0.min() > 0 }.flatMap { point in
    (0..<8).map { octant -> SIMD3<Double> in
      point * SIMD3(octant & 1 == 0 ? 1 : -1, octant & 2 == 0 ? 1 : -1, octant & 4 == 0 ? 1 : -1)
    }
  }

  private let centres: [Int]
  private let responses: ResponseGrid

  /// - Parameter highestFrequency: octaves that reach above it are left out, in hertz.
  package init(
    manifold: any ArrayManifold, highestFrequency: Double = DesignGrid.highestFrequency,
    step: DesignStep = .unobserved
  ) throws(DesignError) {
    centres = OctaveFigure.centres.filter { Double($0) * 1.3 <= highestFrequency }
    responses = try manifold.responses(
      from: Self.sphere, frequencies: centres.map { Double($0) }, step: step)
  }

  /// Left over right and right over left, mean, in decibels by octave.
  package func separation(
    _ frame: HeadFrame, step: DesignStep = .unobserved
  ) throws(DesignError) -> [Int: Double] {
    let left = try ratio(towards: frame.left, within: Self.sideAngle, step: step.within(0...0.5))
    let right = try ratio(towards: frame.right, within: Self.sideAngle, step: step.within(0.5...1))
    return left.merging(right) { ($0 + $1) / 2 }
  }

  /// Front over back, in decibels by octave.
  /// - Parameter channels: of the microphones used.
  package func frontBack(
    _ forward: Direction, channels: [Int], step: DesignStep = .unobserved
  ) throws(DesignError) -> [Int: Double] {
    try ratio(towards: forward, within: PatternReading.coneAngle, channels: channels, step: step)
  }

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
      result[centre] = try Self.ratio(
        used.energies(f, towards), over: used.energies(f, away),
        diffuse: used.energies(f, Array(cosines.indices)), microphones: used.channels, step: octave)
    }
    return result
  }

  /// Nil where no regulariser keeps the noise gain within its limit.
  private static func ratio(
    _ wanted: [Complex], over unwanted: [Complex], diffuse: [Complex], microphones: Int, step: DesignStep
  ) throws(DesignError) -> Double? {
    let mean = (0..<microphones).reduce(0) { $0 + diffuse[$1 * microphones + $1].real } / Double(microphones)
    var best: Double?
    for power in regularisers {
      try step.check()
      var loaded = unwanted
      for m in 0..<microphones { loaded[m * microphones + m].real += pow(10, power) * mean }
      guard let weights = greatest(wanted, over: loaded, order: microphones) else { continue }
      let noise = weights.reduce(0) { $0 + $1.squaredMagnitude }
      guard noise <= StereoDesign.noiseGainLimit * form(diffuse, weights) else { continue }
      let level = 10 * log10(form(wanted, weights) / max(form(unwanted, weights), 1e-12))
      best = max(best ?? level, level)
    }
    return best
  }

  /// The eigenvector x of A x = λ B x with the greatest λ; `[column][row]`.
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

  /// In place: `a` becomes the eigenvectors, `b` a factor of itself. Of both the lower triangle counts, for the
  /// reason that `HermitianEigen.decompose` gives.
  package static func decompose(
    _ a: UnsafeMutablePointer<Complex>, over b: UnsafeMutablePointer<Complex>, order: Int,
    values: UnsafeMutablePointer<Double>
  ) -> Bool {
    LAPACKE_zhegv(
      LAPACK_COL_MAJOR, 1, CChar(UInt8(ascii: "V")), CChar(UInt8(ascii: "L")), Int32(order),
      OpaquePointer(a), Int32(order), OpaquePointer(b), Int32(order), values) == 0
  }

  /// wᴴ R w; `[column][row]`.
  private static func form(_ matrix: [Complex], _ w: [Complex]) -> Double {
    var sum = 0.0
    for n in w.indices {
      for m in w.indices { sum += (w[m].conjugate * matrix[n * w.count + m] * w[n]).real }
    }
    return sum
  }
}

extension ResponseGrid {
  /// R = mean conj(V) Vᵀ over `directions`: wᴴ R w is the energy that weights pick up there. `[column][row]`.
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
