import Acoustics
import CLapack
import Manifolds
import Numerics

/// How a filter case is evaluated.
package enum CaseView: Hashable, Sendable {
  /// A mono pattern around an axis: α + (1 − α) cos θ.
  case pattern(forward: Direction, omnidirectionalPart: Double)
  /// The two ears of a listener with the given axes.
  case ears(HeadFrame)
  case ambisonics(AmbisonicsView)
}

extension CaseView {
  /// The listener's axes; nil for a mono pattern.
  package var frame: HeadFrame? {
    switch self {
    case .pattern: nil
    case .ears(let frame): frame
    case .ambisonics(let view): view.frame
    }
  }
}

/// How B-format is evaluated: against the spherical harmonics of a frame, as they are heard at `origin`.
package struct AmbisonicsView: Hashable, Sendable {
  package let frame: HeadFrame
  package let order: Int
  /// In metres in the device frame.
  package let origin: Position

  package init(frame: HeadFrame, order: Int, origin: Position) {
    (self.frame, self.order, self.origin) = (frame, order, origin)
  }
}

/// The plane waves that figures are computed from, and their steering vectors: from the whole sphere, from where a check's
/// voices are for mono patterns, and from the horizons of listeners.
///
/// The directions on the sphere differ from those that designs use, so the figures are an independent check.
package struct MeasuringField: Sendable {
  package static let sphere = fibonacciSphere(900)
  /// A listener's horizontal plane in the head frame: 72 azimuths from 0°, 5° apart, positive to the left.
  static let horizon = stride(from: 0.0, to: 360, by: 5).map {
    sphericalUnit(azimuth: .degrees($0), elevation: .degrees(0))
  }

  /// Where the voices of a check are for a mono pattern: in front (its axis), left, right and behind.
  static func voices(along forward: Direction) -> [SIMD3<Double>] {
    let head = HeadFrame(mono: forward)
    return [forward, head.left, head.right, forward.opposite].map(\.vector)
  }

  /// In hertz, evenly spaced.
  package let frequencies: [Double]
  /// `sphere`, followed by the voices or horizon of each view; unit vectors in the device frame.
  package let directions: [SIMD3<Double>]
  /// Shape `[frequency][microphone][direction]`.
  package let responses: ResponseGrid
  private let firstDirections: [CaseView: Int]

  package init(
    manifold: any ArrayManifold, views: [CaseView], frequencies: [Double], step: DesignStep = .unobserved
  ) throws(DesignError) {
    var directions = Self.sphere
    var firsts: [CaseView: Int] = [:]
    for view in views where firsts[view] == nil {
      firsts[view] = directions.count
      switch view {
      case .pattern(let forward, _): directions += Self.voices(along: forward)
      case .ears(let frame): directions += Self.horizon.map(frame.device(fromHead:))
      case .ambisonics: break
      }
    }
    self.frequencies = frequencies
    self.directions = directions
    firstDirections = firsts
    // On all cores.
    responses = try SharedManifold(manifold, sphere: directions, frequencies: frequencies, step: step)
      .responses
  }

  /// The index in `directions` of the first voice, or of the first horizon direction, of `view`.
  func firstDirection(of view: CaseView) -> Int { firstDirections[view]! }

  /// Calls `body` with the responses of all `rows` of weights to all plane waves, frequency by frequency:
  /// `[row][direction]`.
  ///
  /// A position error is modelled as a free-field delay. The influence of the body is assumed constant over a
  /// millimetre.
  /// - Parameters:
  ///   - rows: filter spectra, shape `[frequency][row][microphone]`.
  ///   - errors: of the microphones; nil for none.
  func forEachFrequency(
    rows: [Complex], rowCount: Int, errors: ArrayErrors?, step: DesignStep,
    _ body: (_ frequency: Int, _ outputs: UnsafeBufferPointer<Complex>) -> Void
  ) throws(DesignError) {
    let (microphones, count) = (responses.channels, directions.count)
    let block = microphones * count
    var perturbed = [Complex](repeating: .zero, count: block)
    var outputs = [Complex](repeating: .zero, count: rowCount * count)
    var (one, zero) = (Complex.one, Complex.zero)
    var errorFactors = ErrorFactors(errors, field: self)
    try responses.values.withUnsafeBufferPointer { values throws(DesignError) in
      try rows.withUnsafeBufferPointer { rows throws(DesignError) in
        for f in frequencies.indices {
          try step.reached(Double(f) / Double(frequencies.count))
          let exact = values.baseAddress! + f * block
          errorFactors?.apply(to: exact, into: &perturbed)
          perturbed.withUnsafeBufferPointer { perturbed in
            cblas_zgemm(
              CblasRowMajor, CblasNoTrans, CblasNoTrans, Int32(rowCount), Int32(count), Int32(microphones),
              &one, rows.baseAddress! + f * rowCount * microphones, Int32(microphones),
              errorFactors == nil ? exact : perturbed.baseAddress!, Int32(count), &zero, &outputs,
              Int32(count))
          }
          outputs.withUnsafeBufferPointer { body(f, $0) }
        }
      }
    }
  }
}

/// Factors by which errors change each microphone's response to each plane wave from direction d: those of
/// `ArrayErrors.factor`, and e^(jk d·δ) of position errors δ.
private struct ErrorFactors {
  private let errors: ArrayErrors
  private let frequencies: [Double]
  /// Index of the current frequency.
  private var frequency = 0
  /// e^(jk d·δ) at the current frequency: `[microphone][direction]`.
  private var phasors: Phasors

  init?(_ errors: ArrayErrors?, field: MeasuringField) {
    guard let errors else { return nil }
    self.errors = errors
    frequencies = field.frequencies
    phasors = Phasors(
      delays: errors.offsets.flatMap { offset in field.directions.map { $0.dot(offset) / speedOfSound } })
  }

  /// Applies the factors to the exact responses at the current frequency, and goes on to the next frequency. Must be
  /// called once per frequency, in order.
  mutating func apply(to exact: UnsafePointer<Complex>, into perturbed: inout [Complex]) {
    phasors.advance(to: frequencies[frequency])
    let directions = phasors.values.count / errors.gains.count
    phasors.values.withUnsafeBufferPointer { phasors in
      perturbed.withUnsafeMutableBufferPointer { perturbed in
        for m in errors.gains.indices {
          let factor = errors.factor(m, at: frequencies[frequency])
          for i in m * directions..<(m + 1) * directions {
            perturbed[i] = exact[i] * (factor * phasors[i])
          }
        }
      }
    }
    frequency += 1
  }
}
