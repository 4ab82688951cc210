import Acoustics
import AudioFiles
import Glibc
import Measurements
import Numerics
import Synchronization

/// Head-related transfer functions (HRTFs) of one listener, at any direction and frequency: the target of the stereo
/// design.
///
/// The measured impulse responses are processed in these steps:
/// 1. Spectra are evaluated at the requested frequencies by the direct Fourier sum.
/// 2. The common onset delay is removed.
/// 3. The responses are equalised to a flat diffuse field.
/// 4. Up to the lowest measured frequency they are extrapolated with constant magnitude and linear phase.
/// 5. The plane-wave delay of each ear is removed (ear alignment), the result is interpolated in spherical harmonics,
///    and the delay is restored.
///
/// Directions outside the measurement (below −40° for KEMAR) are filled smoothly: the fit of the spherical harmonics
/// has penalty l(l+1) on the gradient over the sphere, so the fill does not overshoot as it would with the penalty of
/// `MeasuredManifold`. Above the highest measured frequency only the plane-wave delay
/// changes.
/// - Source: Gardner and Martin, HRTF measurements of a KEMAR (1995); ear alignment after Ben-Hur et al.,
///   Efficient representation and sparse sampling of head-related transfer functions (2019).
package struct HRTF: Sendable {
  package static let defaultPath = "/usr/share/libmysofa/MIT_KEMAR_normal_pinna.sofa"
  /// `ContentHash` of the file at `defaultPath` in Debian 12 (libmysofa 1.3.1): the head of the filters that ship.
  package static let packagedHash = "48779fe50a858662"

  private let parameters: DesignParameters.Head
  /// Two channels, the left ear first; directions in the head frame.
  private let sofa: ImpulseResponses
  /// Mean onset of all responses, in frames; counts as time zero.
  private let onset: Double
  /// Diffuse-field equalisation gains, every `equalisationStep` from 0 Hz.
  private let equalisation: [Double]
  /// Magnitude of each response below `lowestMeasured`.
  private let lowMagnitudes: [Double]
  /// Phase slope of each response below `lowestMeasured`, in radians per hertz.
  private let lowSlopes: [Double]
  /// Matrix from values in the measured directions to spherical-harmonic coefficients: `[harmonic][direction]`.
  private let analysis: [Double]
  private let memory = CoefficientMemory()

  /// - Parameter path: of a SOFA file with two receivers, in either order.
  package init(
    path: String = defaultPath, parameters: DesignParameters.Head = .init()
  ) throws(DesignError) {
    try self.init(SofaFile.read(path: path).leftEarFirst, parameters: parameters)
  }

  /// - Parameter sofa: the responses of two ears, the left one first.
  package init(
    _ sofa: ImpulseResponses, parameters: DesignParameters.Head = .init()
  ) throws(DesignError) {
    self.parameters = parameters
    self.sofa = sofa
    guard sofa.channels == 2 else {
      throw DesignError(
        "\(sofa.file) contains responses of \(sofa.channels) receivers, not of two ears; give a SOFA file of a head"
      )
    }
    let weights = Self.solidAngles(sofa.directions.map { asin(min(1, max(-1, $0.z))) * 180 / .pi })
    let onsets = sofa.onsets
    onset = onsets.reduce(0, +) / Double(onsets.count)
    equalisation = Self.diffuseFieldEqualisation(
      sofa, onset: onset, weights: weights, parameters: parameters)
    let (lowest, reference) = (parameters.lowestMeasured.value, parameters.phaseReference.value)
    let low = sofa.spectra(origin: onset, frequencies: [lowest, reference])
    let gain = equalisation[Int(lowest / parameters.equalisationStep.value)]
    lowMagnitudes = stride(from: 0, to: low.count, by: 2).map { gain * low[$0].magnitude }
    lowSlopes = stride(from: 1, to: low.count, by: 2).map { low[$0].phase / reference }
    analysis = try harmonicAnalysis(
      sofa.directions, shares: weights, order: parameters.order, file: sofa.file
    ) {
      l in
      parameters.roughness * (parameters.roughnessOfMean + Double(l * (l + 1)))
    }
  }

  /// Responses of both ears to plane waves from `directions` (unit vectors: forward, left, up).
  /// - Returns: shape `[frequency][ear][direction]`, left ear first, relative to the free field at the head's centre.
  ///   Sign convention e^(+jωt): the ear nearer to the source has the greater phase.
  package func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    let synthesis = realSphericalHarmonics(order: parameters.order, at: directions)
    let leads = ears.flatMap { ear in directions.map { $0.dot(ear) / speedOfSound } }
    let blocks = coefficients(at: frequencies)
    return ResponseGrid(frequencies: frequencies.count, channels: 2, directions: directions.count) { values in
      nonisolated(unsafe) let values = values
      DesignThreads.forEach(blocks.count) { index in
        let block = blocks[index]
        let range = block.frequencies
        // `[ear][frequency](real, imaginary)[direction]`
        let columns = 4 * range.count
        let result = [Double](unsafeUninitializedCapacity: columns * directions.count) { result, size in
          size = columns * directions.count
          transposedProduct(
            synthesis, block.values, rows: directions.count, inner: harmonics, columns: columns,
            into: result.baseAddress!)
        }
        var phasors = Phasors(delays: leads)
        result.withUnsafeBufferPointer { result in
          for (i, f) in range.enumerated() {
            phasors.advance(to: frequencies[f])
            phasors.values.withUnsafeBufferPointer { phasors in
              for ear in 0..<2 {
                let row = values + (f * 2 + ear) * directions.count
                let lead = phasors.baseAddress! + ear * directions.count
                let real = result.baseAddress! + 2 * (ear * range.count + i) * directions.count
                for d in directions.indices {
                  row[d] = Complex(real[d], real[directions.count + d]) * lead[d]
                }
              }
            }
          }
        }
      }
    }
  }

  /// The interpolation's coefficients at `frequencies`, on all cores: of the aligned responses, and those of the last
  /// frequencies again, for which a design and its figures ask several times.
  private func coefficients(at frequencies: [Double]) -> [CoefficientBlock] {
    memory.last.withLock { last in
      if let last, last.frequencies == frequencies { return last.blocks }
      let width = 32
      let ranges = stride(from: 0, to: frequencies.count, by: width).map {
        $0..<min($0 + width, frequencies.count)
      }
      let found = Mutex([CoefficientBlock?](repeating: nil, count: ranges.count))
      DesignThreads.forEach(ranges.count) { index in
        let values = product(
          analysis, alignedSpectra(Array(frequencies[ranges[index]])), rows: harmonics,
          inner: sofa.directions.count, columns: 4 * ranges[index].count)
        found.withLock { $0[index] = CoefficientBlock(frequencies: ranges[index], values: values) }
      }
      let blocks = found.withLock { $0.map { $0! } }
      last = (frequencies, blocks)
      return blocks
    }
  }

  /// Equalised measured responses with the plane-wave delay of each ear removed:
  /// `[direction][ear][frequency](real, imaginary)`.
  private func alignedSpectra(_ frequencies: [Double]) -> [Double] {
    let highest = parameters.nyquistFraction * sofa.sampleRate / 2
    let frequencies = frequencies.map { min($0, highest) }
    let spectra = sofa.spectra(origin: onset, frequencies: frequencies)
    let gains = frequencies.map(equalisation(at:))
    return [Double](unsafeUninitializedCapacity: 2 * spectra.count) { values, size in
      spectra.withUnsafeBufferPointer { spectra in
        for response in 0..<2 * sofa.directions.count {
          let lead = sofa.directions[response / 2].dot(ears[response % 2]) / speedOfSound
          for (f, frequency) in frequencies.enumerated() {
            let at = response * frequencies.count + f
            let measured =
              frequency > parameters.lowestMeasured.value
              ? gains[f] * spectra[at]
              : lowMagnitudes[response] * Complex(phase: lowSlopes[response] * frequency)
            let value = measured * Complex(phase: -2 * .pi * frequency * lead)
            (values[2 * at], values[2 * at + 1]) = (value.real, value.imaginary)
          }
        }
      }
      size = 2 * spectra.count
    }
  }

  /// The equalisation gain, interpolated linearly between table entries.
  private func equalisation(at frequency: Double) -> Double {
    let position = frequency / parameters.equalisationStep.value
    let i = min(Int(position), equalisation.count - 2)
    let fraction = min(1, position - Double(i))
    return equalisation[i] * (1 - fraction) + equalisation[i + 1] * fraction
  }
}

extension HRTF {
  private var harmonics: Int { (parameters.order + 1) * (parameters.order + 1) }

  /// Positions of the left and right ear for the alignment, in metres (forward, left, up).
  private var ears: [SIMD3<Double>] { [[0, parameters.earDistance, 0], [0, -parameters.earDistance, 0]] }

  /// Quadrature weights of the measured directions, proportional to solid angle; sum 1. The directions of a ring of
  /// equal elevation have equal weights. The zenith, where the ring shrinks to a point, has a small fixed weight.
  /// - Parameter elevations: in degrees.
  private static func solidAngles(_ elevations: [Double]) -> [Double] {
    var counts: [Int: Double] = [:]
    for elevation in elevations { counts[Int(elevation.rounded()), default: 0] += 1 }
    let raw = elevations.map { elevation in
      elevation < 89.99 ? cos(elevation * .pi / 180) / counts[Int(elevation.rounded())]! : 0.002
    }
    let sum = raw.reduce(0, +)
    return raw.map { $0 / sum }
  }

  /// Gains that make the diffuse-field response flat: the inverse of the weighted RMS over all directions and both
  /// ears.
  private static func diffuseFieldEqualisation(
    _ sofa: ImpulseResponses, onset: Double, weights: [Double], parameters: DesignParameters.Head
  ) -> [Double] {
    let tableStep = parameters.equalisationStep.value
    let halfWidth = pow(2, parameters.smoothing / 2)
    let frequencies = Array(stride(from: 0, through: min(24_000, sofa.sampleRate / 2), by: tableStep))
    let spectra = sofa.spectra(origin: onset, frequencies: frequencies)
    var energy = [Double](repeating: 0, count: frequencies.count)
    for response in 0..<2 * sofa.directions.count {
      for f in frequencies.indices {
        energy[f] += weights[response / 2] / 2 * spectra[response * frequencies.count + f].squaredMagnitude
      }
    }
    var gains = frequencies.map { centre in
      let first = Int((centre / halfWidth / tableStep).rounded(.up))
      let last = min(frequencies.count - 1, Int(centre * halfWidth / tableStep + 1e-9))
      let band = centre > 0 ? energy[first...last] : energy[1...1]
      return 1 / (band.reduce(0, +) / Double(band.count)).squareRoot()
    }
    let low = Int(parameters.lowestMeasured.value / tableStep)
    for f in 0..<low { gains[f] = gains[low] }
    let high = min(gains.count - 1, Int((parameters.highestEqualised.value / tableStep).rounded()))
    for f in high..<gains.count { gains[f] = gains[high] }
    return gains
  }
}

/// The interpolation's coefficients at some frequencies.
private struct CoefficientBlock: Sendable {
  /// Indices into the frequencies that were asked for.
  let frequencies: Range<Int>
  /// `[harmonic][ear][frequency](real, imaginary)`
  let values: [Double]
}

/// The coefficients at the last frequencies that were asked for.
private final class CoefficientMemory: Sendable {
  let last = Mutex<(frequencies: [Double], blocks: [CoefficientBlock])?>(nil)
}
