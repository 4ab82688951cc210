import CRealtime
import Glibc

/// Twiddles of both transforms of a layout, in one block of memory.
struct TransformTables {
  let rows: pinna_row_transform
  let lanes: pinna_lane_transform
  /// Of 16 partitions of a tail. Shape: `[4][6]`.
  let tail: UnsafeMutablePointer<Float>
  private let memory: [AlignedMemory]
  private let places: UnsafeMutablePointer<Int>

  init(_ layout: Layout) {
    let size = layout.plan.transformSize
    let first = Self.beside(size: size, butterflies: size / 4, repeats: 1)
    let isWide = size >= 16 * layout.lanes
    let second = Self.beside(size: size / 4, butterflies: size / 16, repeats: isWide ? 1 : 4)
    let others = Self.copy(Self.passes(size: isWide || layout.lanes > 4 ? size / 16 : size / 4))
    rows = pinna_row_transform(size: size, first: first.floats, second: second.floats, others: others.floats)
    let half = size / 2
    let turns = Self.copy(Self.passes(size: half))
    let splits = Self.copy(
      (0...half / 2).flatMap { k in
        let angle = Double.pi * Double(k) / Double(half)
        return [Float(cos(angle)), Float(sin(angle))]
      })
    places = .allocate(capacity: half)
    for k in 0..<half { places[k] = 2 * Self.place(k, of: half) }
    lanes = pinna_lane_transform(size: half, turns: turns.floats, splits: splits.floats, places: places)
    let sixteen = Self.copy((0..<4).flatMap { Self.turns($0, size: 16) })
    tail = sixteen.floats
    memory = [first, second, others, turns, splits, sixteen]
  }

  func free() {
    for block in memory { block.free() }
    places.deallocate()
  }

  /// e^(−j2πn/size).
  static func circle(_ size: Int) -> [(re: Float, im: Float)] {
    (0..<size).map { n in
      let angle = 2 * Double.pi * Double(n) / Double(size)
      return (Float(cos(angle)), Float(-sin(angle)))
    }
  }

  /// e^(−j2πpm/size) for m = 1, 2, 3: re and im in turn.
  private static func turns(_ p: Int, size: Int) -> [Float] {
    (1...3).flatMap { m in
      let angle = 2 * Double.pi * Double(p * m % size) / Double(size)
      return [Float(cos(angle)), Float(-sin(angle))]
    }
  }

  /// Shape: `[6][butterflies × repeats]`.
  private static func beside(size: Int, butterflies: Int, repeats: Int) -> AlignedMemory {
    let table = AlignedMemory(count: 6 * butterflies * repeats)
    for p in 0..<butterflies {
      for (row, turn) in turns(p, size: size).enumerated() {
        for n in 0..<repeats { table.floats[(row * butterflies + p) * repeats + n] = turn }
      }
    }
    return table
  }

  /// Shape: `[p][6]` of a pass over `size` points, then of the next over a quarter of them, and so on.
  private static func passes(size: Int) -> [Float] {
    var all: [Float] = []
    var length = size
    while length >= 4 {
      for p in 0..<length / 4 { all += turns(p, size: length) }
      length /= 4
    }
    return all
  }

  private static func copy(_ values: [Float]) -> AlignedMemory {
    let memory = AlignedMemory(count: values.count)
    for (n, value) in values.enumerated() { memory.floats[n] = value }
    return memory
  }

  /// Where bin `k` of `size` stands after decimation in frequency by four, and by eight at the end where need be.
  private static func place(_ k: Int, of size: Int) -> Int {
    if size == 4 { return k }
    if size == 8 { return 4 * (k % 2) + k / 2 }
    return k % 4 * (size / 4) + place(k / 4, of: size / 4)
  }
}
