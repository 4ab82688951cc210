import Acoustics
import Foundation

/// Head-related transfer functions at any direction and frequency: the listener whose ears stereo imitates.
///
/// Measured responses are read at the bin frequencies by their exact Fourier sum, freed of the common onset
/// delay, equalised to the diffuse field, carried on below 200 Hz with constant magnitude and linear phase,
/// and interpolated in spherical harmonics after the ears' plane-wave delay is taken out. Directions that were
/// not measured (below −40° for KEMAR) are what the harmonics make of them.
/// - Source: Gardner and Martin, HRTF measurements of a KEMAR (1995); ear alignment after Ben-Hur et al.,
///   Efficient representation and sparse sampling of head-related transfer functions (2019).
package struct HRTF: Sendable {
  package static let defaultPath = "/usr/share/libmysofa/MIT_KEMAR_normal_pinna.sofa"

  static let order = 18
  /// Where the ears sit for the alignment, in metres (forward, left, up): a little outside a head of 87.5 mm,
  /// since sound takes the way around it.
  static let ears: [SIMD3<Double>] = [[0, 0.0875 * 1.15, 0], [0, -0.0875 * 1.15, 0]]
  /// Spacing of the equalisation's table in hertz.
  private static let tableStep = 46.875
  private static let lowestMeasured = 187.5
  private static let phaseReference = 421.875
  private static let highestEqualised = 17_000.0

  /// Of two ears, 0 the left one; directions in the head frame.
  private let sofa: ImpulseResponses
  /// Common onset of all responses in frames; becomes time zero.
  private let onset: Double
  /// Gains towards a flat diffuse field, every `tableStep` from 0 Hz.
  private let equalisation: [Double]
  /// Per response: magnitude and phase slope (radians per hertz) that stand in below `lowestMeasured`.
  private let lowMagnitudes: [Double]
  private let lowSlopes: [Double]
  /// Harmonic coefficients from measured directions: `[harmonic][direction]`.
  private let analysis: [Double]

  package init(path: String = defaultPath) throws(DesignError) {
    sofa = try SofaFile.read(path: path)
    guard sofa.channels == 2 else {
      throw DesignError(
        "\(path) holds responses of \(sofa.channels) receivers, not of two ears; give a SOFA file of a head")
    }
    let weights = Self.solidAngles(sofa.directions.map { asin(min(1, max(-1, $0.z))) * 180 / .pi })
    let onsets = sofa.onsets
    onset = onsets.reduce(0, +) / Double(onsets.count)
    equalisation = Self.diffuseFieldEqualisation(sofa, onset: onset, weights: weights)
    let low = sofa.spectra(origin: onset, frequencies: [Self.lowestMeasured, Self.phaseReference])
    let gain = equalisation[Int(Self.lowestMeasured / Self.tableStep)]
    lowMagnitudes = stride(from: 0, to: low.count, by: 2).map { gain * low[$0].magnitude }
    lowSlopes = stride(from: 1, to: low.count, by: 2).map { low[$0].phase / Self.phaseReference }
    analysis = try harmonicAnalysis(sofa.directions, shares: weights, order: Self.order, file: path) { l in
      1e-4 * (1 + 0.01 * Double(l * (l + 1)))
    }
  }

  /// Responses of both ears to plane waves from `directions` (unit vectors: forward, left, up).
  /// - Returns: shape `[frequency][ear][direction]`, ear 0 the left one, relative to the free field at the
  ///   head's centre, e^(+jωt): the ear nearer to the source has the greater phase.
  package func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    var grid = ResponseGrid(frequencies: frequencies.count, channels: 2, directions: directions.count)
    let synthesis = realSphericalHarmonics(order: Self.order, at: directions)
    let leads = directions.map { u in Self.ears.map { u.dot($0) / speedOfSound } }
    let block = 32
    grid.values.withUnsafeMutableBufferPointer { buffer in
      nonisolated(unsafe) let values = buffer
      DesignThreads.forEach((frequencies.count + block - 1) / block) { index in
        let range = index * block..<min((index + 1) * block, frequencies.count)
        let columns = 4 * range.count
        let coefficients = Self.multiply(
          analysis, alignedSpectra(Array(frequencies[range])), rows: Self.harmonics,
          inner: sofa.directions.count, columns: columns)
        let result = Self.multiply(
          synthesis, coefficients, rows: directions.count, inner: Self.harmonics, columns: columns)
        for (d, lead) in leads.enumerated() {
          for ear in 0..<2 {
            for (i, f) in range.enumerated() {
              let at = d * columns + 2 * (ear * range.count + i)
              values[(f * 2 + ear) * directions.count + d] =
                Complex(result[at], result[at + 1]) * Complex(phase: 2 * .pi * frequencies[f] * lead[ear])
            }
          }
        }
      }
    }
    return grid
  }

  /// Equalised measured responses without the ears' plane-wave delay:
  /// `[direction][ear][frequency](real, imaginary)`.
  private func alignedSpectra(_ frequencies: [Double]) -> [Double] {
    var spectra = sofa.spectra(origin: onset, frequencies: frequencies)
    let gains = frequencies.map(equalisation(at:))
    for response in 0..<2 * sofa.directions.count {
      let lead = sofa.directions[response / 2].dot(Self.ears[response % 2]) / speedOfSound
      for (f, frequency) in frequencies.enumerated() {
        let at = response * frequencies.count + f
        let measured =
          frequency > Self.lowestMeasured
          ? gains[f] * spectra[at]
          : lowMagnitudes[response] * Complex(phase: lowSlopes[response] * frequency)
        spectra[at] = measured * Complex(phase: -2 * .pi * frequency * lead)
      }
    }
    return spectra.flatMap { [$0.real, $0.imaginary] }
  }

  private func equalisation(at frequency: Double) -> Double {
    let position = frequency / Self.tableStep
    let i = min(Int(position), equalisation.count - 2)
    let part = min(1, position - Double(i))
    return equalisation[i] * (1 - part) + equalisation[i + 1] * part
  }
}

extension HRTF {
  private static var harmonics: Int { (order + 1) * (order + 1) }

  private static func multiply(_ a: [Double], _ b: [Double], rows: Int, inner: Int, columns: Int) -> [Double]
  {
    var product = [Double](repeating: 0, count: rows * columns)
    FilterDesign.multiply(a, b, rows: rows, inner: inner, columns: columns, into: &product)
    return product
  }

  /// Shares of the sphere that the measured directions stand for, sum 1: rings of equal elevation share theirs.
  private static func solidAngles(_ elevations: [Double]) -> [Double] {
    var counts: [Int: Double] = [:]
    for elevation in elevations { counts[Int(elevation.rounded()), default: 0] += 1 }
    let raw = elevations.map { elevation in
      elevation < 89.99 ? cos(elevation * .pi / 180) / counts[Int(elevation.rounded())]! : 0.002
    }
    let sum = raw.reduce(0, +)
    return raw.map { $0 / sum }
  }

  private static func diffuseFieldEqualisation(_ sofa: ImpulseResponses, onset: Double, weights: [Double])
    -> [Double]
  {
    let frequencies = Array(stride(from: 0, through: min(24_000, sofa.sampleRate / 2), by: tableStep))
    let spectra = sofa.spectra(origin: onset, frequencies: frequencies)
    var energy = [Double](repeating: 0, count: frequencies.count)
    for response in 0..<2 * sofa.directions.count {
      for f in frequencies.indices {
        energy[f] += weights[response / 2] / 2 * spectra[response * frequencies.count + f].squaredMagnitude
      }
    }
    // Smoothed over a third of an octave.
    var gains = frequencies.map { centre in
      let first = Int((centre / pow(2, 1.0 / 6) / tableStep).rounded(.up))
      let last = min(frequencies.count - 1, Int(centre * pow(2, 1.0 / 6) / tableStep + 1e-9))
      let band = centre > 0 ? energy[first...last] : energy[1...1]
      return 1 / (band.reduce(0, +) / Double(band.count)).squareRoot()
    }
    let low = Int(lowestMeasured / tableStep)
    for f in 0..<low { gains[f] = gains[low] }
    let high = min(gains.count - 1, Int((highestEqualised / tableStep).rounded()))
    for f in high..<gains.count { gains[f] = gains[high] }
    return gains
  }
}
