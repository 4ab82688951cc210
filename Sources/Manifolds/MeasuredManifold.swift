import Acoustics
import Foundation
import Synchronization

/// An array as it was measured: its microphones' impulse responses to sound from directions around it.
///
/// The responses are freed of the delay that all have in common, and scaled so that between 200 and 500 Hz, where
/// bodies hardly count, their mean energy is 1. At the frequencies asked for they are read by their exact Fourier
/// sum. Below 200 Hz, which loudspeakers and short responses hardly give, the magnitude stays and the phase is
/// linear; above nine tenths of the measurement's Nyquist frequency, only the microphones' plane-wave lead goes on
/// changing. What the loudspeaker adds is to be out of the measurement: it would count as the array's.
///
/// Between the directions they are interpolated in spherical harmonics after the lead is taken out. The fit is
/// charged for roughness, so that a gap, such as the cap below an arc of loudspeakers, is filled with what changes
/// least. Of a rigid sphere of 87.5 mm, measured in 440 directions, the error is −65 dB at 4 kHz, −34 dB at 8 kHz and
/// −29 dB at 16 kHz. KEMAR's 710 directions leave a cap of 50°: for a microphone below or beside it is −27 dB or better
/// in the cap up to 4 kHz. For one straight above, whose bright spot lies there, nothing brings that back: −16 dB over
/// the whole sphere at 2 kHz.
/// - Source: alignment after Ben-Hur et al. (2019), as in `HRTF`; the penalty (l(l+1))² is that of smoothing splines,
///   Wahba, Spline interpolation and smoothing on the sphere, SIAM J. Sci. Stat. Comput. 2 (1981).
package struct MeasuredManifold: ArrayManifold {
  private static let highestOrder = 20
  private static let roughness = 1e-6
  private static let lowestFrequency = 200.0
  private static let highestPart = 0.9

  package let positions: [Position]
  package var microphoneCount: Int { positions.count }

  private let measured: ImpulseResponses
  /// Of the measurement, in the device frame.
  private let directions: [SIMD3<Double>]
  /// The frame at which sound passes the device's origin.
  private let origin: Double
  private let gain: Double
  private let order: Int
  /// Harmonic coefficients from measured directions: `[harmonic][direction]`.
  private let analysis: [Double]
  private let kept = KeptCoefficients()

  /// - Parameter positions: of the microphones in the order of the measurement's channels, in metres.
  package init(_ measurement: ArrayMeasurement, positions: [Position]) throws(DesignError) {
    switch measurement {
    case .sofa(let path):
      try self.init(SofaFile.read(path: path), positions: positions)
    case .impulseResponses(let path, let directions):
      try self.init(ImpulseResponses(path: path, directions: directions), positions: positions)
    }
  }

  init(_ responses: ImpulseResponses, positions: [Position]) throws(DesignError) {
    guard responses.channels == positions.count else {
      throw DesignError(
        "\(responses.file) holds responses of \(responses.channels) microphones, but the device has "
          + "\(positions.count); list them all, in the order of the measurement")
    }
    if let (direction, channel) = responses.silent {
      throw DesignError(
        "\(responses.file) is silent in direction \(direction), microphone \(channel); measure that direction again, "
          + "or leave it out")
    }
    let directions = responses.directions.map(Self.device(fromListener:))
    let shares = try measuredShares(directions, file: responses.file)
    let alignment = try MeasurementAlignment(
      responses, directions: directions, shares: shares, positions: positions)
    let reach = (positions.map(\.length).max() ?? 0) / speedOfSound
    let (cut, first) = responses.cut(around: alignment.origin, reach: reach)
    measured = cut
    origin = alignment.origin - Double(first)
    gain = alignment.gain
    self.directions = directions
    self.positions = positions
    order = min(Self.highestOrder, Int((0.7 * Double(directions.count)).squareRoot()) - 1)
    analysis = try harmonicAnalysis(directions, shares: shares, order: order, file: responses.file) { l in
      Self.roughness * (0.1 + Double(l * l * (l + 1) * (l + 1)))
    }
  }

  /// A SOFA file's listener looks along x, has y at the left and z up. A device looks along z, y is up, and x, the
  /// right of somebody who faces it, is at its own left.
  static func device(fromListener v: SIMD3<Double>) -> SIMD3<Double> { [v.y, v.z, v.x] }

  package func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    let blocks = kept.coefficients(frequencies, coefficients(at:))
    let synthesis = realSphericalHarmonics(order: order, at: directions)
    let leads = directions.map { u in positions.map { u.dot($0) / speedOfSound } }
    var grid = ResponseGrid(
      frequencies: frequencies.count, channels: positions.count, directions: directions.count)
    grid.values.withUnsafeMutableBufferPointer { buffer in
      nonisolated(unsafe) let values = buffer
      DesignThreads.forEach(blocks.count) { index in
        let block = blocks[index]
        let columns = 2 * positions.count * block.frequencies.count
        var sums = [Double](repeating: 0, count: directions.count * columns)
        multiply(
          synthesis, block.values, rows: directions.count, inner: (order + 1) * (order + 1), columns: columns,
          into: &sums)
        for (i, f) in block.frequencies.enumerated() {
          for m in positions.indices {
            let out = (f * positions.count + m) * directions.count
            for d in directions.indices {
              let at = d * columns + 2 * (m * block.frequencies.count + i)
              values[out + d] =
                Complex(sums[at], sums[at + 1]) * Complex(phase: 2 * .pi * frequencies[f] * leads[d][m])
            }
          }
        }
      }
    }
    return grid
  }

  /// Harmonics of the responses without their lead.
  private func coefficients(at frequencies: [Double]) -> [KeptCoefficients.Block] {
    let width = 32
    let harmonics = (order + 1) * (order + 1)
    return stride(from: 0, to: frequencies.count, by: width).map { first in
      let range = first..<min(first + width, frequencies.count)
      let columns = 2 * positions.count * range.count
      var values = [Double](repeating: 0, count: harmonics * columns)
      multiply(
        analysis, aligned(Array(frequencies[range])), rows: harmonics, inner: directions.count,
        columns: columns,
        into: &values)
      return KeptCoefficients.Block(frequencies: range, values: values)
    }
  }

  /// The measured responses without their lead: `[direction][microphone][frequency](real, imaginary)`.
  private func aligned(_ frequencies: [Double]) -> [Double] {
    let highest = Self.highestPart * measured.sampleRate / 2
    let read = frequencies.map { min(max($0, Self.lowestFrequency), highest) }
    let spectra = measured.spectra(origin: origin, frequencies: read)
    var values = [Double](repeating: 0, count: 2 * spectra.count)
    for (direction, towards) in directions.enumerated() {
      for (microphone, position) in positions.enumerated() {
        let lead = towards.dot(position) / speedOfSound
        let first = (direction * positions.count + microphone) * read.count
        for f in read.indices {
          var value = gain * (spectra[first + f] * Complex(phase: -2 * .pi * read[f] * lead))
          if frequencies[f] < Self.lowestFrequency {
            // A microphone may be wired the other way round; then its phase runs to half a turn.
            let sign = value.real < 0 ? -1.0 : 1
            let turn = (sign * value).phase * frequencies[f] / Self.lowestFrequency
            value = sign * value.magnitude * Complex(phase: turn)
          }
          values[2 * (first + f)] = value.real
          values[2 * (first + f) + 1] = value.imaginary
        }
      }
    }
    return values
  }
}

/// The coefficients of the frequencies last asked for: a design asks for the same ones case after case.
private final class KeptCoefficients: Sendable {
  struct Block: Sendable {
    let frequencies: Range<Int>
    /// Shape `[harmonic][microphone][frequency](real, imaginary)`.
    let values: [Double]
  }

  private let last = Mutex<(frequencies: [Double], blocks: [Block])?>(nil)

  func coefficients(_ frequencies: [Double], _ compute: ([Double]) -> [Block]) -> [Block] {
    last.withLock { last in
      if let last, last.frequencies == frequencies { return last.blocks }
      let blocks = compute(frequencies)
      last = (frequencies, blocks)
      return blocks
    }
  }
}
