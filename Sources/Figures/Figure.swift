/// A figure with a single value per case. The raw value is its JSON key.
public enum Figure: String, CaseIterable, Sendable {
  /// Stereo: left-right separation. Mean of left over right for a source at +90° and right over left for a source at
  /// −90°; octaves weighted by speech importance.
  case separation = "separationDB"
  /// Stereo: front-to-back ratio. Energy in both ears of a source at 0° over a source at 180°; octaves weighted by
  /// speech importance.
  case frontBack = "frontBackDB"
  /// Stereo: where a voice at +90° or −90° is heard, in degrees towards its side: the smaller of both; see
  /// `Lateralisation`.
  case heardAtSides = "heardAtSidesDegrees"
  /// Stereo: where a voice straight ahead is heard, in degrees to the left.
  case heardInFront = "heardInFrontDegrees"
  /// Stereo: how far from the middle voices from 165° to 195° are heard at most, in degrees.
  case heardBehind = "heardBehindDegrees"
  /// Stereo: mean absolute error of the interaural level difference (ILD), ERB bands 1.5–12 kHz.
  case levelDifferenceErrorHigh = "ildErrorHighDB"
  /// Stereo: mean absolute error of the interaural level difference (ILD), ERB bands 150–1500 Hz.
  case levelDifferenceErrorLow = "ildErrorLowDB"
  /// Stereo: mean absolute error of the interaural time difference (ITD), 150–1500 Hz, in microseconds.
  case timeDifferenceError = "itdErrorMicroseconds"
  /// Stereo: the largest jump of the ITD between directions 5° apart, in microseconds.
  case timeDifferenceJump = "itdJumpMicroseconds"
  /// Mono: the frequency in hertz from which on, up to 12 kHz, the directivity index is more than 3 dB below the ideal
  /// pattern's in every third octave: above it the array is too coarse for the pattern. Absent if there is none.
  case aliasingFrequency = "aliasingHz"
  /// Stereo: maximum noise gain over all bins from 100 Hz to 16 kHz; see `NoiseGain`.
  case noiseGain = "noiseGainDB"
}

/// A figure with several values per case; per octave in decibels, unless it says otherwise. The raw value is its JSON
/// key. The JSON value is an object that maps octave centres in hertz to levels: `{"125": 4.7, "250": 4.8}`. Bands
/// above the Nyquist frequency are absent.
public enum SeriesFigure: String, CaseIterable, Sendable {
  /// Stereo: RMS error of the octave level over azimuths and ears; 250 Hz to 8 kHz.
  case octaveError = "octaveErrorDB"
  /// Stereo: the energy of both ears in a diffuse field against the target's, in the third octave of the octave in which
  /// it differs most.
  case diffuseError = "diffuseErrorDB"
  /// Stereo: the energy of both ears straight ahead against the target's, per third octave; keyed by nominal centres.
  case frontError = "frontErrorDB"
  /// Stereo: where a voice is heard, and where a listener hears it: degrees to the left, keyed by the voice's azimuth in
  /// degrees to the left. See `Lateralisation`.
  case heard = "heardDegrees"
  case targetHeard = "targetHeardDegrees"
  /// Stereo: interaural coherence in a diffuse field minus the target's. Not a level.
  case coherenceError = "coherenceError"
  /// Stereo: physical limit of the separation for any filters; see `EnergyCeiling`.
  case separationCeiling = "separationCeilingDB"
  /// Mono: directivity index. On-axis energy over the mean over the whole sphere, also for a planar array that looks
  /// along its plane; an ideal cardioid has 4.77 dB.
  case directivityIndex = "directivityIndexDB"
  /// Mono: front-to-back ratio. Energy from the cone within 30° of the axis over that from the opposite cone.
  case frontBackOctaves = "frontBackOctavesDB"
  /// Mono: pattern error. Mean (|P| − |T|)² over mean T² over the sphere, with the target T = α + (1 − α) cos θ.
  case patternError = "patternErrorDB"
  /// Mono: white-noise gain. On-axis energy over the output noise of microphones with equal, independent noise.
  case whiteNoiseGain = "whiteNoiseGainDB"
  /// Mono: on-axis level; 0 dB is a single microphone in the free field.
  case onAxis = "onAxisDB"

  /// Octave centres of the mono figures and of the ceiling, in hertz.
  public static let octaves = [125, 250, 500, 1000, 2000, 4000, 8000, 12_000]
  /// Nominal centres of third octaves, in hertz.
  /// - Source: IEC 61260-1:2014, annex E.
  public static let thirdOctaves = [
    100, 125, 160, 200, 250, 315, 400, 500, 630, 800, 1000, 1250, 1600, 2000, 2500, 3150, 4000, 5000, 6300,
  ]
  /// The azimuths of heard angles, in degrees: -165, -150 … 180.
  public static let azimuths = Array(stride(from: -165, through: 180, by: 15))
}

/// Which values of a figure are better. This defines the sign of a loss.
enum FigureSense {
  /// Higher is better: the loss is the decrease.
  case high
  /// Lower is better: the loss is the increase.
  case low
  /// Closer to zero is better: the loss is the increase in magnitude.
  case zero

  func loss(from figure: Double, to reached: Double) -> Double {
    switch self {
    case .high: figure - reached
    case .low: reached - figure
    case .zero: abs(reached) - abs(figure)
    }
  }
}

extension Figure {
  var sense: FigureSense {
    switch self {
    case .separation, .frontBack, .heardAtSides, .aliasingFrequency: .high
    case .heardInFront: .zero
    case .heardBehind, .levelDifferenceErrorHigh, .levelDifferenceErrorLow, .timeDifferenceError,
      .timeDifferenceJump, .noiseGain:
      .low
    }
  }
}

extension SeriesFigure {
  /// Nil if neither higher nor lower values are better: there is no loss.
  var sense: FigureSense? {
    switch self {
    case .octaveError, .patternError: .low
    case .separationCeiling, .directivityIndex, .frontBackOctaves, .whiteNoiseGain: .high
    case .onAxis, .diffuseError, .frontError, .coherenceError: .zero
    case .heard, .targetHeard: nil
    }
  }
}
