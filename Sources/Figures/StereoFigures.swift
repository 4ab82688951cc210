import Acoustics
import FilterDesign
import Foundation
import HeadResponses
import Manifolds
import Numerics

/// The figures of one stereo case, over 72 azimuths in the listener's horizontal plane.
public struct StereoFigures: Sendable {
  /// Left-right separation. Mean of left over right for a source at +90° and right over left for a source at −90°;
  /// octaves weighted by speech importance.
  public let separation: Decibels
  /// Front-to-back ratio. Energy in both ears of a source at 0° over a source at 180°; octaves weighted by speech
  /// importance.
  public let frontBack: Decibels
  /// Interaural time difference of a source at +90° in microseconds, positive if the left ear leads.
  public let timeDifferenceLeft: Double
  /// Mean absolute error of the interaural time difference against the target, in microseconds.
  public let timeDifferenceError: Double
  /// Mean absolute error of the interaural level difference, ERB bands 1.5–12 kHz.
  public let levelDifferenceErrorHigh: Decibels
  /// Mean absolute error of the interaural level difference, ERB bands 150–1500 Hz.
  public let levelDifferenceErrorLow: Decibels
  /// RMS error of the octave levels over azimuths and ears, from 250 Hz.
  public let octaveErrors: [Decibels]
  /// Maximum noise gain ‖w‖² / mean |Vᵀw|² over all bins from 100 Hz to 16 kHz.
  public let noiseGain: Decibels

  /// - Parameters:
  ///   - coefficients: a stereo case of `bank`.
  ///   - device: the device that `bank` was designed for.
  public init(_ coefficients: FilterCoefficients, bank: FilterBank, device: Device) throws(DesignError) {
    guard case .ears(let frame) = device.view(of: coefficients.filterCase) else {
      throw DesignError("\(coefficients.filterCase) is not a stereo case of \(device.name)")
    }
    try self.init(
      taps: coefficients.taps, sampleRate: bank.sampleRate, delayFrames: bank.delayFrames,
      manifold: try manifold(for: device), frame: frame, hrtf: try HRTF(path: device.hrtf ?? HRTF.defaultPath)
    )
  }

  package init(
    taps: [[[Float]]], sampleRate: Int, delayFrames: Int, manifold: any ArrayManifold, frame: HeadFrame,
    hrtf: HRTF
  ) throws(DesignError) {
    let view = CaseView.ears(frame)
    let field = try MeasuringField(
      manifold: manifold, views: [view], frequencies: DesignGrid(sampleRate: sampleRate).frequencies)
    let reader = try FigureReader(
      [(view, taps)], sampleRate: sampleRate, delayFrames: delayFrames, field: field, hrtf: hrtf)
    guard case .stereo(let figures) = try reader.read()[0] else {
      preconditionFailure("a view of ears is stereo")
    }
    self = figures
  }

  /// - Parameters:
  ///   - target: the HRTFs that the design approximates.
  ///   - frequencies: of both, in hertz.
  package init(_ reading: EarReading, target: BinauralLevels, frequencies: [Double]) {
    let reached = BinauralLevels(reading.ears, frequencies: frequencies)
    separation = Decibels(reached.separation)
    frontBack = Decibels(reached.frontBack)
    let times = reached.timeDifferences
    timeDifferenceLeft = times[BinauralLevels.left]
    timeDifferenceError = mean(zip(times, target.timeDifferences).map { abs($0 - $1) })
    levelDifferenceErrorHigh = Decibels(reached.levelDifferenceError(against: target, from: 1500, to: 12_000))
    levelDifferenceErrorLow = Decibels(reached.levelDifferenceError(against: target, from: 150, to: 1500))
    octaveErrors = zip(reached.octaves.dropFirst(), target.octaves.dropFirst()).map { a, b in
      let squares = zip(a.joined(), b.joined()).map { ($0 - $1) * ($0 - $1) }
      return Decibels(mean(squares).squareRoot())
    }
    noiseGain = Decibels(
      zip(frequencies, reading.noiseGains).filter { $0.0 > 100 && $0.0 < 16_000 }.map(\.1).max() ?? 0)
  }

  var table: Figures {
    var table = Figures()
    table.set(.separation, separation.value)
    table.set(.frontBack, frontBack.value)
    table.set(.levelDifferenceErrorHigh, levelDifferenceErrorHigh.value)
    table.set(.levelDifferenceErrorLow, levelDifferenceErrorLow.value)
    table.set(.timeDifferenceError, timeDifferenceError)
    table.set(.noiseGain, noiseGain.value)
    let centres = BinauralLevels.octaveCentres.dropFirst().map { Int($0) }
    table.set(
      .octaveError, Dictionary(uniqueKeysWithValues: zip(centres, octaveErrors.map(\.value))))
    return table
  }
}

extension Device {
  /// How a filter case of this device is evaluated; nil if the device has no such case.
  package func view(of filterCase: FilterCase) -> CaseView? {
    guard let source = dataSources.first(where: { $0.name == filterCase.dataSource }) else { return nil }
    if let part = filterCase.polarPattern.omnidirectionalPart {
      return .pattern(forward: source.forward, omnidirectionalPart: part)
    }
    return filterCase.inputOrientation
      .flatMap { HeadFrame(forward: source.forward, orientation: $0) }.map { .ears($0) }
  }
}
