import Acoustics
import Glibc
import Manifolds
import Numerics

/// Powers and cross spectra of all pairs of microphones over parts of a recording, against the model of diffuse sound.
struct DiffuseSound {
  /// All parts of the recording.
  let parts = 0...7
  private let microphones: Int
  /// Hertz, one per bin.
  private let frequencies: [Double]
  private let gainBand: ClosedRange<Double>
  private let model: DiffuseCoherence
  /// Delays that the device states, in seconds.
  private let known: [Double]
  /// Shape: `[part][bin][microphone × microphone]`, the lower triangle.
  private let covariances: [[[Complex]]]

  /// - Parameter signals: with gains and polarities that are known undone.
  init(_ signals: [[Float]], of device: Device, manifold: any ArrayManifold, sampleRate: Int) {
    let spectra = ShortTimeSpectra(signals, sampleRate: sampleRate, highest: 4200)
    gainBand = device.body == .free ? Thresholds.gainBand : Thresholds.gainBandOnBodies
    let top = min(gainBand.upperBound, Thresholds.highestShare * Double(sampleRate))
    let bins = Array(spectra.bins(in: Thresholds.delayBand.lowerBound...top))
    microphones = signals.count
    frequencies = bins.map { Double($0) * spectra.binWidth }
    model = DiffuseCoherence(manifold, frequencies: frequencies)
    known = device.deviations.map(\.delay)
    let count = parts.count
    covariances = parts.map { part in
      let frames = part * spectra.frames / count..<(part + 1) * spectra.frames / count
      return bins.map { spectra.covariance(frames, bin: $0) }
    }
  }

  private func sum(_ parts: ClosedRange<Int>, _ bin: Int, _ i: Int, _ j: Int) -> Complex {
    parts.reduce(.zero) { $0 + covariances[$1][bin][i * microphones + j] }
  }

  /// The cross spectrum with delays undone, in seconds.
  private func sum(_ parts: ClosedRange<Int>, _ bin: Int, _ i: Int, _ j: Int, without delays: [Double])
    -> Complex
  {
    Complex(phase: 2 * .pi * frequencies[bin] * (delays[i] - delays[j])) * sum(parts, bin, i, j)
  }

  /// Gains in dB against the median microphone: means over frequency of levels against the model's.
  func gains(_ parts: ClosedRange<Int>) -> [Double] {
    let bins = frequencies.indices.filter { gainBand.contains(frequencies[$0]) }
    let levels = bins.map { self.levels(parts, $0) }
    let gains = (0..<microphones).map { m in mean(levels.map { $0[m] }) }
    let centre = median(gains)
    return gains.map { $0 - centre }
  }

  private func levels(_ parts: ClosedRange<Int>, _ bin: Int) -> [Double] {
    let levels = (0..<microphones).map { m in
      10 * log10(max(1e-20, sum(parts, bin, m, m).real / model.powers[bin][m]))
    }
    let centre = mean(levels)
    return levels.map { $0 - centre }
  }

  /// Gain in dB by third octave.
  func curve(_ microphone: Int) -> [(frequency: Double, gain: Double)] {
    (-9...7).compactMap { third in
      let centre = 1000 * pow(2, Double(third) / 3)
      let edge = pow(2, 1.0 / 6)
      let inside = frequencies.indices.filter { (centre / edge..<centre * edge).contains(frequencies[$0]) }
      guard !inside.isEmpty else { return nil }
      return (centre, mean(inside.map { levels(parts, $0)[microphone] }))
    }
  }

  /// RMS difference between the coherence measured and that of diffuse sound.
  /// - Parameter delays: to be undone besides those that the device states, in seconds.
  func unevenness(without delays: [Double]? = nil) -> Double {
    let delays = delays.map { zip(known, $0).map { $0 + $1 } } ?? known
    let squares = frequencies.indices.flatMap { bin in
      let powers = (0..<microphones).map { sum(parts, bin, $0, $0).real }
      return pairs(microphones).filter { powers[$0.0] > 0 && powers[$0.1] > 0 }.map { i, j in
        let measured =
          (1 / (powers[i] * powers[j]).squareRoot()) * sum(parts, bin, i, j, without: delays)
        return (measured - model.value(bin, i, j)).squaredMagnitude
      }
    }
    return mean(squares).squareRoot()
  }

  /// Delays in seconds against the median microphone: least squares over the phases of all pairs that are coherent.
  func delays(_ parts: ClosedRange<Int>) -> [Double] {
    let measured = pairDelays(parts)
    // Normal equations of a graph, solved by relaxation.
    var delays = [Double](repeating: 0, count: microphones)
    for _ in 0..<200 {
      for i in 0..<microphones {
        let total = measured.reduce(0) { $0 + $1[i].weight }
        guard total > 0 else { continue }
        delays[i] =
          (0..<microphones).reduce(0) { sum, j in
            sum + measured[i][j].moment + measured[i][j].weight * delays[j]
          } / total
      }
    }
    let centre = median(delays)
    return delays.map { $0 - centre }
  }

  /// How much later each microphone is than each other one, times a weight, and the weight; 0 where a pair is not
  /// coherent. Shape: `[microphone][other]`.
  private func pairDelays(_ parts: ClosedRange<Int>) -> [[(moment: Double, weight: Double)]] {
    let none = [(moment: Double, weight: Double)](repeating: (0, 0), count: microphones)
    var measured = [[(moment: Double, weight: Double)]](repeating: none, count: microphones)
    for bin in frequencies.indices where Thresholds.delayBand.contains(frequencies[bin]) {
      let omega = 2 * Double.pi * frequencies[bin]
      for (i, j) in pairs(microphones) {
        let model = model.value(bin, i, j)
        guard model.magnitude > Thresholds.delayCoherence else { continue }
        let phase = (sum(parts, bin, i, j, without: known) * model.conjugate).phase
        let coherence = model.squaredMagnitude
        let weight = coherence / (1.02 - coherence) * omega * omega
        // A late microphone i lags: the phase is -ω·delay.
        measured[i][j].moment -= weight * phase / omega
        measured[i][j].weight += weight
      }
    }
    for (i, j) in pairs(microphones) { measured[j][i] = (-measured[i][j].moment, measured[i][j].weight) }
    return measured
  }
}

extension ShortTimeSpectra {
  /// Powers and cross spectra, summed over frames. Shape: `[microphone × microphone]`, the lower triangle.
  fileprivate func covariance(_ frames: Range<Int>, bin: Int) -> [Complex] {
    var sum = [Complex](repeating: .zero, count: microphones * microphones)
    for frame in frames {
      for i in 0..<microphones {
        let x = index(frame, i) + bin
        let a = Complex(Double(re[x]), Double(im[x]))
        for j in 0...i {
          let y = index(frame, j) + bin
          sum[i * microphones + j] += a * Complex(Double(re[y]), -Double(im[y]))
        }
      }
    }
    return sum
  }
}
