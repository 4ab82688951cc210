import Acoustics
import CLapack
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

  private let sofa: SofaFile
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
    sofa = try SofaFile(path: path)
    let weights = Self.solidAngles(sofa.elevations)
    onset = Self.commonOnset(sofa)
    equalisation = Self.diffuseFieldEqualisation(sofa, onset: onset, weights: weights)
    let low = Self.spectra(sofa, onset: onset, frequencies: [Self.lowestMeasured, Self.phaseReference])
    let gain = equalisation[Int(Self.lowestMeasured / Self.tableStep)]
    lowMagnitudes = stride(from: 0, to: low.count, by: 2).map { gain * low[$0].magnitude }
    lowSlopes = stride(from: 1, to: low.count, by: 2).map { low[$0].phase / Self.phaseReference }
    analysis = try Self.analysis(sofa.directions, weights: weights)
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
      DispatchQueue.concurrentPerform(iterations: (frequencies.count + block - 1) / block) { index in
        let range = index * block..<min((index + 1) * block, frequencies.count)
        let columns = 4 * range.count
        let coefficients = multiply(
          analysis, alignedSpectra(Array(frequencies[range])), rows: Self.harmonics,
          inner: sofa.directions.count, columns: columns)
        let result = multiply(
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
    var spectra = Self.spectra(sofa, onset: onset, frequencies: frequencies)
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

  /// Row-major A (rows × inner) times B (inner × columns).
  private func multiply(_ a: [Double], _ b: [Double], rows: Int, inner: Int, columns: Int) -> [Double] {
    Self.multiply(a, b, rows: rows, inner: inner, columns: columns)
  }

  private static func multiply(_ a: [Double], _ b: [Double], rows: Int, inner: Int, columns: Int) -> [Double]
  {
    var product = [Double](repeating: 0, count: rows * columns)
    cblas_dgemm(
      CblasRowMajor, CblasNoTrans, CblasNoTrans, Int32(rows), Int32(columns), Int32(inner), 1, a,
      Int32(inner),
      b, Int32(columns), 0, &product, Int32(columns))
    return product
  }

  /// Fourier sums of all responses, time zero at the common onset: `[direction][ear][frequency]`.
  private static func spectra(_ sofa: SofaFile, onset: Double, frequencies: [Double]) -> [Complex] {
    let count = frequencies.count
    var kernel = [Double](repeating: 0, count: sofa.frames * 2 * count)
    for n in 0..<sofa.frames {
      for (f, frequency) in frequencies.enumerated() {
        let phase = Complex(phase: -2 * .pi * frequency * (Double(n) - onset) / sofa.sampleRate)
        kernel[n * 2 * count + 2 * f] = phase.real
        kernel[n * 2 * count + 2 * f + 1] = phase.imaginary
      }
    }
    let rows = 2 * sofa.directions.count
    let product = multiply(sofa.responses, kernel, rows: rows, inner: sofa.frames, columns: 2 * count)
    return (0..<rows * count).map { Complex(product[2 * $0], product[2 * $0 + 1]) }
  }

  /// The mean frame at which the responses first pass 15 % of their peak.
  private static func commonOnset(_ sofa: SofaFile) -> Double {
    let rows = 2 * sofa.directions.count
    let total = (0..<rows).reduce(0) { sum, row in
      let response = sofa.responses[row * sofa.frames..<(row + 1) * sofa.frames]
      let peak = response.lazy.map(abs).max() ?? 0
      return sum + (response.firstIndex { abs($0) > 0.15 * peak } ?? response.startIndex)
        - response.startIndex
    }
    return Double(total) / Double(rows)
  }

  /// Shares of the sphere that the measured directions stand for, sum 1: rings of equal elevation share theirs.
  private static func solidAngles(_ elevations: [Double]) -> [Double] {
    var counts: [Int: Double] = [:]
    for elevation in elevations { counts[Int(elevation.rounded()), default: 0] += 1 }
    let raw = elevations.map { elevation in
      elevation < 90 ? cos(elevation * .pi / 180) / counts[Int(elevation.rounded())]! : 0.002
    }
    let sum = raw.reduce(0, +)
    return raw.map { $0 / sum }
  }

  private static func diffuseFieldEqualisation(_ sofa: SofaFile, onset: Double, weights: [Double]) -> [Double]
  {
    let frequencies = Array(stride(from: 0, through: min(24_000, sofa.sampleRate / 2), by: tableStep))
    let spectra = spectra(sofa, onset: onset, frequencies: frequencies)
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

  /// Regularised weighted least squares towards harmonics: `[harmonic][direction]`.
  private static func analysis(_ directions: [SIMD3<Double>], weights: [Double]) throws(DesignError)
    -> [Double]
  {
    let count = directions.count
    let harmonicsAt = realSphericalHarmonics(order: order, at: directions)
    var transposed = [Double](repeating: 0, count: harmonics * count)
    for d in 0..<count {
      for h in 0..<harmonics {
        transposed[h * count + d] = harmonicsAt[d * harmonics + h] * weights[d] * Double(count)
      }
    }
    var gram = multiply(transposed, harmonicsAt, rows: harmonics, inner: count, columns: harmonics)
    for l in 0...order {
      for h in l * l..<(l + 1) * (l + 1) {
        gram[h * harmonics + h] += 1e-4 * (1 + 0.01 * Double(l * (l + 1))) * Double(count) / (4 * .pi)
      }
    }
    let status = LAPACKE_dposv(
      LAPACK_ROW_MAJOR, CChar(UInt8(ascii: "U")), Int32(harmonics), Int32(count), &gram,
      Int32(harmonics), &transposed, Int32(count))
    guard status == 0 else {
      throw DesignError(
        "the directions of the head-related responses cannot be interpolated; use another SOFA file")
    }
    return transposed
  }
}
