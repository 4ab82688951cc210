import Glibc

/// What one channel shows by itself: silence, clipping, an offset.
struct ChannelHealth {
  /// RMS without the offset, as amplitude.
  let rms: Double
  /// Mean, as amplitude.
  let offset: Double
  /// Runs of three samples and more that stand at the channel's peak.
  let clippedRuns: Int
  let peak: Double

  /// In dBFS; nil for digital silence.
  var level: Double? { rms > Thresholds.silence ? 20 * log10(rms) : nil }
  var isClipped: Bool {
    clippedRuns >= Thresholds.fewestClippedRuns && peak > Thresholds.leastClippedPeak
  }
  var hasOffset: Bool {
    abs(offset) > Thresholds.leastOffset && abs(offset) > Thresholds.leastOffsetShare * rms
  }

  init(_ signal: [Float]) {
    let count = Double(max(1, signal.count))
    offset = Self.mean(signal)
    rms = max(0, signal.reduce(0) { $0 + Double($1) * Double($1) } / count - offset * offset).squareRoot()
    let peak = signal.reduce(0) { max($0, abs($1)) }
    self.peak = Double(peak)
    clippedRuns = Self.runs(in: signal, at: Thresholds.clippedShare * peak)
  }

  static func mean(_ signal: [Float]) -> Double {
    signal.reduce(0) { $0 + Double($1) } / Double(max(1, signal.count))
  }

  /// Runs of three equal samples and more whose magnitude is at least `level`.
  private static func runs(in signal: [Float], at level: Float) -> Int {
    var (runs, run) = (0, 0)
    var last: Float = 0
    for sample in signal {
      run = abs(sample) < level ? 0 : sample == last ? run + 1 : 1
      if run == 3 { runs += 1 }
      last = sample
    }
    return runs
  }
}
