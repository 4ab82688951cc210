/// What could not be judged, why, and what to do about it.
extension Wording {
  /// - Parameter level: in dBFS.
  static func tooQuiet(_ level: Double) -> String {
    "It was too quiet (\(Int(level.rounded())) dBFS) to judge levels, polarity and order: speak, or play music"
  }

  static let single = "With one microphone there is nothing to compare"
  static let fewLeft =
    "With fewer than two microphones left, levels, polarity and order were not judged: repair the others first"

  static func short(seconds: Int) -> String { "The recording is short (\(seconds) s): 10 s judge better" }

  static let noPolarity =
    "Polarity was not judged: there was too little sound below 500 Hz; speak, or play music"

  static let farApart =
    "Polarity was not judged: the microphones are too far apart, or face too different ways, to be in phase at low "
    + "frequencies; clap half way between them, and see whether their waves begin alike"

  static func fewSounds(_ count: Int) -> String {
    "Order, delays and levels were not judged: only \(count) sounds began in this recording; let somebody "
      + "speak for 10 s"
  }

  func symmetric(_ groups: [[Int]]) -> String {
    "Whether \(alternatives(groups)) are exchanged cannot be told: the array is the same either way; tap them "
      + "one after another and watch the meters"
  }

  func alike(_ groups: [[Int]]) -> String {
    "Whether \(alternatives(groups)) are exchanged cannot be told from where the sound came; let somebody speak "
      + "from other sides"
  }

  /// "a and b, or c and d".
  private func alternatives(_ groups: [[Int]]) -> String {
    groups.map { list($0) }.joined(separator: ", or ")
  }

  static let mirrored =
    "Whether the whole array is mirrored or turned cannot be told: it is symmetric; speak from a known side and listen"
  static let smallDelays =
    "Delays below 100 µs of single microphones may go unnoticed: the array has hardly more microphones than "
    + "directions need"
  static let noLevels =
    "Levels were not judged: the capsules are directional, and sound came from too few sides; let somebody walk "
    + "around the array"

  static func noDelays(_ obstacle: LateMicrophone.Obstacle, microphones: Int) -> String {
    let reason =
      switch obstacle {
      case .noOnsets: "no sound stood out from the noise; speak or clap, from four sides"
      case .tooFewMicrophones: "with \(microphones) microphones every delay looks like another direction"
      case .tooFewSides: "sound came from too few sides; let somebody speak from four sides and from above"
      }
    return "Delays were not judged: \(reason)"
  }
}
