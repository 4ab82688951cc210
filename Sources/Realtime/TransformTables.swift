import CRealtime
import Glibc

/// The twiddle factors of all FFTs of a layout. `CRealtime/convolver.h` defines the shapes.
struct TransformTables {
  let rowFFT: pinna_row_fft
  let laneFFT: pinna_lane_fft
  /// Twiddle factors of the tail's FFT. Shape: `[tailTransformSize / 4][6]`.
  let tailTwiddles: UnsafeMutablePointer<Float>
  private let memory: [AlignedMemory]
  private let binOffsets: UnsafeMutablePointer<Int>

  /// Thread: control side.
  init(_ layout: ConvolverLayout) {
    let size = layout.plan.transformSize
    let first = Self.unsortedPassTwiddles(size: size, butterflies: size / 4, repeats: 1)
    let isWide = size >= 16 * layout.lanes
    let second = Self.unsortedPassTwiddles(size: size / 4, butterflies: size / 16, repeats: isWide ? 1 : 4)
    let later = Self.copy(Self.passTwiddles(size: isWide || layout.lanes > 4 ? size / 16 : size / 4))
    rowFFT = pinna_row_fft(
      size: size, firstTwiddles: first.floats, secondTwiddles: second.floats, laterTwiddles: later.floats)
    let half = size / 2
    let laneTwiddles = Self.copy(Self.passTwiddles(size: half))
    let splitTwiddles = Self.copy(
      (0...half / 2).flatMap { k in
        let angle = Double.pi * Double(k) / Double(half)
        return [Float(cos(angle)), Float(sin(angle))]
      })
    binOffsets = .allocate(capacity: half)
    for k in 0..<half { binOffsets[k] = 2 * Self.digitReversed(k, size: half) }
    laneFFT = pinna_lane_fft(
      size: half, twiddles: laneTwiddles.floats, splitTwiddles: splitTwiddles.floats, binOffsets: binOffsets)
    let tailSize = layout.tailTransformSize
    let tail = Self.copy((0..<tailSize / 4).flatMap { Self.twiddles($0, size: tailSize) })
    tailTwiddles = tail.floats
    memory = [first, second, later, laneTwiddles, splitTwiddles, tail]
  }

  /// Thread: control side.
  func free() {
    for block in memory { block.free() }
    binOffsets.deallocate()
  }

  // MARK: - Control side

  /// e^(−j2πn/size) for n = 0 ..< size.
  static func rootsOfUnity(_ size: Int) -> [(re: Float, im: Float)] {
    (0..<size).map { n in
      let angle = 2 * Double.pi * Double(n) / Double(size)
      return (Float(cos(angle)), Float(-sin(angle)))
    }
  }

  /// Twiddle factors of butterfly `p`: re and im of e^(−j2πpm/size) for m = 1, 2, 3.
  private static func twiddles(_ p: Int, size: Int) -> [Float] {
    (1...3).flatMap { m in
      let angle = 2 * Double.pi * Double(p * m % size) / Double(size)
      return [Float(cos(angle)), Float(-sin(angle))]
    }
  }

  /// Twiddle factors of an unsorted pass, one per lane. Shape: `[6][butterflies × repeats]`.
  private static func unsortedPassTwiddles(size: Int, butterflies: Int, repeats: Int) -> AlignedMemory {
    let table = AlignedMemory(count: 6 * butterflies * repeats)
    for p in 0..<butterflies {
      for (row, twiddle) in twiddles(p, size: size).enumerated() {
        for n in 0..<repeats { table.floats[(row * butterflies + p) * repeats + n] = twiddle }
      }
    }
    return table
  }

  /// Twiddle factors of a pass over `size` points, then of the next over a quarter of them, and so on. Shape of each:
  /// `[p][6]`.
  private static func passTwiddles(size: Int) -> [Float] {
    var all: [Float] = []
    var length = size
    while length >= 4 {
      for p in 0..<length / 4 { all += twiddles(p, size: length) }
      length /= 4
    }
    return all
  }

  private static func copy(_ values: [Float]) -> AlignedMemory {
    let memory = AlignedMemory(count: values.count)
    for (n, value) in values.enumerated() { memory.floats[n] = value }
    return memory
  }

  /// Index of bin `k` after a decimation-in-frequency FFT in place: radix 4, with a last pass of radix 4 or 8.
  static func digitReversed(_ k: Int, size: Int) -> Int {
    if size == 4 { return k }
    if size == 8 { return 4 * (k % 2) + k / 2 }
    return k % 4 * (size / 4) + digitReversed(k / 4, size: size / 4)
  }
}
