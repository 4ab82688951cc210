import Acoustics
import Glibc

/// What one channel shows by itself: silence, clipping, an offset, hum.
struct SignalHealth {
  /// RMS without the offset, as amplitude.
  let rms: Double
  /// Mean, as amplitude.
  let offset: Double
  /// Runs of three samples and more that stand at the channel's peak.
  let clippedRuns: Int
  let peak: Double

  /// In dBFS; nil for digital silence.
  var level: Double? { rms > 1e-9 ? 20 * log10(rms) : nil }
  var isClipped: Bool { clippedRuns >= 3 && peak > 0.05 }
  /// More than 1.5 % of full scale, and not small against the sound.
  var hasOffset: Bool { abs(offset) > 0.015 && abs(offset) > 0.3 * rms }

  init(_ signal: [Float]) {
    var (sum, squares, peak) = (0.0, 0.0, Float(0))
    for sample in signal {
      sum += Double(sample)
      squares += Double(sample) * Double(sample)
      peak = max(peak, abs(sample))
    }
    let count = Double(max(1, signal.count))
    offset = sum / count
    rms = max(0, squares / count - offset * offset).squareRoot()
    self.peak = Double(peak)
    var (runs, run) = (0, 0)
    var last: Float = 0
    for sample in signal {
      run = abs(sample) >= 0.9999 * peak && sample == last ? run + 1 : abs(sample) >= 0.9999 * peak ? 1 : 0
      if run == 3 { runs += 1 }
      last = sample
    }
    clippedRuns = runs
  }

  /// A microphone is dead below this level against the median one, in dB.
  static let deadLevel = -40.0

  /// Microphones that deliver nothing, or next to nothing.
  static func dead(_ health: [SignalHealth]) -> [Int] {
    let levels = health.map { $0.level ?? -.infinity }
    // The louder half decides, so that two dead microphones of four are found.
    let reference = levels.sorted(by: >)[(levels.count - 1) / 3]
    return levels.indices.filter { levels[$0] == -.infinity || levels[$0] < reference + deadLevel }
  }
}

/// Hum of 50 or 60 Hz and its multiples, by the lines that stand out of a channel's spectrum while nothing else sounds.
enum Hum {
  private static let harmonics = 6
  /// Hum counts if it is this much stronger than at the median microphone, in dB.
  private static let excess = 10.0
  /// And this much stronger than what lies between the lines, in dB.
  private static let prominence = 10.0
  /// Hertz between a line and where its surroundings are measured.
  private static let distance = 14.0
  /// In seconds: the signal is looked at in parts, of which the quietest tenth counts. Hum lasts, speech does not.
  private static let part = 0.5

  /// - Returns: by microphone: mains frequency and how much stronger the hum is than at the median microphone, in dB.
  static func found(_ signals: [[Float]], sampleRate: Int) -> [(microphone: Int, mains: Int, excess: Double)]
  {
    guard signals.count > 1, signals[0].count >= sampleRate else { return [] }
    // Lines are below 400 Hz: sums of neighbouring samples are enough.
    let factor = max(1, sampleRate / 2000)
    let rate = Double(sampleRate) / Double(factor)
    let slow = signals.map { signal in
      (0..<signal.count / factor).map { n in
        signal[n * factor..<(n + 1) * factor].reduce(0) { $0 + Double($1) } / Double(factor)
      }
    }
    var best: [Int: (mains: Int, excess: Double)] = [:]
    for mains in [50, 60] {
      let lines = (1...harmonics).map { Double($0 * mains) }
      let power = slow.map { signal in lines.map { line($0, in: signal, rate) } }
      let between = slow.map { signal in
        lines.map { max(line($0 - distance, in: signal, rate), line($0 + distance, in: signal, rate)) }
      }
      // Lines that stand out in this microphone, counted only where two or more do.
      let hum = power.indices.map { m in
        let standing = lines.indices.filter { power[m][$0] > pow(10, prominence / 10) * between[m][$0] }
        return standing.count >= 2 ? standing.reduce(0) { $0 + power[m][$1] } : 0
      }
      // A louder microphone has louder hum: how far the lines stand out counts, too.
      let standing = power.indices.map { m in
        power[m].reduce(0, +) / max(between[m].reduce(0, +), 1e-20)
      }
      // Of two, the median would be the mean: one is compared with the other.
      let middle = standing.count == 2 ? { $0.min()! } : median
      let usual = middle(standing)
      let median = max(middle(power.map { $0.reduce(0, +) }), 1e-14)
      for m in hum.indices where hum[m] > pow(10, excess / 10) * median && standing[m] > 4 * usual {
        let value = 10 * log10(hum[m] / median)
        if value > best[m]?.excess ?? 0 { best[m] = (mains, value) }
      }
    }
    return best.sorted { $0.key < $1.key }.map { ($0.key, $0.value.mains, $0.value.excess) }
  }

  /// The power of a line in the quietest tenth of the signal's parts.
  private static func line(_ frequency: Double, in signal: [Double], _ rate: Double) -> Double {
    let length = Int(part * rate)
    let powers = stride(from: 0, through: signal.count - length, by: length).map {
      goertzel(signal[$0..<$0 + length], frequency / rate)
    }
    return powers.sorted()[powers.count / 10]
  }

  private static func goertzel(_ signal: ArraySlice<Double>, _ frequency: Double) -> Double {
    let factor = 2 * cos(2 * .pi * frequency)
    let count = Double(signal.count)
    var (a, b) = (0.0, 0.0)
    for (n, sample) in signal.enumerated() {
      let window = 0.5 - 0.5 * cos(2 * .pi * Double(n) / count)
      (a, b) = (window * sample + factor * a - b, a)
    }
    return (a * a + b * b - factor * a * b) / (count * count)
  }
}

/// Channels that carry the same signal, up to gain and a few frames of delay.
enum Copies {
  /// What is left of one channel after the other was taken off must be below this, in dB. No two microphones agree so
  /// well: each has noise of its own, and another place.
  static let residual = -55.0
  private static let lags = -8...8
  private static let length = 32768

  static func found(_ signals: [[Float]]) -> [(a: Int, b: Int, residual: Double)] {
    let parts = signals.map(difference(of:))
    let count = parts[0].count
    let first = loudest(parts)
    let range =
      first + lags.upperBound..<max(first + lags.upperBound, min(first + length, count + lags.lowerBound))
    guard range.count > 1000 else { return [] }
    let energy = parts.map { part in range.reduce(0.0) { $0 + Double(part[$1]) * Double(part[$1]) } }
    var pairs: [(Int, Int, Double)] = []
    for a in parts.indices {
      for b in 0..<a where energy[a] > 0 && energy[b] > 0 {
        var best = Double.infinity
        for lag in lags {
          var (dot, other): (Double, Double) = (0, 0)
          parts[a].withUnsafeBufferPointer { x in
            parts[b].withUnsafeBufferPointer { y in
              for n in range {
                dot += Double(x[n]) * Double(y[n + lag])
                other += Double(y[n + lag]) * Double(y[n + lag])
              }
            }
          }
          if other > 0 { best = min(best, 1 - dot * dot / (energy[a] * other)) }
        }
        let residual = 10 * log10(max(best, 1e-15))
        if residual < Self.residual { pairs.append((b, a, residual)) }
      }
    }
    return pairs
  }

  /// High frequencies count more: at low ones neighbours agree.
  private static func difference(of signal: [Float]) -> [Float] {
    var last: Float = 0
    return signal.map { sample in
      defer { last = sample }
      return sample - last
    }
  }

  /// Where the loudest stretch begins, in the sum of all signals' energies.
  private static func loudest(_ signals: [[Float]]) -> Int {
    let block = length / 4
    let blocks = signals[0].count / block
    guard blocks > 4 else { return 0 }
    let energy = (0..<blocks).map { k in
      signals.reduce(0.0) { sum, signal in
        signal[k * block..<(k + 1) * block].reduce(sum) { $0 + Double($1) * Double($1) }
      }
    }
    return block * (0...blocks - 4).max { a, b in
      energy[a..<a + 4].reduce(0, +) < energy[b..<b + 4].reduce(0, +)
    }!
  }
}
