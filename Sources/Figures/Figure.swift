/// A figure that is one number per case. The raw value is its key in JSON.
public enum Figure: String, CaseIterable, Sendable {
  /// Stereo: left over right of sources at +90°, and the reverse at −90°, mean; octaves weighted by speech.
  case separation = "separationDB"
  /// Stereo: energy of 0° over that of 180°, both ears, same weights.
  case frontBack = "frontBackDB"
  /// Stereo: mean error of the level difference between the ears, ERB bands 1.5–12 kHz.
  case levelDifferenceErrorHigh = "ildErrorHighDB"
  /// Stereo: the same, 150–1500 Hz.
  case levelDifferenceErrorLow = "ildErrorLowDB"
  /// Stereo: mean error of the time difference between the ears, 150–1500 Hz, in microseconds.
  case timeDifferenceError = "itdErrorMicroseconds"
  /// Stereo: the highest noise gain ‖w‖² / mean |Vw|² of any bin, 100 Hz to 16 kHz.
  case noiseGain = "noiseGainDB"
}

/// A figure that has a value in each octave, in decibels. The raw value is its key in JSON, whose value is an
/// object from the octave's centre in hertz to the level: `{"125": 4.7, "250": 4.8}`. Octaves beyond half the
/// sample rate are absent.
public enum OctaveFigure: String, CaseIterable, Sendable {
  /// Stereo: error of the octave's level, root mean square over azimuths and ears; 250 Hz to 8 kHz.
  case octaveError = "octaveErrorDB"
  /// Stereo: what the array's physics allow of left over right, whatever the filters; see `EnergyCeiling`.
  case separationCeiling = "separationCeilingDB"
  /// Mono: energy on axis over the mean of all directions of the sphere. Also where the array is planar and
  /// looks along its plane: an ideal cardioid has 4.77 dB.
  case directivityIndex = "directivityIndexDB"
  /// Mono: energy of the 30° cone in front over that behind.
  case frontBackOctaves = "frontBackOctavesDB"
  /// Mono: mean (|P| − |T|)² over mean T², all directions of the sphere, T = α + (1 − α) cos θ.
  case patternError = "patternErrorDB"
  /// Mono: energy on axis over the noise of equal, independent microphones.
  case whiteNoiseGain = "whiteNoiseGainDB"
  /// Mono: level on axis; 0 dB is one microphone alone in the free field.
  case onAxis = "onAxisDB"

  /// Centres of the octaves of mono figures and of the ceiling, in hertz.
  public static let centres = [125, 250, 500, 1000, 2000, 4000, 8000, 12_000]
}

/// Which way a figure is better, and so what a loss is.
enum FigureSense {
  /// Higher is better: the loss is what is missing.
  case high
  /// Lower is better: the loss is what is added.
  case low
  /// Zero is better: the loss is what is added to the magnitude.
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
    case .separation, .frontBack: .high
    case .levelDifferenceErrorHigh, .levelDifferenceErrorLow, .timeDifferenceError, .noiseGain: .low
    }
  }
}

extension OctaveFigure {
  var sense: FigureSense {
    switch self {
    case .octaveError, .patternError: .low
    case .separationCeiling, .directivityIndex, .frontBackOctaves, .whiteNoiseGain: .high
    case .onAxis: .zero
    }
  }
}
