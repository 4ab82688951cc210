/// What a case must do to be offered, and what a check calls right: the same for both. The design keeps a margin,
/// because a check hears a voice and another model of the body.
public enum CaseCriteria {
  public enum Verdict: Hashable, Sendable {
    case right
    /// Usable, but short of what the pattern is for.
    case weak
    case wrong
  }

  /// Voices at the sides are heard at least this far out; at less than `clearSide` a case is weak.
  public static let leastSide = Angle.degrees(30)
  public static let clearSide = Angle.degrees(45)
  /// Voices in the middle are heard at most this far from it; at more than `clearMiddle` a case is weak.
  public static let widestMiddle = Angle.degrees(20)
  public static let clearMiddle = Angle.degrees(10)
  /// Stereo: sound from behind is at most this much louder than from the front, as microphones may differ; less than
  /// `clearFrontBack` softer is weak.
  public static let loudestBehind = Decibels(1)
  public static let clearFrontBack = Decibels(2.5)
  /// How far a design stays within the limits of the angles, and of levels.
  public static let angleMargin = Angle.degrees(3)
  public static let levelMargin = Decibels(0.5)
  /// How much sooner a design calls a level weak than a check does, which hears voices on another mesh.
  public static let weakMargin = Decibels(0.2)

  /// A mono pattern is offered only if it differs from the next simpler one of its data source in at least
  /// `leastOctaves` octaves within `comparedOctaves`: by `leastDirectivityDifference`, or by `leastFrontBackDifference`
  /// where even the ideal patterns differ by less directivity. Ideal super- and hypercardioids differ by 0.3 dB of
  /// directivity and 6 dB of front over back. A figure of eight is recognised by its nulls; see `highestLevels`.
  public static let comparedOctaves = Hertz(250)...Hertz(4000)
  public static let leastOctaves = 2
  public static let leastDirectivityDifference = Decibels(0.5)
  public static let leastFrontBackDifference = Decibels(3)
  /// A pattern that is omnidirectional in the third octave of this frequency is weak.
  public static let lowestDirectional = Hertz(250)

  /// B-format is offered in an order whose channels are like their spherical harmonics, by a correlation of at least
  /// `leastCorrelation`, in at least `leastOctaves` octaves from 125 Hz to 8 kHz. Noise up to `ambisonicsNoise` over the
  /// harmonic's own level in a diffuse field is allowed; more is weak.
  public static let leastCorrelation = 0.9
  public static let ambisonicsNoise = Decibels(14)

  /// - Parameter outwards: where a voice from a side is heard, positive towards that side.
  public static func side(_ outwards: Angle) -> Verdict {
    outwards.degrees < leastSide.degrees ? .wrong : outwards.degrees < clearSide.degrees ? .weak : .right
  }

  /// - Parameter heard: where a voice from the middle is heard.
  public static func middle(_ heard: Angle) -> Verdict {
    let offset = abs(heard.degrees)
    return offset > widestMiddle.degrees ? .wrong : offset > clearMiddle.degrees ? .weak : .right
  }

  /// - Parameters:
  ///   - overFront: level of sound from behind relative to sound from the front.
  ///   - tellsFrontFromBehind: false if the array is its own mirror image; see `Device`.
  public static func behind(_ overFront: Decibels, tellsFrontFromBehind: Bool) -> Verdict {
    if overFront > loudestBehind { return .wrong }
    return tellsFrontFromBehind && overFront.value > -clearFrontBack.value ? .weak : .right
  }
}

extension PolarPattern {
  /// Levels at the sides and behind above which a mono pattern is weak, in decibels relative to the front.
  ///
  /// They follow from the required figures. A first-order pattern with a directivity index of 2.2 dB, as required of
  /// subcardioids, has −2.3 dB at the sides and −5.5 dB behind. Cardioids must have 3.5 dB, which means −4.0 dB at the
  /// sides; their limit behind, −11 dB, is the required front/back ratio. Narrower patterns share the cardioid's limit
  /// at the sides; behind, they have the ratio below which they are not offered. The nulls of a figure of eight should be
  /// as deep as a cardioid's.
  public var weakLevels: (sides: Decibels, behind: Decibels) {
    switch self {
    case .subcardioid: (Decibels(-2.3), Decibels(-5.5))
    case .cardioid: (Decibels(-4), Decibels(-11))
    case .supercardioid, .hypercardioid: (Decibels(-4), Decibels(-3))
    case .figureEight: (Decibels(-11), CaseCriteria.loudestBehind)
    case .omnidirectional, .stereo, .ambix1, .ambix2, .ambix3, .ambix4:
      (CaseCriteria.loudestBehind, CaseCriteria.loudestBehind)
    }
  }

  /// Levels at the sides and behind above which a mono pattern is wrong, in decibels relative to the front. Levels that
  /// should be equal may differ by 1 dB, as microphones may. The sides of a figure of eight are its nulls.
  public var highestLevels: (sides: Decibels, behind: Decibels) {
    switch self {
    case .subcardioid, .cardioid, .supercardioid, .hypercardioid: (Decibels(0), Decibels(-2))
    case .figureEight: (Decibels(-8), CaseCriteria.loudestBehind)
    case .omnidirectional, .stereo, .ambix1, .ambix2, .ambix3, .ambix4:
      (CaseCriteria.loudestBehind, CaseCriteria.loudestBehind)
    }
  }
}

extension Device {
  /// Whether a microphone is more than 1 mm in front of or behind the plane perpendicular to `forward` through the
  /// body's centre; for arrays without a body of known shape, through the microphones' centroid; or a capsule faces either side.
  /// Otherwise sound from behind reaches all microphones exactly as sound from in front does.
  public func tellsFrontFromBehind(along forward: Direction) -> Bool {
    let depths = microphones.map { $0.position.dot(forward.vector) }
    let centre = body.shape.reach == nil ? depths.reduce(0, +) / Double(max(1, depths.count)) : 0
    if microphones.contains(where: { abs($0.capsule?.facing.vector.dot(forward.vector) ?? 0) > 0.1 }) {
      return true
    }
    return depths.contains { abs($0 - centre) > 0.001 }
  }
}
