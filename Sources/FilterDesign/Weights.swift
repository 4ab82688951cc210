import Glibc
import Numerics

/// Complex weights of each designed bin, from which the FIR filters are computed.
/// - Shape: `[frequency][output][microphone]`, flat in that order.
/// - Convention: output = Σ weight × microphone signal, without the modelling delay.
package struct Weights: Sendable {
  package let outputs: Int
  package let microphones: Int
  package var values: [Complex]

  package init(frequencies: Int, outputs: Int, microphones: Int) {
    self.outputs = outputs
    self.microphones = microphones
    values = [Complex](repeating: .zero, count: frequencies * outputs * microphones)
  }

  /// The weights of one bin, `[output][microphone]`.
  package subscript(bin: Int) -> [Complex] {
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
    let designed = grid.designedBinCount
    let window = Self.window(on: grid)
    let phasors = (0..<grid.length).map { Complex(phase: 2 * .pi * Double($0) / Double(grid.length)) }
    var taps = Taps<Double>(outputs: outputs, microphones: microphones, length: grid.tapCount)
    for output in 0..<outputs {
      for microphone in 0..<microphones {
        try step.check()
        let spectrum = (0..<grid.binCount).map { bin in
          let weight = values[(min(bin, designed - 1) * outputs + output) * microphones + microphone]
          guard bin >= designed else { return weight }
          let level = weight.magnitude * grid.magnitudeAboveDesign(bin)
          return Complex(keepsSign && weight.real < 0 ? -level : level, 0)
        }
        let filter = (0..<grid.tapCount).map { tap in
          // Inverse DFT of a real signal: every bin except 0 Hz and the Nyquist frequency counts twice.
          let time = (tap - grid.delayFrames + grid.length) % grid.length
          var sum = spectrum[0].real + spectrum[grid.binCount - 1].real * (time % 2 == 0 ? 1 : -1)
          for bin in 1..<grid.binCount - 1 {
            let phasor = phasors[bin * time % grid.length]
            sum += 2 * (spectrum[bin].real * phasor.real - spectrum[bin].imaginary * phasor.imaginary)
          }
          return sum / Double(grid.length) * window[tap]
        }
        taps[output, microphone] = filter[...]
      }
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
