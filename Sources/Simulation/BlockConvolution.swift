import Realtime

/// Overlap-save convolution of long signals with short filters.
package enum BlockConvolution {
  /// The "valid" part of `signal` ∗ `filter`, where the filter fully overlaps the signal: `signal.count -
  /// filter.count + 1` samples.
  package static func valid(_ signal: [Float], _ filter: [Float]) -> [Float] {
    let count = signal.count - filter.count + 1
    guard count > 0 else { return [] }
    var size = 64
    while size < 4 * filter.count { size *= 2 }
    let fresh = size - filter.count + 1
    let transform = FourierTransform(size: size)
    let memory = (0..<4).map { _ in AlignedMemory(count: size) }
    defer {
      transform.free()
      for block in memory { block.free() }
    }
    let (filterRe, filterIm, re, im) = (
      memory[0].floats, memory[1].floats, memory[2].floats, memory[3].floats
    )
    for (n, tap) in filter.enumerated() { filterRe[n] = tap / Float(size) }
    transform.forward(filterRe, filterIm)
    var result = [Float](repeating: 0, count: count)
    // The filter is real, so one complex FFT convolves two blocks: one in the real part, one in the imaginary part.
    for first in stride(from: 0, to: count, by: 2 * fresh) {
      for n in 0..<size {
        re[n] = first + n < signal.count ? signal[first + n] : 0
        im[n] = first + fresh + n < signal.count ? signal[first + fresh + n] : 0
      }
      transform.forward(re, im)
      for k in 0..<size {
        let (a, b) = (re[k], im[k])
        re[k] = a * filterRe[k] - b * filterIm[k]
        im[k] = a * filterIm[k] + b * filterRe[k]
      }
      // Inverse FFT: the forward FFT with real and imaginary parts swapped.
      transform.forward(im, re)
      for n in 0..<fresh {
        if first + n < count { result[first + n] = re[filter.count - 1 + n] }
        if first + fresh + n < count { result[first + fresh + n] = im[filter.count - 1 + n] }
      }
    }
    return result
  }
}
