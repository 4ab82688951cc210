import Foundation

/// Spectra of short impulse responses between the frequencies at which they are known: 0, width, 2·width … N·width.
///
/// The impulse response has 2N samples, of which a quarter lie before time zero; the spectrum at the last
/// frequency counts by its real part.
struct SpectrumInterpolation {
  let count: Int
  let width: Double

  /// Real rows, (real, imaginary) of each of `frequencies`, times real columns: the real parts of the known
  /// spectrum, then the imaginary parts. Above the last known frequency the spectrum stays as it is there.
  func matrix(frequencies: [Double]) -> [Double] {
    let columns = 2 * (count + 1)
    var matrix = [Double](repeating: 0, count: 2 * frequencies.count * columns)
    for (f, frequency) in frequencies.enumerated() {
      let position = min(frequency / width, Double(count))
      for i in 0...count {
        let near = kernel(position - Double(i))
        let mirrored = i == 0 || i == count ? .zero : kernel(position + Double(i))
        let (sum, difference) = (near + mirrored, near - mirrored)
        let row = 2 * f * columns
        matrix[row + i] = sum.real
        matrix[row + columns + i] = sum.imaginary
        guard i > 0, i < count else { continue }
        matrix[row + count + 1 + i] = -difference.imaginary
        matrix[row + columns + count + 1 + i] = difference.real
      }
    }
    return matrix
  }

  /// Mean of e^(−jπxn/N) over the samples n = −N/2 ..< 3N/2.
  private func kernel(_ x: Double) -> Complex {
    let length = Double(2 * count)
    let half = Double.pi * x / length
    let mean =
      abs(sin(half)) < 1e-12
      ? cos(half * (length - 1)) / cos(half) : sin(half * length) / (length * sin(half))
    // The samples' centre is at N/2 − 1/2.
    return mean * Complex(phase: -2 * half * (Double(count) / 2 - 0.5))
  }
}
