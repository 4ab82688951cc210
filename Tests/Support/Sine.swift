import Foundation

/// Closed forms of sines, for comparison with simulated signals.
public enum Sine {
  /// `amplitude * sin(2π f (t + shift))` at t = n / rate.
  public static func samples(
    frequency: Double, rate: Int, count: Int, shift: Double = 0, amplitude: Double = 1
  ) -> [Float] {
    (0..<count).map { n in
      Float(amplitude * sin(2 * .pi * frequency * (Double(n) / Double(rate) + shift)))
    }
  }

  /// The phase of `frequency` in `signal`, in radians, with a Hann window.
  public static func phase(of frequency: Double, in signal: ArraySlice<Float>, rate: Int) -> Double {
    var (real, imaginary) = (0.0, 0.0)
    for (n, value) in zip(signal.indices, signal) {
      let place: Double = (Double(n - signal.startIndex) + 0.5) / Double(signal.count)
      let window: Double = 1 - cos(2 * .pi * place)
      let angle: Double = 2 * .pi * frequency * Double(n) / Double(rate)
      real += window * Double(value) * cos(angle)
      imaginary -= window * Double(value) * sin(angle)
    }
    return atan2(imaginary, real)
  }
}

/// The RMS of `a - b` relative to the RMS of `b`, in dB.
public func errorLevel(_ a: some Collection<Float>, _ b: some Collection<Float>) -> Double {
  precondition(a.count == b.count, "signals of equal length")
  let error = zip(a, b).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) }
  let reference = b.reduce(0.0) { $0 + pow(Double($1), 2) }
  return 10 * log10(error / reference)
}

/// The delay, in frames up to 8192, at which `heard` fits `expected` best, by 512 frames of it from 4096 on.
public func bestDelay(of expected: [Float], in heard: [Float]) -> Int {
  let fits = (0...8192).map { (delay: Int) -> Double in
    (4096..<4608).reduce(0.0) { $0 + Double(expected[$1]) * Double(heard[$1 + delay]) }
  }
  return fits.indices.max { fits[$0] < fits[$1] }!
}

/// The RMS in dB relative to 1.
public func level(_ signal: some Collection<Float>) -> Double {
  10 * log10(signal.reduce(0.0) { $0 + pow(Double($1), 2) } / Double(signal.count))
}
