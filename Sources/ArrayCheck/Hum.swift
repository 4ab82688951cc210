import Glibc

/// Hum of 50 or 60 Hz and its multiples, by the lines that stand out of a channel's spectrum while nothing else sounds.
struct Hum {
  let microphone: Int
  /// 50 or 60, in hertz.
  let mains: Int
  /// How much stronger than at the median microphone, in dB.
  let excess: Double

  /// - Returns: at most one per microphone, in their order.
  static func found(_ signals: [[Float]], sampleRate: Int) -> [Hum] {
    guard signals.count > 1, signals[0].count >= sampleRate else { return [] }
    // Lines are below 400 Hz: sums of neighbouring samples are enough.
    let factor = max(1, sampleRate / 2000)
    let rate = Double(sampleRate) / Double(factor)
    let slow = signals.map { signal in
      (0..<signal.count / factor).map { n in
        signal[n * factor..<(n + 1) * factor].reduce(0) { $0 + Double($1) } / Double(factor)
      }
    }
    let all = [50, 60].flatMap { found($0, in: slow, rate: rate) }
    return signals.indices.compactMap { m in
      all.filter { $0.microphone == m }.max { $0.excess < $1.excess }
    }
  }

  private static func found(_ mains: Int, in signals: [[Double]], rate: Double) -> [Hum] {
    let lines = (1...6).map { Double($0 * mains) }
    let distance = Thresholds.humDistance
    let power = signals.map { signal in lines.map { line($0, in: signal, rate) } }
    let between = signals.map { signal in
      lines.map { max(line($0 - distance, in: signal, rate), line($0 + distance, in: signal, rate)) }
    }
    let prominence = pow(10, Thresholds.humProminence / 10)
    let hum = signals.indices.map { m in
      let standing = lines.indices.filter { power[m][$0] > prominence * between[m][$0] }
      return standing.count >= Thresholds.fewestHumLines ? standing.reduce(0) { $0 + power[m][$1] } : 0
    }
    // A louder microphone has louder hum: how far the lines stand out counts, too.
    let contrast = signals.indices.map { m in
      power[m].reduce(0, +) / max(between[m].reduce(0, +), 1e-20)
    }
    // Of two, the median would be the mean: one is compared with the other.
    let middle = signals.count == 2 ? { $0.min()! } : median
    let usual = max(middle(power.map { $0.reduce(0, +) }), 1e-14)
    let usualContrast = middle(contrast)
    return signals.indices.filter {
      hum[$0] > pow(10, Thresholds.humExcess / 10) * usual
        && contrast[$0] > Thresholds.humContrast * usualContrast
    }.map { Hum(microphone: $0, mains: mains, excess: 10 * log10(hum[$0] / usual)) }
  }

  /// The power of a line in the quietest tenth of the signal's parts: hum lasts, speech does not.
  private static func line(_ frequency: Double, in signal: [Double], _ rate: Double) -> Double {
    let length = Int(0.5 * rate)
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
