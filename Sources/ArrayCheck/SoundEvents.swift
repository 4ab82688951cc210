import Glibc

/// Frames in which something begins to sound, as phases of every microphone: magnitudes are taken off, so that neither
/// levels nor the colour of the sound count.
struct SoundEvents {
  /// Hertz; evenly spread over the band.
  let frequencies: [Double]
  let count: Int
  let microphones: Int
  /// Shape: `[event][microphone][frequency]`.
  private(set) var re: [Float]
  private(set) var im: [Float]
  /// Level of each event at each microphone in dB, in the band of levels. Shape: `[event][microphone]`.
  let levels: [[Double]]
  /// Whether sounds began in these frames. In even noise from all around they are as good as any, and have no direction.
  let areOnsets: Bool

  /// - Parameter delays: known delays of the microphones in seconds, to be taken off.
  init(_ spectra: ShortTimeSpectra, levelBand: ClosedRange<Double>, delays: [Double]) {
    let top = min(Thresholds.eventBand.upperBound, Thresholds.highestShare * spectra.sampleRate)
    let band = Thresholds.eventBand.lowerBound...top
    let available = Array(spectra.bins(in: band))
    let wanted = min(Thresholds.eventFrequencies, available.count)
    let bins = (0..<wanted).map { available[$0 * (available.count - 1) / max(1, wanted - 1)] }
    let frames = Self.frames(spectra, band: band)
    let levelBins = spectra.bins(in: levelBand)
    levels = frames.strongest.map { frame in
      (0..<spectra.microphones).map {
        10 * log10(Double(max(spectra.power(frame, $0, in: levelBins), 1e-20)))
      }
    }
    frequencies = bins.map { Double($0) * spectra.binWidth }
    (count, microphones, areOnsets) = (frames.strongest.count, spectra.microphones, frames.areOnsets)
    re = [Float](repeating: 0, count: count * microphones * bins.count)
    im = re
    for (event, frame) in frames.strongest.enumerated() {
      for m in 0..<microphones { keepPhases(of: spectra, spectra.index(frame, m), bins, event, m, delays[m]) }
    }
  }

  /// Where the phases of an event at a microphone begin.
  func index(_ event: Int, _ microphone: Int) -> Int {
    (event * microphones + microphone) * frequencies.count
  }

  /// The same events with a channel multiplied by e^(jω·advance), and by -1 if `inverts`.
  func changed(channel: Int, advance: Double, inverts: Bool) -> SoundEvents {
    var changed = self
    for f in frequencies.indices {
      let (c, s) = turn(f, advance: advance, inverts: inverts)
      for e in 0..<count {
        let at = index(e, channel) + f
        (changed.re[at], changed.im[at]) = (re[at] * c - im[at] * s, re[at] * s + im[at] * c)
      }
    }
    return changed
  }

  /// e^(jω·advance) at a frequency, negative if `inverts`.
  func turn(_ f: Int, advance: Double, inverts: Bool) -> (Float, Float) {
    let angle = 2 * .pi * frequencies[f] * advance + (inverts ? .pi : 0)
    return (Float(cos(angle)), Float(sin(angle)))
  }

  private mutating func keepPhases(
    of spectra: ShortTimeSpectra, _ from: Int, _ bins: [Int], _ event: Int, _ microphone: Int,
    _ delay: Double
  ) {
    let to = index(event, microphone)
    for (f, bin) in bins.enumerated() {
      let (a, b) = (spectra.re[from + bin], spectra.im[from + bin])
      let magnitude = (a * a + b * b).squareRoot()
      guard magnitude > 1e-12 else { continue }
      let angle = Float(2 * .pi * frequencies[f] * delay)
      let (c, s) = (cos(angle), sin(angle))
      re[to + f] = (a * c - b * s) / magnitude
      im[to + f] = (a * s + b * c) / magnitude
    }
  }

  /// The frames that stand out most from what sounded before: their direct sound is not covered by reverberation.
  private static func frames(_ spectra: ShortTimeSpectra, band: ClosedRange<Double>)
    -> (strongest: [Int], areOnsets: Bool)
  {
    let power = powers(spectra, band: band)
    let mean = power.reduce(0, +) / Float(max(1, power.count))
    guard mean > 0 else { return ([], false) }
    let strength = power.indices.map { n in
      power[n] > Thresholds.eventPower * mean ? power[n] / (power[max(0, n - 1)] + 0.1 * mean) : 0
    }
    let strongest = power.indices.filter { strength[$0] > 0 }.sorted { strength[$0] > strength[$1] }
      .prefix(Thresholds.mostEvents)
    let median = strongest.isEmpty ? 0 : strength[strongest[strongest.count / 2]]
    return (strongest.sorted(), median > Thresholds.leastOnset)
  }

  /// Power of each frame against the recording's mean, at the median microphone: one that crackles or hums does not
  /// decide.
  private static func powers(_ spectra: ShortTimeSpectra, band: ClosedRange<Double>) -> [Float] {
    let bins = spectra.bins(in: band)
    let relative = (0..<spectra.microphones).map { m in
      let powers = (0..<spectra.frames).map { spectra.power($0, m, in: bins) }
      let mean = powers.reduce(0, +) / Float(max(1, powers.count))
      return powers.map { $0 / max(mean, 1e-20) }
    }
    return (0..<spectra.frames).map { frame in relative.map { $0[frame] }.sorted()[spectra.microphones / 2] }
  }
}
