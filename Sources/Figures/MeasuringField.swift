import Acoustics
import CLapack
import Foundation

/// What a case is measured as.
package enum CaseView: Hashable, Sendable {
  /// A mono pattern around an axis: α + (1 − α) cos θ.
  case pattern(forward: Direction, omnidirectionalPart: Double)
  /// Two ears of a listener.
  case ears(HeadFrame)
}

/// The plane waves that figures are read from, as an array's microphones hear them: from all over the sphere, from
/// the axes of mono patterns, and from the horizons of listeners.
///
/// None of the directions is one of a design's.
struct MeasuringField: Sendable {
  static let sphere = fibonacciSphere(900)
  /// A listener's horizon in the head frame: 72 azimuths from 0°, positive to the left.
  static let horizon = stride(from: 0.0, to: 360, by: 5).map {
    sphericalUnit(azimuth: .degrees($0), elevation: .degrees(0))
  }

  /// In hertz, evenly spaced.
  let frequencies: [Double]
  /// The sphere, then what the views need.
  let directions: [SIMD3<Double>]
  /// Shape `[frequency][microphone][direction]`.
  let responses: ResponseGrid
  private let firstDirections: [CaseView: Int]

  init(
    manifold: any ArrayManifold, views: [CaseView], frequencies: [Double], step: DesignStep = .unobserved
  ) throws(DesignError) {
    var directions = Self.sphere
    var firsts: [CaseView: Int] = [:]
    for view in views where firsts[view] == nil {
      firsts[view] = directions.count
      switch view {
      case .pattern(let forward, _): directions.append(forward.vector)
      case .ears(let frame): directions += Self.horizon.map(frame.device(fromHead:))
      }
    }
    self.frequencies = frequencies
    self.directions = directions
    firstDirections = firsts
    responses = try manifold.responses(from: directions, frequencies: frequencies, step: step)
  }

  /// Where the axis or the horizon of `view` starts in `directions`.
  func firstDirection(of view: CaseView) -> Int { firstDirections[view]! }

  /// Calls `body` with each frequency and what `rows` of weights make of all waves there: `[row][direction]`.
  ///
  /// A microphone out of place hears each wave earlier or later than the one in place, by its way in the free
  /// field: the body's own part is taken to change little over a millimetre.
  /// - Parameter rows: shape `[frequency][row][microphone]`.
  func forEachFrequency(
    rows: [Complex], rowCount: Int, errors: ArrayErrors?, step: DesignStep,
    _ body: (_ frequency: Int, _ outputs: UnsafeBufferPointer<Complex>) -> Void
  ) throws(DesignError) {
    let (microphones, count) = (responses.channels, directions.count)
    let block = microphones * count
    var heard = [Complex](repeating: .zero, count: block)
    var outputs = [Complex](repeating: .zero, count: rowCount * count)
    var (one, zero) = (Complex.one, Complex.zero)
    var detours = Detours(errors, field: self)
    try responses.values.withUnsafeBufferPointer { values throws(DesignError) in
      try rows.withUnsafeBufferPointer { rows throws(DesignError) in
        for f in frequencies.indices {
          try step.reached(Double(f) / Double(frequencies.count))
          let exact = values.baseAddress! + f * block
          detours?.apply(to: exact, into: &heard)
          heard.withUnsafeBufferPointer { heard in
            cblas_zgemm(
              CblasRowMajor, CblasNoTrans, CblasNoTrans, Int32(rowCount), Int32(count), Int32(microphones),
              &one, rows.baseAddress! + f * rowCount * microphones, Int32(microphones),
              detours == nil ? exact : heard.baseAddress!, Int32(count), &zero, &outputs, Int32(count))
          }
          outputs.withUnsafeBufferPointer { body(f, $0) }
        }
      }
    }
  }
}

/// e^(jk d·δ) and gain of each microphone and wave, from one frequency to the next.
private struct Detours {
  private var turns: [Complex]
  private let steps: [Complex]

  init?(_ errors: ArrayErrors?, field: MeasuringField) {
    guard let errors else { return nil }
    let first = 2 * Double.pi * (field.frequencies.first ?? 0) / speedOfSound
    let spacing = field.frequencies.count > 1 ? field.frequencies[1] - field.frequencies[0] : 0
    let ways = errors.offsets.map { offset in field.directions.map { $0.dot(offset) } }
    turns = zip(errors.gains, ways).flatMap { gain, ways in
      ways.map { gain * Complex(phase: first * $0) }
    }
    steps = ways.flatMap { $0.map { Complex(phase: 2 * .pi * spacing / speedOfSound * $0) } }
  }

  /// The waves of one frequency after the other.
  mutating func apply(to exact: UnsafePointer<Complex>, into heard: inout [Complex]) {
    turns.withUnsafeMutableBufferPointer { turns in
      steps.withUnsafeBufferPointer { steps in
        heard.withUnsafeMutableBufferPointer { heard in
          for i in 0..<heard.count {
            heard[i] = exact[i] * turns[i]
            turns[i] *= steps[i]
          }
        }
      }
    }
  }
}
