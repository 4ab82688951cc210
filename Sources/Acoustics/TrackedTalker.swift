/// Somebody, or something, that sounds from one direction.
public struct TrackedTalker: Hashable, Sendable {
  /// That of whoever was heard there first; 1 for the first.
  public let identity: Int
  /// Unit vector of the device frame.
  public var direction: SIMD3<Double>
  /// Of its sound at the microphones, in decibels of full scale (RMS); that of its last sound while it is silent.
  public var level: Double
  /// The part of what was heard directly in the last half second that came from there, 0…1.
  public var confidence: Double
  /// Seconds since it sounded.
  public var silence: Double
  /// Whether it sounds now.
  public var isActive: Bool { silence == 0 }

  public init(
    identity: Int, direction: SIMD3<Double>, level: Double = 0, confidence: Double = 0, silence: Double = 0
  ) {
    (self.identity, self.direction, self.level) = (identity, direction, level)
    (self.confidence, self.silence) = (confidence, silence)
  }
}

/// That a talker begins to sound, has moved, or has ceased.
public struct TalkerChange: Hashable, Sendable {
  /// On the clock of what was heard.
  public let frame: Int
  /// As it is then; if it has ceased (`isActive` is false), as it was on average since it began.
  public let talker: TrackedTalker

  public init(frame: Int, talker: TrackedTalker) { (self.frame, self.talker) = (frame, talker) }
}
