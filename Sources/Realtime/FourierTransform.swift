import Glibc

/// Complex FFT of a power-of-two size on split real and imaginary parts. The process callback does not use it; the
/// kernels have their own FFTs.
///
/// Forward FFT: X[k] = Σ x[n] e^(−j2πkn/N), unscaled. Inverse FFT: swap real and imaginary parts.
/// - Source: Stockham's self-sorting radix-2 form, as in Van Loan, Computational Frameworks for the Fast
///   Fourier Transform (1992), ch. 1.7.
package struct FourierTransform {
  package let size: Int
  /// cos and −sin of 2πk/size, k < size/2.
  private let cosines: AlignedMemory
  private let sines: AlignedMemory
  private let scratch: AlignedMemory

  /// Thread: any but the callback's.
  package init(size: Int) {
    precondition(size >= 16 && size & (size - 1) == 0, "transform size must be a power of two from 16 on")
    self.size = size
    cosines = AlignedMemory(count: size / 2)
    sines = AlignedMemory(count: size / 2)
    scratch = AlignedMemory(count: 2 * size)
    for k in 0..<size / 2 {
      let angle = 2 * Double.pi * Double(k) / Double(size)
      cosines.floats[k] = Float(cos(angle))
      sines.floats[k] = Float(-sin(angle))
    }
  }

  /// Thread: any but the callback's.
  package func free() {
    cosines.free()
    sines.free()
    scratch.free()
  }

  /// Forward FFT in place. For the inverse FFT, swap the arguments.
  ///
  /// Thread: any; one at a time, since calls share the scratch memory.
  /// - Parameters:
  ///   - re: real parts, in `AlignedMemory`.
  ///   - im: imaginary parts, in `AlignedMemory`.
  @_noLocks @_noAllocation
  package func forward(_ re: UnsafeMutablePointer<Float>, _ im: UnsafeMutablePointer<Float>) {
    var fromRe = re
    var fromIm = im
    var toRe = scratch.floats
    var toIm = scratch.floats + size
    var blocks = size / 2
    var width = 1
    while blocks >= 1 {
      if width >= 8 {
        pass(blocks, width, fromRe, fromIm, toRe, toIm)
      } else {
        narrowPass(blocks, width, fromRe, fromIm, toRe, toIm)
      }
      swap(&fromRe, &toRe)
      swap(&fromIm, &toIm)
      blocks >>= 1
      width <<= 1
    }
    if fromRe != re {
      re.copy(from: fromRe, count: size)
      im.copy(from: fromIm, count: size)
    }
  }

  /// One radix-2 pass: `blocks` butterflies over runs of `width` neighbouring values, eight at a time.
  ///
  /// Thread: any.
  @_noLocks @_noAllocation
  private func pass(
    _ blocks: Int, _ width: Int, _ xr: UnsafeMutablePointer<Float>, _ xi: UnsafeMutablePointer<Float>,
    _ yr: UnsafeMutablePointer<Float>, _ yi: UnsafeMutablePointer<Float>
  ) {
    var p = 0
    while p < blocks {
      let wr = Lanes(repeating: cosines.floats[p &* width])
      let wi = Lanes(repeating: sines.floats[p &* width])
      let ar = (xr + p &* width).lanes
      let ai = (xi + p &* width).lanes
      let br = (xr + (p &+ blocks) &* width).lanes
      let bi = (xi + (p &+ blocks) &* width).lanes
      let sr = (yr + 2 &* p &* width).lanes
      let si = (yi + 2 &* p &* width).lanes
      let dr = (yr + (2 &* p &+ 1) &* width).lanes
      let di = (yi + (2 &* p &+ 1) &* width).lanes
      var q = 0
      while q < width / 8 {
        let differenceRe = ar[q] - br[q]
        let differenceIm = ai[q] - bi[q]
        sr[q] = ar[q] + br[q]
        si[q] = ai[q] + bi[q]
        dr[q] = differenceRe * wr - differenceIm * wi
        di[q] = differenceRe * wi + differenceIm * wr
        q &+= 1
      }
      p &+= 1
    }
  }

  /// The first three passes, whose runs are shorter than a vector.
  ///
  /// Thread: any.
  @_noLocks @_noAllocation
  private func narrowPass(
    _ blocks: Int, _ width: Int, _ xr: UnsafeMutablePointer<Float>, _ xi: UnsafeMutablePointer<Float>,
    _ yr: UnsafeMutablePointer<Float>, _ yi: UnsafeMutablePointer<Float>
  ) {
    var p = 0
    while p < blocks {
      let wr = cosines.floats[p &* width]
      let wi = sines.floats[p &* width]
      var q = 0
      while q < width {
        let a = p &* width &+ q
        let b = a &+ blocks &* width
        let sum = 2 &* p &* width &+ q
        let differenceRe = xr[a] - xr[b]
        let differenceIm = xi[a] - xi[b]
        yr[sum] = xr[a] + xr[b]
        yi[sum] = xi[a] + xi[b]
        yr[sum &+ width] = differenceRe * wr - differenceIm * wi
        yi[sum &+ width] = differenceRe * wi + differenceIm * wr
        q &+= 1
      }
      p &+= 1
    }
  }
}
