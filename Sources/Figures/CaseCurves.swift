import Acoustics
import FilterDesign
import Glibc
import HeadResponses
import Manifolds
import Numerics

/// The response of one filter case over azimuth and frequency, together with its target: the data of its plots.
///
/// For stereo, azimuths lie in the listener's horizontal plane. A mono pattern does not depend on the input
/// orientation; if no frame is given, its azimuths are measured in portrait, or in landscapeRight if it looks along the
/// device's y axis.
package struct CaseCurves: Sendable {
  /// Centre frequencies of the octave bands, in hertz.
  package static let octaves = [125.0, 250, 500, 1000, 2000, 4000, 8000, 12_000]
  /// Frequency bands of the interaural level difference, in hertz.
  package static let lowBand = 150.0...1500
  package static let highBand = 1500.0...12_000

  /// Degrees, counter-clockwise from forward: 0, 2.5 … 357.5.
  package let azimuths: [Double]
  /// Centres of the octaves below the Nyquist frequency, in hertz.
  package let octaves: [Double]
  /// Levels in decibels, `[octave][output][azimuth]`; mono patterns have one output. 0 dB is the on-axis level for mono
  /// patterns, and the maximum of the target for stereo.
  package let levels: [[[Double]]]
  /// Levels of the target; same shape and reference as `levels`.
  package let targetLevels: [[[Double]]]
  /// Mono only, otherwise empty: levels in the vertical plane, over angles upwards from forward; same shape as
  /// `levels`.
  package let elevationLevels: [[[Double]]]
  /// Stereo only, otherwise empty: level of left over right in decibels, `[lowBand, highBand][azimuth]`.
  package let levelDifferences: [[Double]]
  package let targetLevelDifferences: [[Double]]
  /// Stereo only, otherwise empty: time by which left leads right, in microseconds, by azimuth.
  package let timeDifferences: [Double]
  package let targetTimeDifferences: [Double]
  /// Stereo only, otherwise empty: where a voice is heard, in degrees to the left, by azimuth.
  package let heard: [Double]
  package let targetHeard: [Double]
  /// In hertz, from 80 Hz.
  package let frequencies: [Double]
  /// Level of a source straight ahead in decibels, `[output][frequency]`.
  package let onAxis: [[Double]]
  package let targetOnAxis: [[Double]]
  /// Exact centres of the third octaves from 100 Hz to 6.3 kHz, in hertz.
  package let thirdOctaves: [Double]
  /// Stereo only, otherwise empty: see `SeriesFigure.frontError`.
  package let frontErrors: [Double]
  /// Stereo only, otherwise empty: level in the diffuse field in decibels, relative to a microphone in the free field;
  /// `[output][frequency]`.
  package let diffuse: [[Double]]
  package let targetDiffuse: [[Double]]
  /// Stereo only, otherwise empty: interaural coherence in the diffuse field, by octave.
  package let coherence: [Double]
  package let targetCoherence: [Double]
  /// In decibels, `[output][frequency]`. Stereo: noise gain, ‖w‖² over the mean energy from all directions. Mono:
  /// white-noise gain, the on-axis energy over ‖w‖².
  package let noiseGain: [[Double]]

  /// - Parameters:
  ///   - coefficients: a case of `bank`.
  ///   - device: the device that `bank` was designed for.
  ///   - manifold: of the device; nil selects the manifold that designs use.
  ///   - hrtf: the target of stereo.
  ///   - viewer: the frame in which the azimuths of a mono pattern are measured; nil for one that looks along its axis.
  package init(
    _ coefficients: FilterCoefficients, bank: FilterBank, device: Device,
    manifold: (any ArrayManifold)? = nil,
    hrtf: HRTF, seenFrom viewer: HeadFrame? = nil
  ) throws(DesignError) {
    let filterCase = coefficients.filterCase
    let isStereo = filterCase.polarPattern == .stereo
    guard let source = device.dataSources.first(where: { $0.name == filterCase.dataSource }),
      let frame = (isStereo ? nil : viewer) ?? Self.frame(of: filterCase, forward: source.forward)
    else { throw DesignError("\(filterCase) is not a case of \(device.name)") }
    let manifold = if let manifold { manifold } else { try Manifolds.manifold(for: device) }
    let grid = DesignGrid(sampleRate: bank.sampleRate).frequencies
    let bins = grid.indices.filter { grid[$0] >= 80 }
    let response = FilterResponse(
      taps: coefficients.taps.prefix(outputs: isStereo ? 2 : 1), sampleRate: bank.sampleRate,
      delayFrames: bank.delayFrames, frequencies: grid)
    azimuths = stride(from: 0.0, to: 360, by: 2.5).map(\.self)
    let horizon = azimuths.map { sphericalUnit(azimuth: .degrees($0), elevation: .degrees(0)) }
    let verticalPlane = isStereo ? [] : horizon.map { SIMD3($0.x, 0, $0.y) }
    // A mono pattern's axis comes last.
    let axis = isStereo ? [] : [frame.head(fromDevice: source.forward.vector)]
    let reached = response.outputs(
      manifold, from: (horizon + verticalPlane + axis).map(frame.device(fromHead:)))
    let target =
      if let part = filterCase.polarPattern.omnidirectionalPart {
        Self.pattern(part, around: axis[0], from: horizon + axis, count: grid.count)
      } else {
        StereoDesign.target(hrtf, from: horizon, frequencies: grid)
      }

    let bands = Bands(frequencies: grid)
    octaves = Self.octaves.filter { $0 * 1.3 < grid.last! }
    thirdOctaves = bands.thirdOctaves
    frequencies = bins.map { grid[$0] }
    onAxis = Self.spectra(reached, bins, direction: isStereo ? 0 : 2 * horizon.count)
    targetOnAxis = Self.spectra(target, bins, direction: isStereo ? 0 : horizon.count)
    if isStereo {
      let sphere = fibonacciSphere(Self.diffuseDirections)
      let ears = DiffuseReading(response.outputs(manifold, from: sphere.map(frame.device(fromHead:))))
      let targetEars = DiffuseReading(StereoDesign.target(hrtf, from: sphere, frequencies: grid))
      func levels(_ reading: DiffuseReading) -> [[Double]] {
        [reading.left, reading.right].map { energy in bins.map { 10 * log10(energy[$0] + 1e-12) } }
      }
      (diffuse, targetDiffuse) = (levels(ears), levels(targetEars))
      let bands = octaves.map { bands.bins(around: $0, width: 1) }
      (coherence, targetCoherence) = (bands.map(ears.coherence), bands.map(targetEars.coherence))
      let gains = response.noiseGains(manifold)
      noiseGain = gains.map { levels in bins.map { levels[$0] } }
    } else {
      (diffuse, targetDiffuse, coherence, targetCoherence) = ([], [], [], [])
      noiseGain = [
        zip(bins, onAxis[0]).map { bin, level in
          level - 10 * log10(response.weights[bin].reduce(1e-12) { $0 + $1.squaredMagnitude })
        }
      ]
    }

    var (levels, targetLevels, elevationLevels) = ([[[Double]]](), [[[Double]]](), [[[Double]]]())
    for centre in octaves {
      let band = grid.indices.filter { grid[$0] >= centre / 1.3 && grid[$0] <= centre * 1.3 }
      let all = reached.levels(band)
      let targets = target.levels(band)
      let (reference, targetReference) =
        isStereo ? (targets.joined().max()!, targets.joined().max()!) : (all[0].last!, targets[0].last!)
      levels.append(all.map { $0.prefix(horizon.count).map { $0 - reference } })
      elevationLevels.append(
        isStereo ? [] : all.map { $0[horizon.count..<2 * horizon.count].map { $0 - reference } })
      targetLevels.append(targets.map { $0.prefix(horizon.count).map { $0 - targetReference } })
    }
    (self.levels, self.targetLevels, self.elevationLevels) = (levels, targetLevels, elevationLevels)

    func differences(_ responses: ResponseGrid) -> [[Double]] {
      guard isStereo else { return [] }
      return [Self.lowBand, Self.highBand].map { band in
        let ears = responses.levels(grid.indices.filter { band.contains(grid[$0]) })
        return zip(ears[0], ears[1]).map { $0 - $1 }
      }
    }
    levelDifferences = differences(reached)
    targetLevelDifferences = differences(target)
    guard isStereo else {
      (timeDifferences, targetTimeDifferences, heard, targetHeard, frontErrors) = ([], [], [], [], [])
      return
    }
    let ears = BinauralLevels(reached, frequencies: grid)
    let targetEars = BinauralLevels(target, frequencies: grid)
    (timeDifferences, targetTimeDifferences) = (ears.timeDifferences, targetEars.timeDifferences)
    (heard, targetHeard) = (ears.heard.map(\.degrees), targetEars.heard.map(\.degrees))
    frontErrors = ears.frontErrors(
      against: targetEars, loudness: SpeechLoudness(frequencies: grid).power(target))
  }

  /// The frame in which azimuths are measured; see `CaseCurves`.
  private static func frame(of filterCase: FilterCase, forward: Direction) -> HeadFrame? {
    HeadFrame(forward: forward, orientation: filterCase.inputOrientation ?? .ofMono(along: forward))
  }

  /// The ideal pattern α + (1 − α) cos θ, where θ is the angle to `axis`, repeated at `count` frequencies.
  private static func pattern(
    _ alpha: Double, around axis: SIMD3<Double>, from directions: [SIMD3<Double>], count: Int
  ) -> ResponseGrid {
    var grid = ResponseGrid(frequencies: count, channels: 1, directions: directions.count)
    for i in grid.values.indices {
      grid.values[i] = Complex(alpha + (1 - alpha) * directions[i % directions.count].dot(axis), 0)
    }
    return grid
  }

  /// Levels in decibels: `[channel][bin]`.
  private static func spectra(_ responses: ResponseGrid, _ bins: [Int], direction: Int) -> [[Double]] {
    (0..<responses.channels).map { channel in
      bins.map { 10 * log10(responses[$0, channel, direction].squaredMagnitude + 1e-12) }
    }
  }

  /// Evenly spread directions that stand for the diffuse field.
  private static let diffuseDirections = 400
}
