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
  ///   - target: what the ears should hear.
  ///   - frequencies: of both, in hertz.
  init(_ reading: EarReading, target: BinauralLevels, frequencies: [Double]) {
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

func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(max(1, values.count)) }

extension Device {
  /// What a case of this device is measured as; nil where it has no such case.
  package func view(of filterCase: FilterCase) -> CaseView? {
    guard let source = dataSources.first(where: { $0.name == filterCase.dataSource }) else { return nil }
    if let part = filterCase.polarPattern.omnidirectionalPart {
      return .pattern(forward: source.forward, omnidirectionalPart: part)
    }
    return filterCase.inputOrientation
      .flatMap { HeadFrame(forward: source.forward, orientation: $0) }.map { .ears($0) }
  }
}
