import Acoustics
import Foundation

/// What the filters of one case do over azimuth and frequency, beside what was aimed at: the data of its plots.
///
/// Azimuths lie in the listener's horizontal plane; of a mono pattern, whose listener is held in no orientation,
/// in the plane of its forward and the device's right (its bottom where it looks up or down).
package struct CaseCurves: Sendable {
  package static let octaves = [125.0, 250, 500, 1000, 2000, 4000, 8000, 12_000]
  /// Bands of the level difference, in hertz.
  package static let lowBand = 150.0...1500
  package static let highBand = 1500.0...12_000

  /// Degrees, counter-clockwise from forward: 0, 2.5 … 357.5.
  package let azimuths: [Double]
  /// Centres of the octaves that the filters reach.
  package let octaves: [Double]
  /// Levels in decibels, `[octave][output][azimuth]`; one output for mono patterns. 0 dB is the level on axis
  /// for mono patterns, for stereo the target's highest.
  package let levels: [[[Double]]]
  package let targetLevels: [[[Double]]]
  /// Of mono patterns: the same over elevations, upwards from forward; empty for stereo.
  package let uprightLevels: [[[Double]]]
  /// Of stereo, empty for mono: left over right in decibels by azimuth, of `lowBand` and `highBand`, and how much
  /// earlier left is, in microseconds.
  package let levelDifferences: [[Double]]
  package let targetLevelDifferences: [[Double]]
  package let timeDifferences: [Double]
  package let targetTimeDifferences: [Double]
  /// In hertz, 80 Hz and up.
  package let frequencies: [Double]
  /// Level of a source straight ahead in decibels, `[output][frequency]`.
  package let onAxis: [[Double]]
  package let targetOnAxis: [[Double]]
  /// Of stereo: ‖w‖² over the mean of all directions; of mono patterns white-noise gain, the energy on axis over
  /// ‖w‖². In decibels, `[output][frequency]`.
  package let noiseGain: [[Double]]

  /// - Parameter manifold: of the device; nil takes the one of the design.
  package init(
    _ coefficients: FilterCoefficients, bank: FilterBank, device: Device,
    manifold: (any ArrayManifold)? = nil,
    hrtf: HRTF
  ) throws(DesignError) {
    let filterCase = coefficients.filterCase
    let isStereo = filterCase.polarPattern == .stereo
    guard let source = device.dataSources.first(where: { $0.name == filterCase.dataSource }),
      let frame = Self.frame(of: filterCase, forward: source.forward)
    else { throw DesignError("\(filterCase) is not a case of \(device.name)") }
    let manifold = if let manifold { manifold } else { try FilterDesign.manifold(for: device) }
    let grid = DesignGrid(sampleRate: bank.sampleRate).frequencies
    let bins = grid.indices.filter { grid[$0] >= 80 }
    let response = FilterResponse(
      taps: isStereo ? coefficients.taps : [coefficients.taps[0]], sampleRate: bank.sampleRate,
      delayFrames: bank.delayFrames, frequencies: grid)
    azimuths = stride(from: 0.0, to: 360, by: 2.5).map(\.self)
    let horizon = azimuths.map { sphericalUnit(azimuth: .degrees($0), elevation: .degrees(0)) }
    let upright = isStereo ? [] : horizon.map { SIMD3($0.x, 0, $0.y) }
    let reached = response.outputs(manifold, from: (horizon + upright).map(frame.device(fromHead:)))
    let target =
      isStereo
      ? StereoDesign.target(hrtf, from: horizon, frequencies: grid)
      : Self.pattern(filterCase.polarPattern.omnidirectionalPart ?? 1, from: horizon, count: grid.count)

    octaves = Self.octaves.filter { $0 * 1.3 < grid.last! }
    frequencies = bins.map { grid[$0] }
    onAxis = Self.spectra(reached, bins, direction: 0)
    targetOnAxis = Self.spectra(target, bins, direction: 0)
    if isStereo {
      let gains = response.noiseGains(manifold)
      noiseGain = (0..<2).map { output in bins.map { gains[$0][output] } }
    } else {
      noiseGain = [
        zip(bins, onAxis[0]).map { bin, level in
          level - 10 * log10(response.weights[bin].reduce(1e-12) { $0 + $1.squaredMagnitude })
        }
      ]
    }

    var (levels, targetLevels, uprightLevels) = ([[[Double]]](), [[[Double]]](), [[[Double]]]())
    for centre in octaves {
      let band = grid.indices.filter { grid[$0] >= centre / 1.3 && grid[$0] <= centre * 1.3 }
      let all = Self.bandLevels(reached, band)
      let wanted = Self.bandLevels(target, band)
      let reference = isStereo ? wanted.joined().max()! : all[0][0]
      levels.append(all.map { $0[..<horizon.count].map { $0 - reference } })
      uprightLevels.append(isStereo ? [] : all.map { $0[horizon.count...].map { $0 - reference } })
      targetLevels.append(wanted.map { $0.map { $0 - (isStereo ? reference : wanted[0][0]) } })
    }
    (self.levels, self.targetLevels, self.uprightLevels) = (levels, targetLevels, uprightLevels)

    func differences(_ responses: ResponseGrid) -> [[Double]] {
      guard isStereo else { return [] }
      return [Self.lowBand, Self.highBand].map { band in
        let ears = Self.bandLevels(responses, grid.indices.filter { band.contains(grid[$0]) })
        return zip(ears[0], ears[1]).map { $0 - $1 }
      }
    }
    func times(_ responses: ResponseGrid) -> [Double] {
      isStereo ? BinauralLevels(responses, frequencies: grid).timeDifferences : []
    }
    levelDifferences = differences(reached)
    targetLevelDifferences = differences(target)
    timeDifferences = times(reached)
    targetTimeDifferences = times(target)
  }

  private static func frame(of filterCase: FilterCase, forward: Direction) -> HeadFrame? {
    if let orientation = filterCase.inputOrientation {
      return HeadFrame(forward: forward, orientation: orientation)
    }
    return HeadFrame(forward: forward, orientation: .portrait)
      ?? HeadFrame(forward: forward, orientation: .landscapeRight)
  }

  /// α + (1 − α) cos θ at every frequency.
  private static func pattern(_ part: Double, from directions: [SIMD3<Double>], count: Int) -> ResponseGrid {
    var grid = ResponseGrid(frequencies: count, channels: 1, directions: directions.count)
    for i in grid.values.indices {
      grid.values[i] = Complex(part + (1 - part) * directions[i % directions.count].x, 0)
    }
    return grid
  }

  /// `[channel][bin]`
  private static func spectra(_ responses: ResponseGrid, _ bins: [Int], direction: Int) -> [[Double]] {
    (0..<responses.channels).map { channel in
      bins.map { 10 * log10(responses[$0, channel, direction].squaredMagnitude + 1e-12) }
    }
  }

  /// `[channel][direction]`
  private static func bandLevels(_ responses: ResponseGrid, _ bins: [Int]) -> [[Double]] {
    (0..<responses.channels).map { channel in
      (0..<responses.directions).map { direction in
        10 * log10(mean(bins.map { responses[$0, channel, direction].squaredMagnitude }) + 1e-12)
      }
    }
  }
}
