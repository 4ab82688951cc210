/// The memory layout of a convolver and its filters for one partitioning. It decides what the lanes of a vector hold.
///
/// `CRealtime/convolver.h` defines the terms and shapes. All functions are pure.
///
/// Thread: any.
struct ConvolverLayout: Hashable, Sendable {
  let plan: Partitioning
  let lanes: Int
  /// True: a vector holds one bin of several microphones. False: several bins of one microphone.
  let lanesAreMicrophones: Bool

  // MARK: - Any thread

  /// - Parameter lanes: vector lengths for which there are kernels.
  init(_ plan: Partitioning, lanes lengths: [Int]) {
    self.plan = plan
    let bins = plan.transformSize / 2
    // With a tail, each period computes an eighth of the units, so there must be at least eight.
    let rows = lengths.filter { bins >= (plan.hasTail ? 8 : 4) * $0 }
    if plan.microphones <= 8, let length = rows.max() {
      lanes = length
      lanesAreMicrophones = false
      return
    }
    func idle(_ lanes: Int) -> Int { (plan.microphones + lanes - 1) / lanes * lanes - plan.microphones }
    // The inverse FFT needs at least four vectors.
    let across = lengths.filter { bins >= 2 * $0 }
    lanes = across.min { (idle($0), -$0) < (idle($1), -$1) }!
    lanesAreMicrophones = true
  }

  var bins: Int { plan.transformSize / 2 }
  /// Vectors of real parts in one unit and partition.
  var groups: Int { lanesAreMicrophones ? nyquistVectors : plan.microphones }
  var units: Int { lanesAreMicrophones ? bins : bins / lanes }
  /// Vectors that hold one bin of all microphones.
  var nyquistVectors: Int { (plan.microphones + lanes - 1) / lanes }
  /// Partitions summed before they join the total. Short chains accumulate less rounding error.
  var chunk: Int { max(4, 64 / groups) }
  /// Blocks of eight partitions after the head; 0 if there is no tail.
  var blocks: Int { plan.hasTail ? (plan.partitions - 1) / 8 : 0 }
  /// Eight with a tail, else all partitions.
  var headPartitions: Int { blocks > 0 ? 8 : plan.partitions }
  /// Spectra kept per microphone. A tail reads the last 15.
  var slots: Int { blocks > 0 ? 16 : plan.partitions }
  /// Periods of history that a refill replays, so that every partition has its complete input. The FFT of a tail's
  /// oldest block began 15 periods, and up to seven more, before the block's own eight.
  var refillPeriods: Int { blocks > 0 ? 8 * blocks + 24 : plan.partitions }
  /// Frames of history for these periods and the window of the oldest: a power of two.
  var historyFrames: Int {
    var frames = 1
    while frames < (refillPeriods + 1) * plan.period + plan.transformSize { frames *= 2 }
    return frames
  }
  /// Whether one pass over the filters serves two periods, which halves the memory traffic.
  var pairsPeriods: Bool { headPartitions >= 4 && units >= 4 }
  /// Floats from one unit of the spectra to the next. The number of slots is made odd, because strides of a power of
  /// two would compete for the same cache sets.
  var unitStride: Int { (slots | 1) * groups * 2 * lanes }
  /// Floats from one frequency of the tail's spectra to the next.
  var tailFrequencyStride: Int { (blocks | 1) * groups * 2 * lanes }

  /// Floats of a filter set, in this order: head, tail, Nyquist bin.
  var filterFloats: Int { headFloats + tailFloats + nyquistFloats }
  var headFloats: Int { 2 * units * headPartitions * groups * 2 * lanes }
  var tailFloats: Int { 2 * units * 16 * blocks * groups * 2 * lanes }
  var nyquistFloats: Int { 2 * plan.partitions * nyquistVectors * lanes }

  /// Index of the real part of a bin in the head. The imaginary part is `lanes` floats further.
  func offset(output: Int, microphone: Int, partition: Int, bin: Int) -> Int {
    let at = offset(microphone: microphone, bin: bin)
    let age = headPartitions - 1 - partition
    return (((output * units + at.unit) * headPartitions + age) * groups + at.group) * 2 * lanes + at.lane
  }

  /// Index of the real part of a bin in the tail, at a frequency of the FFT over partitions. Frequency k1 + 4·k2 is
  /// stored at 4·k1 + k2, the order of the radix-4 FFT.
  func offset(output: Int, microphone: Int, block: Int, frequency: Int, bin: Int) -> Int {
    let at = offset(microphone: microphone, bin: bin)
    let row = ((output * units + at.unit) * 16 + frequency % 4 * 4 + frequency / 4) * blocks
    return headFloats + ((row + blocks - 1 - block) * groups + at.group) * 2 * lanes + at.lane
  }

  private func offset(microphone: Int, bin: Int) -> (unit: Int, group: Int, lane: Int) {
    lanesAreMicrophones
      ? (bin, microphone / lanes, microphone % lanes) : (bin / lanes, microphone, bin % lanes)
  }

  /// Index of the Nyquist bin of a partition.
  func nyquistOffset(output: Int, microphone: Int, partition: Int) -> Int {
    let age = plan.partitions - 1 - partition
    return filterFloats - nyquistFloats + ((output * plan.partitions + age) * nyquistVectors) * lanes
      + microphone
  }
}
