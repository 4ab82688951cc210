import Glibc

/// Interpolates the spectrum of a short impulse response between the frequencies 0, width, 2·width … N·width.
///
/// The impulse response has 2N samples, a quarter of them before time zero. At the last frequency only the real part of
/// the spectrum is used.
package struct SpectrumInterpolation {
  package let count: Int
  package let width: Double

  /// - Parameters:
  ///   - count: N.
  ///   - width: frequency spacing in hertz.
  package init(count: Int, width: Double) {
    self.count = count
    self.width = width
  }

  /// The real matrix that interpolates to `frequencies`. Above the last known frequency the spectrum is held constant.
  /// - Returns: row-major. Rows: real and imaginary part of each frequency in turn. Columns: all real parts of the
  ///   known spectrum, then all imaginary parts.
  package func matrix(frequencies: [Double]) -> [Double] {
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
    // The centre of the samples is at N/2 − 1/2.
    return mean * Complex(phase: -2 * half * (Double(count) / 2 - 0.5))
  }
}
