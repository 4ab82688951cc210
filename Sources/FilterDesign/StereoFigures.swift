import Acoustics
import Foundation

/// How well one stereo case tells left from right and front from back, over 72 horizontal azimuths.
public struct StereoFigures: Sendable {
  /// Left over right of sources at +90°, and the reverse at −90°, mean, octaves weighted by speech
  /// intelligibility.
  public let separation: Decibels
  /// Energy of 0° over that of 180°, both ears, same weights.
  public let frontBack: Decibels
  /// Interaural time difference of a source at +90° in microseconds: positive where the left ear leads.
  public let timeDifferenceLeft: Double
  /// Mean error of the interaural time difference against the target, microseconds.
  public let timeDifferenceError: Double
  /// Mean error of the interaural level difference in ERB bands 1.5–12 kHz, and 150–1500 Hz.
  public let levelDifferenceErrorHigh: Decibels
  public let levelDifferenceErrorLow: Decibels
  /// Error of the octave levels, root mean square over azimuths and ears; 250 Hz and up.
  public let octaveErrors: [Decibels]
  /// The highest noise gain of any bin from 100 Hz to 16 kHz.
  public let noiseGain: Decibels

  /// - Parameters:
  ///   - coefficients: a stereo case of `bank`.
  ///   - device: whose filters they are.
  public init(_ coefficients: FilterCoefficients, bank: FilterBank, device: Device) throws(DesignError) {
    guard let orientation = coefficients.filterCase.inputOrientation,
      let source = device.dataSources.first(where: { $0.name == coefficients.filterCase.dataSource }),
      let frame = HeadFrame(forward: source.forward, orientation: orientation)
    else { throw DesignError("\(coefficients.filterCase) is not a stereo case of \(device.name)") }
    self.init(
      taps: coefficients.taps, sampleRate: bank.sampleRate, delayFrames: bank.delayFrames,
      manifold: try manifold(for: device), frame: frame, hrtf: try HRTF())
  }

  package init(
    taps: [[[Float]]], sampleRate: Int, delayFrames: Int, manifold: any ArrayManifold, frame: HeadFrame,
    hrtf: HRTF
  ) {
    let frequencies = DesignGrid(sampleRate: sampleRate).frequencies
    let response = FilterResponse(
      taps: taps, sampleRate: sampleRate, delayFrames: delayFrames, frequencies: frequencies)
    let horizon = stride(from: 0.0, to: 360, by: 5).map {
      sphericalUnit(azimuth: .degrees($0), elevation: .degrees(0))
    }
    let reached = BinauralLevels(
      response.outputs(manifold, from: horizon.map(frame.device(fromHead:))), frequencies: frequencies)
    let target = BinauralLevels(
      StereoDesign.target(hrtf, from: horizon, frequencies: frequencies), frequencies: frequencies)
    let (left, right, back) = (18, 54, 36)
    separation = Decibels(
      reached.weighted { ($0[0][left] - $0[1][left] + $0[1][right] - $0[0][right]) / 2 })
    frontBack = Decibels(
      reached.weighted { level in
        let front = pow(10, level[0][0] / 10) + pow(10, level[1][0] / 10)
        let behind = pow(10, level[0][back] / 10) + pow(10, level[1][back] / 10)
        return 10 * log10(front / behind)
      })
    let times = reached.timeDifferences()
    timeDifferenceLeft = times[left]
    timeDifferenceError = mean(zip(times, target.timeDifferences()).map { abs($0 - $1) })
    levelDifferenceErrorHigh = Decibels(reached.levelDifferenceError(against: target, from: 1500, to: 12_000))
    levelDifferenceErrorLow = Decibels(reached.levelDifferenceError(against: target, from: 150, to: 1500))
    octaveErrors = zip(reached.octaves.dropFirst(), target.octaves.dropFirst()).map { a, b in
      let squares = zip(a.joined(), b.joined()).map { ($0 - $1) * ($0 - $1) }
      return Decibels(mean(squares).squareRoot())
    }
    let gains = zip(frequencies, response.noiseGains(manifold))
      .filter { $0.0 > 100 && $0.0 < 16_000 }.flatMap(\.1)
    noiseGain = Decibels(gains.max() ?? 0)
  }
}

func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(max(1, values.count)) }
