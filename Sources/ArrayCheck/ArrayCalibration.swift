import Acoustics
import Foundation
import Manifolds
import Numerics

/// How the microphones of an array deviate from its device file, measured in sound from all around.
///
/// Thread: any; the calling thread computes, and calls `progress`.
public struct ArrayCalibration: Sendable {
  public struct Microphone: Sendable {
    public let name: String
    /// What the filters are to undo, on top of what the device file states.
    public let deviation: Deviation
    /// Standard error of the gain in dB, from parts of the recording.
    public let gainError: Double
    /// Measured delay against the median microphone, and its standard error, in seconds; whether or not it counts.
    public let delay: (value: Double, error: Double)
    /// Gain by frequency in dB.
    public let curve: [(frequency: Double, gain: Double)]
  }

  public let device: Device
  public let microphones: [Microphone]
  /// How much of the recording's coherence the model of diffuse sound leaves unexplained, RMS, 0…1.
  public let unevenness: Double
  public let calibration: Calibration
  /// RMS of the microphones' gains in dB, as they are and with the calibration undone; by the second half of the
  /// recording when only the first half is used.
  public let spread: (before: Double, after: Double)

  /// Unevenness from which on sound does not count as diffuse.
  static let unevenLimit = 0.22
  /// In seconds.
  static let leastDuration = 5.0
  /// Delays count from here on, in seconds, if they are larger than `significance` standard errors.
  static let leastDelay = 5e-6
  static let significance = 4.0
  /// In seconds: phases up to 3 kHz tell delays of less than 167 µs apart.
  static let mostDelay = 140e-6
  private static let parts = 8
  private static let gainBand = 200.0...4000.0
  private static let bodyBand = 200.0...2000.0
  fileprivate static let delayBand = 100.0...3000.0
  private static let leastCoherence = 0.4

  /// - Parameters:
  ///   - signals: shape `[microphone][frame]`, full scale is 1.
  ///   - date: the day of the measurement.
  /// - Throws: `ArrayCheckError` with the reason why nothing can be estimated, and what to do.
  public init(
    of device: Device, signals: [[Float]], sampleRate: Int, date: String,
    progress: (@Sendable (Double) -> Void)? = nil
  ) throws(ArrayCheckError) {
    // An earlier calibration is replaced, not refined.
    let device = device.with(calibration: nil)
    guard device.microphones.count > 1 else {
      throw ArrayCheckError("\(device.name) has one microphone, which there is nothing to compare with")
    }
    let signals = try ArrayCheck.checked(signals, device, sampleRate)
    guard Double(signals[0].count) >= Self.leastDuration * Double(sampleRate) else {
      throw ArrayCheckError("the recording is shorter than 5 s; record 20 s of sound from all around")
    }
    let verdict = try ArrayCheck.verdict(on: signals, of: device, sampleRate: sampleRate, progress: progress)
    let obstacles: [Finding.Kind] = [.dead, .clipped, .doubled, .swapped, .permuted]
    if let finding = verdict.findings.first(where: {
      obstacles.contains($0.kind) || $0.kind == .inverted && $0.isOneOf
    }) {
      throw ArrayCheckError("\(finding.sentence): \(finding.remedy); then calibrate")
    }
    let manifold: any ArrayManifold
    do { manifold = try Manifolds.manifold(for: device, progress: progress) } catch {
      throw ArrayCheckError(error.description)
    }
    let count = device.microphones.count
    let inverted = verdict.findings.filter { $0.kind == .inverted && !$0.isOneOf }.flatMap(\.microphones)
    let known = device.microphones.map(\.deviation)
    let undone = signals.indices.map { m in
      let mean = signals[m].reduce(0.0) { $0 + Double($1) } / Double(signals[m].count)
      let factor = Float((inverted.contains(m) ? -1 : 1) / known[m].factor)
      return signals[m].map { factor * ($0 - Float(mean)) }
    }
    let spectra = ShortTimeSpectra(undone, sampleRate: sampleRate, highest: 4200)
    let gainBand = device.body == .free ? Self.gainBand : Self.bodyBand
    let bins = Array(
      spectra.bins(in: Self.delayBand.lowerBound...min(gainBand.upperBound, 0.42 * Double(sampleRate))))
    let frequencies = bins.map { Double($0) * spectra.binWidth }
    let diffuse = DiffuseCoherence(manifold, frequencies: frequencies)
    let sums = PartSums(spectra, bins: bins, parts: Self.parts)

    unevenness = sums.unevenness(diffuse, delays: known.map(\.delay), frequencies: frequencies)
    let delay = sums.delays(
      Array(0..<Self.parts), diffuse, frequencies, known: known.map(\.delay), least: Self.leastCoherence)
    // A late microphone alone makes diffuse sound look uneven.
    let evened = sums.unevenness(
      diffuse, delays: zip(known, delay).map { $0.delay + $1 }, frequencies: frequencies)
    let latest = delay.indices.max { abs(delay[$0]) < abs(delay[$1]) } ?? 0
    if abs(delay[latest]) > Self.mostDelay, evened < Self.unevenLimit {
      throw ArrayCheckError(
        "\(device.microphones[latest].name) is \(Int((delay[latest] * 1e6).rounded())) µs late, more than can be measured for "
          + "sure (\(Int(Self.mostDelay * 1e6)) µs): look for what delays its channel, such as another converter; then calibrate"
      )
    }
    guard unevenness < Self.unevenLimit else {
      throw ArrayCheckError(
        "the sound came from too few directions to calibrate with (unevenness \(Self.rounded(unevenness)), limit "
          + "\(Self.rounded(Self.unevenLimit))): record 20 s of noise from all around, such as a busy street, rain or a "
          + "running tap, or walk around the array with a hissing radio; one talker is not enough")
    }
    let gainBins = frequencies.indices.filter { gainBand.contains(frequencies[$0]) }
    let gains = (0..<Self.parts).map { sums.gains([$0], gainBins, diffuse) }
    let all = sums.gains(Array(0..<Self.parts), gainBins, diffuse)
    let halves = [0..<Self.parts / 2, Self.parts / 2..<Self.parts].map {
      sums.gains(Array($0), gainBins, diffuse)
    }
    let delays = (0..<Self.parts).map {
      sums.delays([$0], diffuse, frequencies, known: known.map(\.delay), least: Self.leastCoherence)
    }
    func error(_ values: [Double]) -> Double {
      let mean = mean(values)
      let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count - 1)
      return (variance / Double(values.count)).squareRoot()
    }
    microphones = (0..<count).map { m in
      let delayError = error(delays.map { $0[m] })
      let isLate = abs(delay[m]) > Self.leastDelay && abs(delay[m]) > Self.significance * delayError
      return Microphone(
        name: device.microphones[m].name,
        deviation: Deviation(
          gain: Decibels((all[m] * 100).rounded() / 100),
          delay: isLate ? (delay[m] * 1e7).rounded() / 1e7 : 0,
          isInverted: inverted.contains(m)),
        gainError: error(gains.map { $0[m] }), delay: (delay[m], delayError),
        curve: sums.curve(m, diffuse, frequencies))
    }
    self.device = device
    spread = (Self.rms(all), Self.rms(zip(halves[1], halves[0]).map { $0 - $1 }))
    let seconds = Int((Double(signals[0].count) / Double(sampleRate)).rounded())
    calibration = Calibration(
      deviations: Dictionary(uniqueKeysWithValues: microphones.map { ($0.name, $0.deviation) }), date: date,
      method: "\(seconds) s of diffuse sound")
  }

  /// Around the mean.
  private static func rms(_ values: [Double]) -> Double {
    let centre = mean(values)
    return (values.reduce(0) { $0 + ($1 - centre) * ($1 - centre) } / Double(max(1, values.count)))
      .squareRoot()
  }

  private static func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}

/// Powers and cross spectra of all pairs, summed over parts of a recording.
private struct PartSums {
  let microphones: Int
  let bins: Int
  /// Shape: `[part][bin][microphone × microphone]`.
  let covariances: [[[Complex]]]

  init(_ spectra: ShortTimeSpectra, bins: [Int], parts: Int) {
    microphones = spectra.microphones
    self.bins = bins.count
    let count = spectra.microphones
    covariances = (0..<parts).map { part in
      let frames = part * spectra.frames / parts..<(part + 1) * spectra.frames / parts
      return bins.map { bin in
        var sum = [Complex](repeating: .zero, count: count * count)
        for frame in frames {
          for i in 0..<count {
            let x = spectra.index(frame, i) + bin
            let a = Complex(Double(spectra.re[x]), Double(spectra.im[x]))
            for j in 0...i {
              let y = spectra.index(frame, j) + bin
              sum[i * count + j] += a * Complex(Double(spectra.re[y]), -Double(spectra.im[y]))
            }
          }
        }
        return sum
      }
    }
  }

  private func sum(_ parts: [Int], _ bin: Int, _ i: Int, _ j: Int) -> Complex {
    parts.reduce(.zero) { $0 + covariances[$1][bin][i * microphones + j] }
  }

  /// Gains in dB against the median microphone: means over frequency of levels against the model's.
  func gains(_ parts: [Int], _ bins: [Int], _ diffuse: DiffuseCoherence) -> [Double] {
    let levels = bins.map { bin in self.levels(parts, bin, diffuse) }
    let gains = (0..<microphones).map { m in mean(levels.map { $0[m] }) }
    let centre = median(gains)
    return gains.map { $0 - centre }
  }

  private func levels(_ parts: [Int], _ bin: Int, _ diffuse: DiffuseCoherence) -> [Double] {
    let levels = (0..<microphones).map { m in
      10 * log10(max(1e-20, sum(parts, bin, m, m).real / diffuse.powers[bin][m]))
    }
    let centre = mean(levels)
    return levels.map { $0 - centre }
  }

  /// Gain by third octave.
  func curve(_ microphone: Int, _ diffuse: DiffuseCoherence, _ frequencies: [Double])
    -> [(frequency: Double, gain: Double)]
  {
    let all = Array(covariances.indices)
    return (-9...7).compactMap { third in
      let centre = 1000 * pow(2, Double(third) / 3)
      let edge = pow(2, 1.0 / 6)
      let inside = frequencies.indices.filter { (centre / edge..<centre * edge).contains(frequencies[$0]) }
      guard !inside.isEmpty else { return nil }
      return (centre, mean(inside.map { levels(all, $0, diffuse)[microphone] }))
    }
  }

  /// RMS difference between the coherence measured and that of diffuse sound.
  func unevenness(_ diffuse: DiffuseCoherence, delays: [Double], frequencies: [Double]) -> Double {
    let all = Array(covariances.indices)
    var (squares, count) = (0.0, 0.0)
    for bin in 0..<bins {
      let powers = (0..<microphones).map { sum(all, bin, $0, $0).real }
      for i in 0..<microphones {
        for j in 0..<i where powers[i] > 0 && powers[j] > 0 {
          let turn = Complex(phase: 2 * .pi * frequencies[bin] * (delays[i] - delays[j]))
          let measured = (1 / (powers[i] * powers[j]).squareRoot()) * (turn * sum(all, bin, i, j))
          squares += (measured - diffuse.value(bin, i, j)).squaredMagnitude
          count += 1
        }
      }
    }
    return (squares / max(1, count)).squareRoot()
  }

  /// Delays in seconds against the median microphone: least squares over the phases of all pairs that are coherent.
  func delays(
    _ parts: [Int], _ diffuse: DiffuseCoherence, _ frequencies: [Double], known: [Double], least: Double
  ) -> [Double] {
    // Weighted pairwise delays, then the delays that fit them: normal equations of a graph, solved by relaxation.
    var weight = [Double](repeating: 0, count: microphones * microphones)
    var moment = weight
    for bin in 0..<bins where ArrayCalibration.delayBand.contains(frequencies[bin]) {
      let omega = 2 * Double.pi * frequencies[bin]
      for i in 0..<microphones {
        for j in 0..<i {
          let model = diffuse.value(bin, i, j)
          guard model.magnitude > least else { continue }
          let turn = Complex(phase: omega * (known[i] - known[j]))
          let phase = (turn * sum(parts, bin, i, j) * model.conjugate).phase
          let coherence = model.squaredMagnitude
          let importance = coherence / (1.02 - coherence) * omega * omega
          // A late microphone i lags: the phase is -ω·delay.
          moment[i * microphones + j] += importance * -phase / omega
          weight[i * microphones + j] += importance
        }
      }
    }
    var delays = [Double](repeating: 0, count: microphones)
    for _ in 0..<200 {
      for i in 0..<microphones {
        var (sum, total) = (0.0, 0.0)
        for j in 0..<microphones where j != i {
          let (a, b, sign) = i > j ? (i, j, 1.0) : (j, i, -1.0)
          let w = weight[a * microphones + b]
          guard w > 0 else { continue }
          sum += w * delays[j] + sign * moment[a * microphones + b]
          total += w
        }
        if total > 0 { delays[i] = sum / total }
      }
    }
    let centre = median(delays)
    return delays.map { $0 - centre }
  }
}
