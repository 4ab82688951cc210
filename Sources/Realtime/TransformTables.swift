import CRealtime
import Glibc

/// The twiddle factors of all FFTs of a layout. `CRealtime/convolver.h` defines the shapes.
struct TransformTables {
  let rowFFT: pinna_row_fft
  let laneFFT: pinna_lane_fft
  /// Twiddle factors of the tail's FFT. Shape: `[tailTransformSize / 4][6]`.
  let tailTwiddles: UnsafeMutablePointer<Float>
  private let memory: [AlignedMemory]
  private let lastPassOffsets: UnsafeMutablePointer<Int>

  /// Thread: control side.
  init(_ layout: ConvolverLayout) {
    let size = layout.bins
    // Where a quarter of the points does not fill a vector, its factors are repeated.
    let butterflies = max(size / 4, layout.lanes)
    let weighted = Self.table(8, butterflies) { Self.weightedTwiddles($0 % (size / 4), size: size) }
    let first = Self.table(6, butterflies) { Self.twiddles($0 % (size / 4), size: size) }
    let second = Self.table(6, size / 4) { Self.twiddles($0 / 4, size: size / 4) }
    let later = Self.copy(Self.passTwiddles(size: layout.lanes > 4 ? size / 16 : size / 4))
    let weights = Self.table(2, size) { Self.rootRow($0, of: 4 * size) }
    rowFFT = pinna_row_fft(
      size: size, weightedTwiddles: weighted.floats, firstTwiddles: first.floats,
      secondTwiddles: second.floats, laterTwiddles: later.floats, weights: weights.floats)
    let laneWeighted = Self.copy((0..<size / 4).flatMap { Self.weightedTwiddles($0, size: size) })
    let laneTwiddles = Self.copy(Self.passTwiddles(size: size / 4))
    // A last pass of radix 8 reads only the first half.
    lastPassOffsets = .allocate(capacity: size / 4)
    for k in 0..<size / 4 { lastPassOffsets[k] = 2 * Self.digitReversed(k, size: size) }
    laneFFT = pinna_lane_fft(
      size: size, weightedTwiddles: laneWeighted.floats, twiddles: laneTwiddles.floats,
      lastPassOffsets: lastPassOffsets)
    let tailSize = layout.tailTransformSize
    let tail = Self.copy((0..<tailSize / 4).flatMap { Self.twiddles($0, size: tailSize) })
    tailTwiddles = tail.floats
    memory = [weighted, first, second, later, weights, laneWeighted, laneTwiddles, tail]
  }

  /// Thread: control side.
  func free() {
    for block in memory { block.free() }
    lastPassOffsets.deallocate()
  }

  // MARK: - Control side

  /// e^(j2πn/size).
  static func root(_ n: Int, of size: Int) -> (re: Float, im: Float) {
    let angle = 2 * Double.pi * Double(n) / Double(size)
    return (Float(cos(angle)), Float(sin(angle)))
  }

  /// The same, as a row of a table.
  private static func rootRow(_ n: Int, of size: Int) -> [Float] {
    let root = root(n, of: size)
    return [root.re, root.im]
  }

  /// Twiddle factors of butterfly `p`: re and im of w^p, w^2p and w^3p, with w = e^(−j2π/size).
  private static func twiddles(_ p: Int, size: Int) -> [Float] {
    (1...3).flatMap { m in rootRow(-(p * m % size), of: size) }
  }

  /// Twiddle factors of butterfly `p` with the weight v = e^(jπp/(2·size)): v, v·w^p, v·w^2p and v·w^3p.
  private static func weightedTwiddles(_ p: Int, size: Int) -> [Float] {
    (0...3).flatMap { m in rootRow(p - 4 * (p * m % size), of: 4 * size) }
  }

  /// A table with the values of one butterfly in each column. Shape: `[rows][columns]`.
  private static func table(_ rows: Int, _ columns: Int, _ column: (Int) -> [Float]) -> AlignedMemory {
    let table = AlignedMemory(count: rows * columns)
    for n in 0..<columns {
      for (row, value) in column(n).enumerated() { table.floats[row * columns + n] = value }
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
