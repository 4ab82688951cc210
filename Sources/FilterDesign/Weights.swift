import CLapack
import Glibc
import Numerics

/// Complex weights of each designed bin, from which the FIR filters are computed.
/// - Shape: `[frequency][output][microphone]`, flat in that order.
/// - Convention: output = Σ weight × microphone signal, without the modelling delay.
@frozen @usableFromInline package struct Weights: Sendable {
  @usableFromInline package let outputs: Int
  @usableFromInline package let microphones: Int
  @usableFromInline package var values: [Complex]

  package init(frequencies: Int, outputs: Int, microphones: Int) {
    self.outputs = outputs
    self.microphones = microphones
    values = [Complex](repeating: .zero, count: frequencies * outputs * microphones)
  }

  /// The weights of one bin, `[output][microphone]`.
  @inlinable package subscript(bin: Int) -> [Complex] {
    get { Array(values[bin * outputs * microphones..<(bin + 1) * outputs * microphones]) }
    set {
      values.replaceSubrange(bin * outputs * microphones..<(bin + 1) * outputs * microphones, with: newValue)
    }
  }

  /// Truncates the impulse responses of these weights to FIR filters, with the grid's modelling delay and faded ends.
  ///
  /// Above the designed bins the weights have the last bin's magnitude, which rolls off where the array is not known,
  /// and only the modelling delay's phase.
  /// - Parameter keepsSign: whether they have the sign of the last bin's real part there, too, as differences of
  ///   microphones need it.
  package func filters(
    on grid: DesignGrid, keepsSign: Bool = false, step: DesignStep = .unobserved
  ) throws(DesignError) -> Taps<Double> {
    let (designed, rows) = (grid.designedBinCount, outputs * microphones)
    let window = Self.window(on: grid)
    let phasors = (0..<grid.length).map { Complex(phase: 2 * .pi * Double($0) / Double(grid.length)) }
    // Inverse DFT of a real signal: every bin except 0 Hz and the Nyquist frequency counts twice. As products of
    // [row][bin, (real, imaginary)] and [bin, (real, imaginary)][tap].
    var sums = [Double](repeating: 0, count: rows * grid.tapCount)
    let block = 32
    var spectra = [Double](repeating: 0, count: rows * 2 * block)
    var table = [Double](repeating: 0, count: 2 * block * grid.tapCount)
    for first in stride(from: 0, to: grid.binCount, by: block) {
      try step.check()
      let count = min(block, grid.binCount - first)
      for bin in first..<first + count {
        let isEnd = bin == 0 || bin == grid.binCount - 1
        let scale = (isEnd ? 1 : 2) / Double(grid.length)
        let start = min(bin, designed - 1) * rows
        for row in 0..<rows {
          var weight = values[start + row]
          if bin >= designed {
            let level = weight.magnitude * grid.magnitudeAboveDesign(bin)
            weight = Complex(keepsSign && weight.real < 0 ? -level : level, 0)
          }
          spectra[(row * block + bin - first) * 2] = scale * weight.real
          spectra[(row * block + bin - first) * 2 + 1] = isEnd ? 0 : scale * weight.imaginary
        }
      }
      table.withUnsafeMutableBufferPointer { table in
        phasors.withUnsafeBufferPointer { phasors in
          for bin in 0..<count {
            let row = table.baseAddress! + 2 * bin * grid.tapCount
            var at = (grid.length - grid.delayFrames % grid.length) * (first + bin) % grid.length
            for tap in 0..<grid.tapCount {
              (row[tap], row[grid.tapCount + tap]) = (phasors[at].real, -phasors[at].imaginary)
              at += first + bin
              if at >= grid.length { at -= grid.length }
            }
          }
        }
      }
      cblas_dgemm(
        CblasRowMajor, CblasNoTrans, CblasNoTrans, Int32(rows), Int32(grid.tapCount), Int32(2 * count), 1,
        spectra, Int32(2 * block), table, Int32(grid.tapCount), 1, &sums, Int32(grid.tapCount))
    }
    var taps = Taps<Double>(outputs: outputs, microphones: microphones, length: grid.tapCount)
    for row in 0..<rows {
      let start = row * grid.tapCount
      for tap in 0..<grid.tapCount { sums[start + tap] *= window[tap] }
      taps[row / microphones, row % microphones] = sums[start..<start + grid.tapCount]
    }
    return taps
  }

  /// Half-cosine fades at both ends: `[tap]`.
  private static func window(on grid: DesignGrid) -> [Double] {
    var window = [Double](repeating: 1, count: grid.tapCount)
    let (fadeIn, fadeOut) = (grid.fadeInFrames, grid.fadeOutFrames)
    for i in 0..<fadeOut {
      window[grid.tapCount - fadeOut + i] = 0.5 * (1 + cos(.pi * Double(i + 1) / Double(fadeOut + 1)))
    }
    for i in 0..<fadeIn { window[i] *= 0.5 * (1 - cos(.pi * (Double(i) + 0.5) / Double(fadeIn))) }
    return window
  }
}
