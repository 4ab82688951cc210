import Glibc

/// The model by which a layout is chosen: the time of one period from what is computed and what is read from beyond the
/// caches. The constants were fitted to measurements on one processor (docs/performance.md). Elsewhere times differ, but a
/// layout that computes and reads less is faster there, too.
extension ConvolverLayout {
  package struct Cost: Sendable {
    /// Vectors multiplied for products, counted as four per complex product. With 32 registers it is three: the time per
    /// vector allows for it.
    package var products = 0.0
    /// Vectors that the transforms over time compute, one per pass of radix 2.
    package var transforms = 0.0
    /// Vectors that the transforms over partitions compute, counted likewise.
    package var tailTransforms = 0.0
    /// Bytes read from beyond the second-level cache.
    package var streamedBytes = 0.0
    /// Bytes of these that come from beyond this engine's share of the last one.
    package var memoryBytes = 0.0
    /// In microseconds.
    package var time = 0.0
  }

  /// Times that depend on the length of vectors, in nanoseconds.
  private struct VectorTimes {
    /// Per vector.
    let product, row, inverse, lane, tail: Double
    /// Additional time per vector of products without pairing, where each filter vector is loaded for one period only.
    let unsharedLoad: Double
    /// Additional time per transform of one microphone's row, and of one group of microphones.
    let rowOverhead, groupOverhead: Double

    init(lanes: Int) {
      switch lanes {
      case 16:
        (product, row, inverse, lane, tail) = (0.24, 1.5, 1.3, 1.7, 1.55)
        (unsharedLoad, rowOverhead, groupOverhead) = (0, 20, 0)
      case 8:  // with AVX2 and AVX-512
        (product, row, inverse, lane, tail) = (0.14, 0.8, 0.65, 0.7, 1.05)
        (unsharedLoad, rowOverhead, groupOverhead) = (0.06, 5, 40)
      default:
        (product, row, inverse, lane, tail) = (0.19, 0.85, 0.6, 0.75, 0.97)
        (unsharedLoad, rowOverhead, groupOverhead) = (0, 7, 0)
      }
    }
  }

  /// Other times, in nanoseconds.
  private enum Time {
    /// Per period, per microphone and per unit, whatever is computed.
    static let period = 105.0
    static let microphone = 8.0
    static let unit = 4.0
    /// Per byte from beyond the second-level cache: 100 GB/s.
    static let streamedByte = 0.01
    /// Additional time per byte from memory.
    static let memoryByte = 0.01
  }

  /// Factors on the time of transforms whose work areas exceed the first-level cache.
  private enum BeyondFirstLevel {
    static let inverse = 1.25
    static let lane = 1.3
  }

  /// Factor on the time of rows of 16 points, which the kernels of 8 lanes transform two at a time.
  private static let twoRowsOf16 = 0.8

  /// Part of the shorter of computing and reading that the longer one does not hide.
  private static let exposedPart = 0.3

  // MARK: - Any thread

  /// - Parameter pairs: how many pairs of outputs all feeds have.
  package func cost(_ caches: ProcessorCaches, pairs: Int = 1) -> Cost {
    var cost = Cost()
    let vector = VectorTimes(lanes: lanes)
    let vectorBytes = 4 * lanes
    let size = plan.windowFrames
    let firstLevel = caches.bytes[1] ?? 32 << 10

    // Four multiplications per complex product, two outputs of each pair. In one period the tail computes 2 · block frequencies of one in
    // `block` units.
    cost.products = Double(8 * pairs * units * groups * (headPartitions + 2 * blocks))
    var time = vector.product * cost.products
    if !pairsPeriods { time += vector.unsharedLoad * cost.products }

    let rows = lanesAreMicrophones ? 0 : plan.microphones
    let rowVectors = Double(bins) / Double(lanes) * log2(Double(bins))
    // Rows of real and imaginary parts: spectrum, work and scratch.
    let inverseFits = 6 * bins * 4 <= firstLevel
    let laneVectors = lanesAreMicrophones ? Double(groups * bins) * log2(Double(bins)) : 0
    let lanesFit = size * vectorBytes <= firstLevel
    cost.transforms = rowVectors * Double(rows + 2 * pairs) + laneVectors
    time += vector.row * rowVectors * Double(rows) * (bins == 16 && lanes == 8 ? Self.twoRowsOf16 : 1)
    time += vector.inverse * 2 * Double(pairs) * rowVectors * (inverseFits ? 1 : BeyondFirstLevel.inverse)
    time += vector.lane * laneVectors * (lanesFit ? 1 : BeyondFirstLevel.lane)
    if block > 0 {
      cost.tailTransforms = Double(2 * units * (groups + 2 * pairs)) * log2(Double(tailTransformSize))
      time += vector.tail * cost.tailTransforms
    }
    time +=
      vector.rowOverhead * Double(rows) + vector.groupOverhead * Double(lanesAreMicrophones ? groups : 0)
    time += Time.period + Time.microphone * Double(plan.microphones) + Time.unit * Double(units)

    let bytes = bytesPerPeriod(pairs: pairs)
    // A stream displaces everything that is read less often than the cache is filled.
    if bytes.all > caches.secondLevel {
      cost.streamedBytes += Double(bytes.tail + 4 * units * groups * vectorBytes)
    }
    if bytes.betweenUses > caches.secondLevel { cost.streamedBytes += Double(bytes.head) }
    if bytes.all > caches.lastLevelShare { cost.memoryBytes = Double(bytes.head + bytes.tail) }
    let stream = Time.streamedByte * cost.streamedBytes
    let memory = Time.memoryByte * cost.memoryBytes
    cost.time = (max(time, stream) + Self.exposedPart * min(time, stream) + memory) / 1000
    return cost
  }

  /// Bytes that one period reads of the head and of the tail, those between two uses of the head, and all.
  private func bytesPerPeriod(pairs: Int) -> (head: Int, tail: Int, betweenUses: Int, all: Int) {
    let head = 4 * (pairs * headFloats + units * unitStride)
    let tail = 4 * (pairs * tailFloats + units * tailTransformSize * tailFrequencyStride)
    let work = 4 * plan.windowFrames * (lanesAreMicrophones ? (groups + 1) * lanes : 4)
    let tailPart = block > 0 ? tail / block : 0
    return (
      pairsPeriods ? head / 2 : head, tailPart, head + 2 * tailPart + 2 * work,
      head + tail + work + 4 * pairs * units * block * 4 * lanes + 4 * plan.microphones * plan.windowFrames
    )
  }
}
