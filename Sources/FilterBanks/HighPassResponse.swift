import Acoustics
import Glibc

/// The high-pass of the outputs as an impulse response, for programs without one, or with one of single precision, which
/// is 84 dB away from Pinna's at 80 Hz.
///
/// The same filter as the engine's: Butterworth, second order, by the bilinear transform, prewarped at the corner (Zölzer,
/// *Digital Audio Signal Processing*, 2nd ed., table 5.2).
struct HighPassResponse {
  /// Numerator: `scale`, −2 `scale`, `scale`.
  private let scale: Double
  /// Denominator: 1, `a1`, `a2`.
  private let a1: Double
  private let a2: Double
  /// Frames after which it has decayed to −140 dB.
  let frames: Int

  /// - Parameter sampleRate: in hertz.
  init(corner: Hertz, sampleRate: Int) {
    let k = tan(Double.pi * corner.value / Double(sampleRate))
    scale = 1 / (1 + 2.squareRoot() * k + k * k)
    a1 = 2 * (k * k - 1) * scale
    a2 = (1 - 2.squareRoot() * k + k * k) * scale
    // The poles have the radius √a2.
    frames = Int((log(1e-7) / log(a2.squareRoot())).rounded(.up))
  }

  /// `taps` with the high-pass behind them; longer by `frames`.
  func applied(to taps: [Float]) -> [Float] {
    var (first, second) = (0.0, 0.0)
    return (0..<taps.count + frames).map { n in
      let scaled = n < taps.count ? Double(taps[n]) * scale : 0
      let output = scaled + first
      first = second - 2 * scaled - output * a1
      second = scaled - output * a2
      return Float(output)
    }
  }
}
