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
    let wanted = log2(0.043 * Double(sampleRate)).rounded()
    length = 1 << Int(wanted)
    let hop = length / 2
    microphones = signals.count
    frames = max(0, (signals[0].count - length) / hop + 1)
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
        let hasSecond = m + 1 < microphones
        for n in 0..<length {
          a.floats[n] = window[n] * signals[m][frame * hop + n]
          b.floats[n] = hasSecond ? window[n] * signals[m + 1][frame * hop + n] : 0
        }
        transform.forward(a.floats, b.floats)
        let at = (frame * microphones + m) * bins
        for k in 0..<bins {
          let mirrored = (length - k) & (length - 1)
          let (ar, ai, br, bi) = (a.floats[k], b.floats[k], a.floats[mirrored], b.floats[mirrored])
          re[at + k] = 0.5 * (ar + br)
          im[at + k] = 0.5 * (ai - bi)
          if hasSecond {
            re[at + bins + k] = 0.5 * (ai + bi)
            im[at + bins + k] = 0.5 * (br - ar)
          }
        }
      }
    }
  }

  @inline(__always) func index(_ frame: Int, _ microphone: Int) -> Int {
    (frame * microphones + microphone) * bins
  }

  func power(_ frame: Int, _ microphone: Int, _ bin: Int) -> Float {
    let at = index(frame, microphone) + bin
    return re[at] * re[at] + im[at] * im[at]
  }

  /// Bins whose frequencies lie within `band`, in hertz.
  func bins(in band: ClosedRange<Double>) -> Range<Int> {
    let first = min(bins, Int((band.lowerBound / binWidth).rounded(.up)))
    return first..<max(first, min(bins, Int(band.upperBound / binWidth) + 1))
  }
}
