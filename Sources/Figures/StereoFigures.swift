import Acoustics
import Glibc
import HeadResponses
import Numerics

/// The figures of one stereo case, over 72 azimuths in the listener's horizontal plane. `Figure` says what those of the same
/// name are.
public struct StereoFigures: Sendable {
  public let separation: Decibels
  public let frontBack: Decibels
  /// Where voices are heard, and where a listener hears them, by azimuth.
  public let heard: [Angle]
  public let targetHeard: [Angle]
  public let heardAtSides: Angle
  public let heardInFront: Angle
  public let heardBehind: Angle
  /// Interaural time difference of a source at +90° in microseconds, positive if the left ear leads.
  public let timeDifferenceLeft: Double
  public let timeDifferenceError: Double
  public let timeDifferenceJump: Double
  public let levelDifferenceErrorHigh: Decibels
  public let levelDifferenceErrorLow: Decibels
  /// Per octave from 125 Hz.
  public let diffuseErrors: [Decibels]
  /// Per third octave from 100 Hz.
  public let frontErrors: [Decibels]
  /// Per octave from 125 Hz.
  public let coherenceErrors: [Double]
  /// RMS error of the octave levels over azimuths and ears, from 250 Hz.
  public let octaveErrors: [Decibels]
  public let noiseGain: Decibels

  /// - Parameters:
  ///   - target: the HRTFs that the design approximates.
  ///   - frequencies: of both, in hertz.
  package init(_ reading: EarReading, target stereoTarget: StereoTarget, frequencies: [Double]) {
    let target = stereoTarget.horizon
    let reached = BinauralLevels(reading.ears, frequencies: frequencies)
    separation = Decibels(reached.separation)
    frontBack = Decibels(reached.frontBack)
    let times = reached.timeDifferences
    heard = reached.heard
    targetHeard = target.heard
    heardAtSides = .degrees(min(heard[BinauralLevels.left].degrees, -heard[BinauralLevels.right].degrees))
    heardInFront = heard[0]
    heardBehind = heard[BinauralLevels.behind].max { abs($0.degrees) < abs($1.degrees) }!
    timeDifferenceJump = zip(times, times.dropFirst() + times.prefix(1)).map { abs($0 - $1) }.max()!
    timeDifferenceLeft = times[BinauralLevels.left]
    timeDifferenceError = mean(zip(times, target.timeDifferences).map { abs($0 - $1) })
    levelDifferenceErrorHigh = Decibels(reached.levelDifferenceError(against: target, from: 1500, to: 12_000))
    levelDifferenceErrorLow = Decibels(reached.levelDifferenceError(against: target, from: 150, to: 1500))
    octaveErrors = zip(reached.octaves.dropFirst(), target.octaves.dropFirst()).map { a, b in
      let squares = zip(a.joined(), b.joined()).map { ($0 - $1) * ($0 - $1) }
      return Decibels(mean(squares).squareRoot())
    }
    let bands = Bands(frequencies: frequencies)
    let loudness = 10 * log10(stereoTarget.loudness)
    let centres = BinauralLevels.octaveCentres.prefix(reached.octaves.count)
    let (diffuse, targetDiffuse) = (reading.diffuse.energy, stereoTarget.diffuse.energy)
    diffuseErrors = centres.map { centre in
      let errors = (-1...1).map { third in
        bands.level(diffuse, over: targetDiffuse, thirdOctave: centre * pow(2, Double(third) / 3)) + loudness
      }
      return Decibels(errors.max { abs($0) < abs($1) }!)
    }
    frontErrors = reached.frontErrors(against: target, loudness: stereoTarget.loudness).map(Decibels.init)
    coherenceErrors = centres.map { centre in
      let bins = bands.bins(around: centre, width: 1)
      return reading.diffuse.coherence(bins) - stereoTarget.diffuse.coherence(bins)
    }
    noiseGain = Decibels(
      zip(frequencies, reading.noiseGains).filter { $0.0 > 100 && $0.0 < 16_000 }.map(\.1).max() ?? 0)
  }

  var table: Figures {
    var table = Figures()
    table.set(.separation, separation.value)
    table.set(.frontBack, frontBack.value)
    table.set(.heardAtSides, heardAtSides.degrees)
    table.set(.heardInFront, heardInFront.degrees)
    table.set(.heardBehind, abs(heardBehind.degrees))
    table.set(.levelDifferenceErrorHigh, levelDifferenceErrorHigh.value)
    table.set(.levelDifferenceErrorLow, levelDifferenceErrorLow.value)
    table.set(.timeDifferenceError, timeDifferenceError)
    table.set(.timeDifferenceJump, timeDifferenceJump)
    table.set(.noiseGain, noiseGain.value)
    let octaves = BinauralLevels.octaveCentres.map { Int($0) }
    let azimuths = SeriesFigure.azimuths
    func at(_ azimuth: Int, _ angles: [Angle]) -> Double { angles[(azimuth + 360) % 360 / 5].degrees }
    for (figure, keys, values) in [
      (.octaveError, Array(octaves.dropFirst()), octaveErrors.map(\.value)),
      (.diffuseError, octaves, diffuseErrors.map(\.value)),
      (.frontError, SeriesFigure.thirdOctaves, frontErrors.map(\.value)),
      (.coherenceError, octaves, coherenceErrors),
      (.heard, azimuths, azimuths.map { at($0, heard) }),
      (.targetHeard, azimuths, azimuths.map { at($0, targetHeard) }),
    ] as [(SeriesFigure, [Int], [Double])] {
      table.set(figure, Dictionary(uniqueKeysWithValues: zip(keys, values)))
    }
    return table
  }
}

extension Device {
  /// How a filter case of this device is evaluated; nil if the device has no such case.
  /// - Parameter origin: of B-format, in metres in the device frame.
  package func view(of filterCase: FilterCase, origin: Position? = nil) -> CaseView? {
    guard let source = dataSources.first(where: { $0.name == filterCase.dataSource }) else { return nil }
    if let part = filterCase.polarPattern.omnidirectionalPart {
      return .pattern(forward: source.forward, omnidirectionalPart: part)
    }
    return filterCase.inputOrientation
      .flatMap { source.frame($0) }.map { frame in
        filterCase.polarPattern.ambisonicsOrder.map {
          .ambisonics(AmbisonicsView(frame: frame, order: $0, origin: origin ?? .zero))
        } ?? .ears(frame)
      }
  }
}
