import Glibc

/// Where a listener hears a voice between left and right.
///
/// Both interaural cues pull the voice to a side, relative to what the listener's own ears receive from a voice at 90°:
/// the time difference with two thirds of the weight, the level difference with one third. One decibel then weighs as
/// much as 42 µs. The sum is turned into an angle like the time difference around a sphere, θ + sin θ. One cue alone, at its
/// value for 90°, is heard between the middle and the side.
/// - Source: trading of time against level, Blauert, Spatial Hearing (1997), section 2.4; dominance of the time
///   difference in speech-like sound, Wightman and Kistler (1992); the sphere, Woodworth and Schlosberg (1954).
public enum Lateralisation {
  /// What KEMAR's ears receive from a voice at 90°: octaves weighted by speech importance; correlation, 150–1500 Hz.
  private static let levelDifferenceAtSide = 7.8
  private static let timeDifferenceAtSide = 655e-6
  private static let timeWeight = 2.0 / 3

  /// - Parameters:
  ///   - levelDifference: of left over right, octaves weighted by speech importance.
  ///   - timeDifference: in seconds, positive if left leads.
  /// - Returns: −90° (right) to 90° (left).
  public static func angle(levelDifference: Decibels, timeDifference: Double) -> Angle {
    let position =
      timeWeight * timeDifference / timeDifferenceAtSide
      + (1 - timeWeight) * levelDifference.value / levelDifferenceAtSide
    let target = min(abs(position), 1) * (1 + .pi / 2)
    // θ + sin θ is monotonic: bisection.
    var (low, high) = (0.0, Double.pi / 2)
    for _ in 0..<40 {
      let middle = (low + high) / 2
      if middle + sin(middle) < target { low = middle } else { high = middle }
    }
    return Angle(radians: position < 0 ? -high : high)
  }
}
