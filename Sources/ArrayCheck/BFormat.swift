import Acoustics
import Glibc

/// Whether four channels are B-format: W, and the three figures of eight X, Y, Z in any order.
///
/// Whatever the directions, and however many waves there are, the squares of X, Y and Z have a constant sum: that of W
/// in SN3D (AmbiX), twice that with the W of the old B-format, 3 dB lower. The capsules of a small array hear low
/// frequencies in phase (or, inverted, in opposite phase), and W and a figure of eight do not.
/// - Source: M. A. Gerzon, Periphony: With-Height Sound Reproduction, JAES 21 (1973); AmbiX (Nachbar et al., 2011).
enum BFormat {
  static let remedy =
    "give the recording of the capsules themselves (A-format), as it was before a converter made B-format of it"

  /// - Parameter signals: one per microphone.
  static func isLikely(_ signals: [[Float]], of device: Device, sampleRate: Int) -> Bool {
    guard signals.count == 4, isSmall(device),
      ChannelHealth(signals[0]).level ?? -.infinity > Thresholds.quiet
    else { return false }
    let spectra = ShortTimeSpectra(
      signals, sampleRate: sampleRate, highest: Thresholds.ambisonicBand.upperBound)
    let bins = spectra.bins(in: Thresholds.ambisonicBand)
    let powers = (0..<spectra.frames).map { frame in
      (0..<4).map { Double(spectra.power(frame, $0, in: bins)) }
    }
    let totals = powers.map { $0.reduce(0, +) }
    let mean = totals.reduce(0, +) / Double(max(1, totals.count))
    let loud = totals.indices.filter { totals[$0] > Double(Thresholds.loudFrame) * mean && powers[$0][0] > 0 }
    guard loud.count >= Thresholds.fewestEvents else { return false }
    // A microphone that is dead makes a ratio, too.
    let levels = (0..<4).map { m in loud.reduce(0) { $0 + powers[$1][m] } }
    guard levels.min()! > Thresholds.leastAmbisonicShare * levels.max()! else { return false }
    let ratio = 10 * log10((levels.reduce(0, +) - levels[0]) / levels[0])
    let deviations = loud.map { 10 * log10((totals[$0] - powers[$0][0]) / powers[$0][0]) - ratio }
    let spread = (deviations.reduce(0) { $0 + $1 * $1 } / Double(loud.count)).squareRoot()
    let isConstant =
      spread < Thresholds.ambisonicSpread
      && [0, 10 * log10(2)].contains { abs(ratio - $0) < Thresholds.ambisonicRatio }
    let coherences = (1..<4).map { coherence(spectra, bins, loud, $0) }
    return isConstant && coherences.map(abs).min()! < Thresholds.ambisonicCoherence
  }

  /// Whether the capsules hear low frequencies in phase.
  private static func isSmall(_ device: Device) -> Bool {
    let positions = device.microphones.map(\.position)
    return positions.allSatisfy { a in positions.allSatisfy { (a - $0).length < Thresholds.ambisonicExtent } }
  }

  /// Of the first channel and another, over all loud frames: −1…1.
  private static func coherence(
    _ spectra: ShortTimeSpectra, _ bins: Range<Int>, _ frames: [Int], _ other: Int
  )
    -> Double
  {
    var (dot, a, b) = (0.0, 0.0, 0.0)
    for frame in frames {
      let (x, y) = (spectra.index(frame, 0), spectra.index(frame, other))
      for bin in bins {
        dot += Double(spectra.re[x + bin] * spectra.re[y + bin] + spectra.im[x + bin] * spectra.im[y + bin])
      }
      a += Double(spectra.power(frame, 0, in: bins))
      b += Double(spectra.power(frame, other, in: bins))
    }
    return dot / max(1e-30, a * b).squareRoot()
  }
}

extension ArrayCheck {
  /// Why a recording is probably no recording of microphones, as a sentence; nil if it may be one.
  /// - Parameter signals: shape `[microphone][frame]`; some seconds are enough.
  public static func doubt(about signals: [[Float]], of device: Device, sampleRate: Int) -> String? {
    guard BFormat.isLikely(signals, of: device, sampleRate: sampleRate) else { return nil }
    let finding = Wording(names: device.microphones.map(\.name)).bFormat(device.name)
    return "\(finding.sentence): \(finding.remedy)"
  }
}
