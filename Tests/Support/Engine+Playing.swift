import Realtime

extension Engine {
  /// An engine in which a set of filters is in force.
  /// - Parameter period: of the callback; nil to prepare none.
  public convenience init(
    playing filters: FilterSet, period: Int? = nil, sampleRate: Double = 48000, highPass: Double? = nil,
    fadeFrames: Int? = nil, preRoll: PreRoll? = nil, instructionSet: InstructionSet? = nil
  ) {
    self.init(
      microphones: filters.microphones, taps: filters.taps, sampleRate: sampleRate, fadeFrames: fadeFrames,
      preRoll: preRoll, instructionSet: instructionSet)
    start(with: filters, highPass: highPass)
    if let period { prepare(period: period) }
  }
}

extension Timing {
  /// Of a period before which Pinna stalled for so many frames.
  public static func stall(_ frames: Int) -> Timing {
    var timing = Timing()
    timing.skippedFrames = frames
    return timing
  }
}
