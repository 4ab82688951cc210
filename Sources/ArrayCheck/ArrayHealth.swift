/// What the channels of an array show without regard to its geometry.
struct ArrayHealth {
  let channels: [ChannelHealth]
  /// Microphones that deliver nothing, or next to nothing.
  let dead: [Int]
  /// Level of the median microphone that is not dead, in dBFS.
  let reference: Double
  let hums: [Hum]
  let dull: [Dullness]
  let copies: [CopiedPair]
  /// Microphones whose levels, polarity and order can be compared: neither dead nor copies.
  let comparable: [Int]

  /// Whether there is too little sound to judge anything but dead microphones.
  var isQuiet: Bool { reference <= Thresholds.quiet }

  init(_ signals: [[Float]], sampleRate: Int) {
    let channels = signals.map(ChannelHealth.init)
    let dead = Self.dead(channels)
    let alive = signals.indices.filter { !dead.contains($0) }
    let reference = median(alive.compactMap { channels[$0].level })
    let isQuiet = reference <= Thresholds.quiet
    let copies =
      isQuiet ? [] : CopiedPair.found(signals).filter { alive.contains($0.a) && alive.contains($0.b) }
    hums = Hum.found(signals, sampleRate: sampleRate).filter { alive.contains($0.microphone) }
    dull =
      isQuiet
      ? [] : Dullness.found(signals, sampleRate: sampleRate).filter { alive.contains($0.microphone) }
    comparable = alive.filter { m in !copies.contains { $0.a == m || $0.b == m } }
    (self.channels, self.dead, self.reference, self.copies) = (channels, dead, reference, copies)
  }

  private static func dead(_ channels: [ChannelHealth]) -> [Int] {
    let levels = channels.map { $0.level ?? -.infinity }
    // The louder third decides, so that two dead microphones of four are found.
    let reference = levels.sorted(by: >)[(levels.count - 1) / 3]
    return levels.indices.filter { levels[$0] == -.infinity || levels[$0] < reference + Thresholds.deadLevel }
  }
}
