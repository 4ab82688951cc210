import Glibc
import Realtime

/// Spectra of overlapping frames of every microphone, up to a highest frequency.
struct ShortTimeSpectra {
  let sampleRate: Double
  /// FFT length: a power of two near 43 ms.
  let length: Int
  let frames: Int
  let microphones: Int
  /// Bins kept, from 0 Hz on.
  let bins: Int
  /// Shape: `[frame][microphone][bin]`.
  private(set) var re: [Float]
  private(set) var im: [Float]

  var binWidth: Double { sampleRate / Double(length) }

  /// - Parameter highest: frequency in hertz.
  init(_ signals: [[Float]], sampleRate: Int, highest: Double) {
    self.sampleRate = Double(sampleRate)
    length = 1 << Int(log2(0.043 * Double(sampleRate)).rounded())
    let hop = length / 2
    microphones = signals.count
    frames = max(0, (signals[0].count - length + hop) / hop)
    bins = min(length / 2, Int(highest * Double(length) / Double(sampleRate)) + 1)
    re = [Float](repeating: 0, count: frames * microphones * bins)
    im = re
    let window = (0..<length).map { Float(0.5 - 0.5 * cos(2 * .pi * Double($0) / Double(length))) }
    let transform = FourierTransform(size: length)
    let (a, b) = (AlignedMemory(count: length), AlignedMemory(count: length))
    defer {
      transform.free()
      a.free()
      b.free()
    }
    // Two real signals per complex FFT.
    for frame in 0..<frames {
      for m in stride(from: 0, to: microphones, by: 2) {
        let second = m + 1 < microphones ? m + 1 : nil
        for n in 0..<length {
          a.floats[n] = window[n] * signals[m][frame * hop + n]
          b.floats[n] = second.map { window[n] * signals[$0][frame * hop + n] } ?? 0
        }
        transform.forward(a.floats, b.floats)
        keep(a.floats, b.floats, at: index(frame, m), second: second.map { index(frame, $0) })
      }
    }
  }

  /// Splits the spectrum of x + jy, and writes that of x at an index, and that of y at another.
  private mutating func keep(
    _ a: UnsafeMutablePointer<Float>, _ b: UnsafeMutablePointer<Float>, at first: Int, second: Int?
  ) {
    for k in 0..<bins {
      let mirrored = (length - k) & (length - 1)
      let (ar, ai, br, bi) = (a[k], b[k], a[mirrored], b[mirrored])
      re[first + k] = 0.5 * (ar + br)
      im[first + k] = 0.5 * (ai - bi)
      guard let second else { continue }
      re[second + k] = 0.5 * (ai + bi)
      im[second + k] = 0.5 * (br - ar)
    }
  }

  @inline(__always) func index(_ frame: Int, _ microphone: Int) -> Int {
    (frame * microphones + microphone) * bins
  }

  func power(_ frame: Int, _ microphone: Int, _ bin: Int) -> Float {
    let at = index(frame, microphone) + bin
    return re[at] * re[at] + im[at] * im[at]
  }

  /// Power of a frame in some bins.
  func power(_ frame: Int, _ microphone: Int, in bins: some Sequence<Int>) -> Float {
    bins.reduce(0) { $0 + power(frame, microphone, $1) }
  }

  /// Real part of the coherence of two microphones over all frames; nil if one is silent.
  func realCoherence(_ i: Int, _ j: Int, bin: Int) -> Double? {
    var (dot, a, b) = (0.0, 0.0, 0.0)
    for frame in 0..<frames {
      let (x, y) = (index(frame, i) + bin, index(frame, j) + bin)
      dot += Double(re[x] * re[y] + im[x] * im[y])
      a += Double(power(frame, i, bin))
      b += Double(power(frame, j, bin))
    }
    return a > 0 && b > 0 ? dot / (a * b).squareRoot() : nil
  }

  /// Magnitude of the coherence of two microphones over some frames. Every frame counts the same, however loud.
  func coherence(_ i: Int, _ j: Int, bin: Int, frames: ArraySlice<Int>) -> Double {
    var (real, imaginary, a, b): (Float, Float, Float, Float) = (0, 0, 0, 0)
    for frame in frames {
      let (x, y) = (index(frame, i) + bin, index(frame, j) + bin)
      let (p, q) = (power(frame, i, bin), power(frame, j, bin))
      let scale = 1 / max(1e-20, p + q)
      real += scale * (re[x] * re[y] + im[x] * im[y])
      imaginary += scale * (im[x] * re[y] - re[x] * im[y])
      a += scale * p
      b += scale * q
    }
    return Double(
      (real * real + imaginary * imaginary).squareRoot() / max(1e-20, (a * b).squareRoot()))
  }

  /// Bins whose frequencies lie within `band`, in hertz.
  func bins(in band: ClosedRange<Double>) -> Range<Int> {
    let first = min(bins, Int((band.lowerBound / binWidth).rounded(.up)))
    return first..<max(first, min(bins, Int(band.upperBound / binWidth) + 1))
  }
}
