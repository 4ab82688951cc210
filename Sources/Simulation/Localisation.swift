import Acoustics
import Glibc
import Realtime

/// Where one voice appears in the stereo image, measured on the output signals.
public struct Localisation: Sendable {
  /// Level of left relative to right; octaves weighted by their importance for speech intelligibility.
  public let levelDifference: Decibels
  /// In seconds, positive if left leads. From the peak of the cross-correlation, 150–1500 Hz.
  public let timeDifference: Double
  /// Mean level of both outputs relative to one microphone, with the same octave weights.
  public let level: Decibels

  /// - Parameters:
  ///   - left, right: the outputs while the voice speaks.
  ///   - reference: the signal of one microphone over the same time.
  /// - Source: octave weights of ANSI S3.5-1997, table 3, as in the oracle of the tests.
  public init(left: [Float], right: [Float], reference: [Float], sampleRate: Int) {
    let analysis = VoiceAnalysis(left, right, reference, sampleRate: sampleRate)
    var difference = 0.0
    var level = 0.0
    // Octaves that start above 0.45 of the sample rate are omitted: `BandlimitedSignal` leaves no energy there.
    let octaves = Self.octaveWeights.filter { $0.0 / 2.squareRoot() < 0.45 * Double(sampleRate) }
    let sum = octaves.reduce(0) { $0 + $1.1 }
    for (centre, octaveWeight) in octaves {
      let weight = octaveWeight / sum
      let (l, r, m) = analysis.energies(from: centre / 2.squareRoot(), to: centre * 2.squareRoot())
      difference += weight * 10 * log10(l / r)
      level += weight * 10 * log10((l + r) / (2 * m))
    }
    levelDifference = Decibels(difference)
    self.level = Decibels(level)
    timeDifference = analysis.leftLead()
  }

  private static let octaveWeights: [(Double, Double)] = [
    (250, 0.0617), (500, 0.1671), (1000, 0.2373), (2000, 0.2648), (4000, 0.2142), (8000, 0.0549),
  ]
}

/// Spectra of the left, right and reference signals over one analysis window.
private struct VoiceAnalysis {
  private let size: Int
  private let sampleRate: Double
  private let left: [SIMD2<Double>]
  private let right: [SIMD2<Double>]
  private let reference: [SIMD2<Double>]

  init(_ left: [Float], _ right: [Float], _ reference: [Float], sampleRate: Int) {
    var size = 4096
    while size < left.count + sampleRate / 100 { size *= 2 }
    self.size = size
    self.sampleRate = Double(sampleRate)
    self.left = Self.spectrum(left, size)
    self.right = Self.spectrum(right, size)
    self.reference = Self.spectrum(reference, size)
  }

  /// Energies of left, right and reference between two frequencies in hertz.
  func energies(from low: Double, to high: Double) -> (Double, Double, Double) {
    let bins = bins(low, high)
    func sum(_ spectrum: [SIMD2<Double>]) -> Double {
      spectrum[bins].reduce(1e-20) { $0 + ($1 * $1).sum() }
    }
    return (sum(left), sum(right), sum(reference))
  }

  /// Seconds by which left leads right, within ±1 ms.
  func leftLead() -> Double {
    let bins = bins(150, 1500)
    let leads = (-400...400).map { 0.001 * Double($0) / 400 }
    return leads.max { correlation(at: $0, bins) < correlation(at: $1, bins) }!
  }

  /// Cross-correlation of right with left delayed by `seconds`.
  private func correlation(at seconds: Double, _ bins: Range<Int>) -> Double {
    var sum = 0.0
    for k in bins {
      let phase = 2 * Double.pi * Double(k) * sampleRate / Double(size) * seconds
      let (l, r) = (left[k], right[k])
      // Re(l · conj(r) · e^(−jωt))
      sum += (l.x * r.x + l.y * r.y) * cos(phase) + (l.y * r.x - l.x * r.y) * sin(phase)
    }
    return sum
  }

  private func bins(_ low: Double, _ high: Double) -> Range<Int> {
    let width = sampleRate / Double(size)
    return max(1, Int(low / width))..<min(size / 2, Int(high / width))
  }

  private static func spectrum(_ signal: [Float], _ size: Int) -> [SIMD2<Double>] {
    let re = AlignedMemory(count: size)
    let im = AlignedMemory(count: size)
    let transform = FourierTransform(size: size)
    defer {
      re.free()
      im.free()
      transform.free()
    }
    for (n, sample) in signal.enumerated() { re.floats[n] = sample }
    transform.forward(re.floats, im.floats)
    return (0...size / 2).map { [Double(re.floats[$0]), Double(im.floats[$0])] }
  }
}
