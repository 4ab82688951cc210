/// The memory layout of a convolver and its filters for one partitioning: what the lanes of a vector hold, and how old
/// partitions are convolved.
///
/// `CRealtime/convolver.h` defines the terms and shapes. All functions are pure.
///
/// Thread: any.
package struct ConvolverLayout: Hashable, Sendable {
  package let plan: Partitioning
  package let lanes: Int
  /// True: a vector holds one bin of several microphones. False: several bins of one microphone.
  package let lanesAreMicrophones: Bool
  /// Partitions of the head, and of each block of the tail; 0 if there is no tail.
  package let block: Int

  // MARK: - Any thread

  /// The fastest layout, by the model of `ConvolverLayout+Cost.swift`.
  /// - Parameters:
  ///   - lanes: vector lengths for which there are kernels.
  init(_ plan: Partitioning, lanes lengths: [Int], caches: ProcessorCaches) {
    let costs = Self.candidates(plan, lanes: lengths).map { ($0, $0.cost(caches).time) }
    self = costs.min { $0.1 < $1.1 }!.0
  }

  private init(_ plan: Partitioning, lanes: Int, lanesAreMicrophones: Bool, block: Int) {
    self.plan = plan
    self.lanes = lanes
    self.lanesAreMicrophones = lanesAreMicrophones
    self.block = block
  }

  /// All layouts for which there are kernels.
  package static func candidates(_ plan: Partitioning, lanes lengths: [Int]) -> [ConvolverLayout] {
    let bins = plan.windowFrames / 2
    return lengths.flatMap { lanes in
      [false, true].flatMap { lanesAreMicrophones in
        [0, 8, 16].map { block in
          ConvolverLayout(plan, lanes: lanes, lanesAreMicrophones: lanesAreMicrophones, block: block)
        }
      }
    }.filter { layout in
      // Outputs are always transformed as rows, which needs at least four vectors, or sixteen points with eight lanes.
      // Kernels of 16 lanes must therefore be registered together with kernels of 8.
      guard bins >= 4 * layout.lanes || (bins == 16 && layout.lanes == 8) else { return false }
      // Filters of fewer than 32 partitions have no tail: rounding in a tail depends on when the engine joined the stream.
      return layout.block == 0
        || (plan.partitions >= max(32, 2 * layout.block + 1) && layout.units >= layout.block)
    }
  }

  var bins: Int { plan.windowFrames / 2 }
  /// Vectors of real parts in one unit and partition.
  var groups: Int { lanesAreMicrophones ? (plan.microphones + lanes - 1) / lanes : plan.microphones }
  var units: Int { lanesAreMicrophones ? bins : bins / lanes }
  /// Partitions summed before they join the total. Short chains accumulate less rounding error.
  var chunk: Int { max(1, 64 / groups) }
  /// Blocks of the tail; 0 if there is none.
  var blocks: Int { block > 0 ? (plan.partitions - 1) / block : 0 }
  var headPartitions: Int { block > 0 ? block : plan.partitions }
  /// Periods that one FFT of the tail transforms: overlap-save with blocks of half as many.
  var tailTransformSize: Int { 2 * block }
  /// Spectra kept per microphone: with a tail, those of its FFT.
  var slots: Int { block > 0 ? tailTransformSize : plan.partitions }
  /// Periods of history that a refill replays, so that every partition has its complete input. The FFT of a tail's
  /// oldest block began two blocks, less a period, before the block's own periods, and up to a block less a period earlier.
  var refillPeriods: Int { block > 0 ? block * (blocks + 3) : plan.partitions }
  /// Frames of history for these periods and the window of the oldest: a power of two.
  var historyFrames: Int {
    var frames = 1
    while frames < (refillPeriods + 1) * plan.period + plan.windowFrames { frames *= 2 }
    return frames
  }
  /// Whether one pass over the filters serves two periods, which halves the memory traffic.
  var pairsPeriods: Bool { headPartitions >= 4 && units >= 4 }
  /// Floats from one unit of the spectra to the next. The number of slots is made odd, because strides of a power of
  /// two would compete for the same cache sets.
  var unitStride: Int { (slots | 1) * groups * 2 * lanes }
  /// Floats from the real to the imaginary parts of a row of bins. More than the bins, because strides of a power of two
  /// would compete for the same cache sets.
  var rowStride: Int { bins + 64 }
  /// Floats from one frequency of the tail's spectra to the next.
  var tailFrequencyStride: Int { (blocks | 1) * groups * 2 * lanes }

  /// Floats of a filter set, in this order: head, tail.
  var filterFloats: Int { headFloats + tailFloats }
  var headFloats: Int { 2 * units * headPartitions * groups * 2 * lanes }
  var tailFloats: Int { 2 * units * tailTransformSize * blocks * groups * 2 * lanes }

  /// Index of the real part of a bin in the head. The imaginary part is `lanes` floats further.
  func offset(output: Int, microphone: Int, partition: Int, bin: Int) -> Int {
    let at = offset(microphone: microphone, bin: bin)
    let age = headPartitions - 1 - partition
    return (((output * units + at.unit) * headPartitions + age) * groups + at.group) * 2 * lanes + at.lane
  }

  /// Index of the real part of a bin in the tail, at a frequency of the FFT over partitions. Frequencies are stored in
  /// the order of that FFT.
  func offset(output: Int, microphone: Int, block: Int, frequency: Int, bin: Int) -> Int {
    let at = offset(microphone: microphone, bin: bin)
    let index = TransformTables.digitReversed(frequency, size: tailTransformSize)
    let row = ((output * units + at.unit) * tailTransformSize + index) * blocks
    return headFloats + ((row + blocks - 1 - block) * groups + at.group) * 2 * lanes + at.lane
  }

  private func offset(microphone: Int, bin: Int) -> (unit: Int, group: Int, lane: Int) {
    lanesAreMicrophones
      ? (bin, microphone / lanes, microphone % lanes) : (bin / lanes, microphone, bin % lanes)
  }
}
