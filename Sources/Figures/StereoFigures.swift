import Acoustics
import Glibc
import HeadResponses
import Numerics

/// The figures of one stereo case, over 72 azimuths in the listener's horizontal plane. `Figure` says what those of the same
/// name are.
public struct StereoFigures: Sendable {
  public let separation: Decibels
  public let frontBack: Decibels
  public let heardAtSides: Angle
  public let heardInFront: Angle
  /// Interaural time difference of a source at +90° in microseconds, positive if the left ear leads.
  public let timeDifferenceLeft: Double
  public let timeDifferenceError: Double
  public let levelDifferenceErrorHigh: Decibels
  public let levelDifferenceErrorLow: Decibels
  /// Error of tone, the largest of the third octaves of each octave from 125 Hz: of the energy of both ears in a diffuse
  /// field, and straight ahead.
  public let diffuseErrors: [Decibels]
  public let frontErrors: [Decibels]
  /// Error of the interaural coherence in a diffuse field, per octave from 125 Hz.
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
    func heard(_ azimuth: Int) -> Angle {
      Lateralisation.angle(
        levelDifference: Decibels(reached.weighted { $0[0][azimuth] - $0[1][azimuth] }),
        timeDifference: times[azimuth] * 1e-6)
    }
    heardAtSides = .degrees(min(heard(BinauralLevels.left).degrees, -heard(BinauralLevels.right).degrees))
    heardInFront = heard(0)
    timeDifferenceLeft = times[BinauralLevels.left]
    timeDifferenceError = mean(zip(times, target.timeDifferences).map { abs($0 - $1) })
    levelDifferenceErrorHigh = Decibels(reached.levelDifferenceError(against: target, from: 1500, to: 12_000))
    levelDifferenceErrorLow = Decibels(reached.levelDifferenceError(against: target, from: 150, to: 1500))
    octaveErrors = zip(reached.octaves.dropFirst(), target.octaves.dropFirst()).map { a, b in
      let squares = zip(a.joined(), b.joined()).map { ($0 - $1) * ($0 - $1) }
      return Decibels(mean(squares).squareRoot())
    }
    func bands(_ energy: [Double], over wanted: [Double]) -> [Decibels] {
      let scale = stereoTarget.loudness
      return BinauralLevels.octaveCentres.prefix(reached.octaves.count).map { centre in
        let errors = (-1...1).map { third -> Double in
          let middle = centre * pow(2, Double(third) / 3)
          let bins = Self.bins(frequencies, middle, width: 1.0 / 3)
          return 10
            * log10(scale * (mean(bins.map { energy[$0] }) + 1e-12) / (mean(bins.map { wanted[$0] }) + 1e-12))
        }
        return Decibels(errors.max { abs($0) < abs($1) }!)
      }
    }
    diffuseErrors = bands(reading.diffuse.energy, over: stereoTarget.diffuse.energy)
    func front(_ levels: BinauralLevels) -> [Double] {
      frequencies.indices.map {
        levels.responses[$0, 0, 0].squaredMagnitude + levels.responses[$0, 1, 0].squaredMagnitude
      }
    }
    frontErrors = bands(front(reached), over: front(target))
    coherenceErrors = BinauralLevels.octaveCentres.prefix(reached.octaves.count).map { centre in
      let bins = Self.bins(frequencies, centre, width: 1)
      return reading.diffuse.coherence(bins) - stereoTarget.diffuse.coherence(bins)
    }
    noiseGain = Decibels(
      zip(frequencies, reading.noiseGains).filter { $0.0 > 100 && $0.0 < 16_000 }.map(\.1).max() ?? 0)
  }

  /// The bins of a band of `width` octaves around `centre`; at least the nearest one.
  private static func bins(_ frequencies: [Double], _ centre: Double, width: Double) -> [Int] {
    let half = pow(2, width / 2)
    let bins = frequencies.indices.filter {
      frequencies[$0] >= centre / half && frequencies[$0] < centre * half
    }
    guard bins.isEmpty else { return bins }
    return [frequencies.indices.min { abs(frequencies[$0] - centre) < abs(frequencies[$1] - centre) }!]
  }

  var table: Figures {
    var table = Figures()
    table.set(.separation, separation.value)
    table.set(.frontBack, frontBack.value)
    table.set(.heardAtSides, heardAtSides.degrees)
    table.set(.heardInFront, heardInFront.degrees)
    table.set(.levelDifferenceErrorHigh, levelDifferenceErrorHigh.value)
    table.set(.levelDifferenceErrorLow, levelDifferenceErrorLow.value)
    table.set(.timeDifferenceError, timeDifferenceError)
    table.set(.noiseGain, noiseGain.value)
    let centres = BinauralLevels.octaveCentres.dropFirst().map { Int($0) }
    table.set(
      .octaveError, Dictionary(uniqueKeysWithValues: zip(centres, octaveErrors.map(\.value))))
    for (figure, values) in [
      (.diffuseError, diffuseErrors.map(\.value)), (.frontError, frontErrors.map(\.value)),
      (.coherenceError, coherenceErrors),
    ] as [(OctaveFigure, [Double])] {
      table.set(
        figure,
        Dictionary(uniqueKeysWithValues: zip(BinauralLevels.octaveCentres.map { Int($0) }, values)))
    }
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
