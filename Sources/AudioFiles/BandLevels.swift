import Glibc

/// How much sound each channel has, in all and above some corners: what a lossy format must keep.
struct BandLevels {
  /// Of high-passes, in hertz. The first leaves out what an encoder may take away: offsets and rumble.
  private static let corners = [100.0, 1000, 4000, 8000]
  /// In decibels: how much a band may differ, how far below its channel it is not heard, and below what level nothing is:
  /// Opus takes offsets away, which leaves a step at the beginning.
  private static let (tolerance, masked, silence) = (6.0, -50.0, -60.0)

  /// A high-pass of second order.
  private struct Section {
    let (b, a1, a2): (Double, Double, Double)
    var (s1, s2) = (0.0, 0.0)

    /// - Source: R. Bristow-Johnson, Audio EQ Cookbook.
    init(corner: Double, quality: Double, sampleRate: Double) {
      let omega = 2 * .pi * corner / sampleRate
      let alpha = sin(omega) / (2 * quality)
      b = (1 + cos(omega)) / 2 / (1 + alpha)
      (a1, a2) = (-2 * cos(omega) / (1 + alpha), (1 - alpha) / (1 + alpha))
    }

    mutating func next(_ x: Double) -> Double {
      let y = b * x + s1
      s1 = -2 * b * x - a1 * y + s2
      s2 = b * x - a2 * y
      return y
    }
  }

  private let channels: Int
  private var frames = 0
  /// Two of Butterworth's for each corner. Shape: `[channel][corner][section]`.
  private var sections: [[[Section]]]
  /// Shape: `[channel][corner]`.
  private var energies: [[Double]]
  /// Of each channel, offset and rumble included: an encoder's noise is relative to that.
  private var totals: [Double]

  init(channels: Int, sampleRate: Int) {
    self.channels = channels
    let rate = Double(sampleRate)
    let all = Self.corners.filter { $0 < 0.4 * rate }.map { corner in
      [0.541196, 1.306563].map { Section(corner: corner, quality: $0, sampleRate: rate) }
    }
    sections = [[[Section]]](repeating: all, count: channels)
    energies = [[Double]](repeating: [Double](repeating: 0, count: all.count), count: channels)
    totals = [Double](repeating: 0, count: channels)
  }

  /// - Parameter samples: interleaved.
  mutating func add(_ samples: [Float]) {
    frames += samples.count / channels
    for c in 0..<channels {
      for n in stride(from: c, to: samples.count, by: channels) {
        totals[c] += Double(samples[n]) * Double(samples[n])
      }
      for k in energies[c].indices {
        var (first, second) = (sections[c][k][0], sections[c][k][1])
        var sum = 0.0
        for n in stride(from: c, to: samples.count, by: channels) {
          let y = second.next(first.next(Double(samples[n])))
          sum += y * y
        }
        (sections[c][k][0], sections[c][k][1]) = (first, second)
        energies[c][k] += sum
      }
    }
  }

  /// The first channel, from 0, that `other` has not as this has it; nil if there is none.
  func firstDifference(from other: BandLevels) -> Int? {
    func level(_ energy: Double) -> Double { 10 * log10(max(1e-30, energy / Double(max(1, frames)))) }
    return energies.indices.first { c in
      let least = max(Self.silence, level(totals[c]) + Self.masked)
      return energies[c].indices.contains { k in
        let (here, there) = (level(energies[c][k]), level(other.energies[c][k]))
        return here > least ? abs(there - here) > Self.tolerance : there > least + Self.tolerance
      }
    }
  }
}
