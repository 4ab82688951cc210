import Glibc

/// Frames in which something begins to sound, as phases of every microphone: magnitudes are taken off, so that neither
/// levels nor the colour of the sound count.
struct SoundEvents {
  static let band = 300.0...4000.0
  /// Hertz; evenly spread over the band.
  let frequencies: [Double]
  /// Frame numbers in the spectra.
  let frames: [Int]
  let microphones: Int
  /// Shape: `[event][microphone][frequency]`.
  private(set) var re: [Float]
  private(set) var im: [Float]
  /// Level of each event at each microphone in dB, in the band of levels. Shape: `[event][microphone]`.
  private(set) var levels: [[Double]]

  /// Whether sounds began in these frames. In even noise from all around they are as good as any, and have no direction.
  let areOnsets: Bool

  var count: Int { frames.count }

  /// How much louder than the frame before the median event must be.
  private static let leastOnset: Float = 1.5

  /// - Parameters:
  ///   - limit: number of events.
  ///   - delays: known delays of the microphones in seconds, to be taken off.
  init(_ spectra: ShortTimeSpectra, limit: Int, points: Int, levelBand: ClosedRange<Double>, delays: [Double])
  {
    let top = min(Self.band.upperBound, 0.42 * spectra.sampleRate)
    let available = Array(spectra.bins(in: Self.band.lowerBound...top))
    let wanted = min(points, available.count)
    let bins = (0..<wanted).map { available[$0 * (available.count - 1) / max(1, wanted - 1)] }
    frequencies = bins.map { Double($0) * spectra.binWidth }
    microphones = spectra.microphones
    (frames, areOnsets) = Self.onsets(spectra, limit: limit, band: Self.band.lowerBound...top)
    re = [Float](repeating: 0, count: frames.count * microphones * bins.count)
    im = re
    let levelBins = spectra.bins(in: levelBand)
    levels = frames.map { frame in
      (0..<spectra.microphones).map { m in
        let power = levelBins.reduce(Float(0)) { $0 + spectra.power(frame, m, $1) }
        return 10 * log10(Double(max(power, 1e-20)))
      }
    }
    for (e, frame) in frames.enumerated() {
      for m in 0..<microphones {
        let from = spectra.index(frame, m)
        let to = (e * microphones + m) * bins.count
        for (f, bin) in bins.enumerated() {
          let (a, b) = (spectra.re[from + bin], spectra.im[from + bin])
          let magnitude = (a * a + b * b).squareRoot()
          guard magnitude > 1e-12 else { continue }
          let angle = Float(2 * .pi * frequencies[f] * delays[m])
          let (c, s) = (cos(angle), sin(angle))
          re[to + f] = (a * c - b * s) / magnitude
          im[to + f] = (a * s + b * c) / magnitude
        }
      }
    }
  }

  /// The frames that stand out most from what sounded before: their direct sound is not covered by reverberation.
  private static func onsets(_ spectra: ShortTimeSpectra, limit: Int, band: ClosedRange<Double>)
    -> (frames: [Int], areOnsets: Bool)
  {
    let bins = spectra.bins(in: band)
    let microphones = spectra.microphones
    var powers = (0..<spectra.frames).map { frame in
      (0..<microphones).map { m in bins.reduce(Float(0)) { $0 + spectra.power(frame, m, $1) } }
    }
    guard !powers.isEmpty else { return ([], false) }
    let means = (0..<microphones).map { m in powers.reduce(Float(0)) { $0 + $1[m] } / Float(powers.count) }
    for frame in powers.indices {
      for m in 0..<microphones { powers[frame][m] /= max(means[m], 1e-20) }
    }
    // The median microphone: one that crackles or hums does not decide.
    let power = powers.map { $0.sorted()[microphones / 2] }
    let mean = power.reduce(0, +) / Float(power.count)
    guard mean > 0 else { return ([], false) }
    let strength = power.indices.map { n in
      power[n] > 0.3 * mean ? power[n] / ((n > 0 ? power[n - 1] : power[n]) + 0.1 * mean) : 0
    }
    let strongest = power.indices.filter { strength[$0] > 0 }.sorted { strength[$0] > strength[$1] }
      .prefix(limit)
    let median = strongest.isEmpty ? 0 : strength[strongest[strongest.count / 2]]
    return (strongest.sorted(), median > leastOnset)
  }
}
