/// How a convolution is cut for one period: partitions of one period each, overlap-save. Where there are many, all but
/// the first eight are convolved eight periods at a time (`Kernels/Tail.swift`).
///
/// The transform is the next power of two from two periods on, so that any period works: of a window of the
/// last `transformSize` frames, the last `period` outputs are free of wrap-around.
public struct Partitioning: Hashable, Sendable {
  public static let longestPeriod = 8192
  public static let mostMicrophones = 64

  public let microphones: Int
  public let taps: Int
  public let period: Int
  let transformSize: Int
  let partitions: Int

  public init(microphones: Int, taps: Int, period: Int) {
    precondition((1...Self.mostMicrophones).contains(microphones) && taps >= 1)
    precondition((1...Self.longestPeriod).contains(period))
    self.microphones = microphones
    self.taps = taps
    self.period = period
    var size = 32
    while size < 2 * period { size *= 2 }
    transformSize = size
    partitions = (taps + period - 1) / period
  }

  /// Whether a tail pays.
  var isLong: Bool { partitions >= 32 }
}

/// Where the numbers of a partitioning stand in memory: what a vector holds.
struct Layout: Hashable, Sendable {
  let plan: Partitioning
  let lanes: Int
  /// A vector holds one bin of several microphones, or else several bins of one microphone.
  let isAcross: Bool

  /// - Parameter lanes: the vector lengths that there are kernels for.
  init(_ plan: Partitioning, lanes lengths: [Int]) {
    self.plan = plan
    let bins = plan.transformSize / 2
    // In a tail, every period has an eighth of the units.
    let rows = lengths.filter { bins >= (plan.isLong ? 8 : 4) * $0 }
    if plan.microphones <= 8, let length = rows.max() {
      lanes = length
      isAcross = false
      return
    }
    func idle(_ lanes: Int) -> Int { (plan.microphones + lanes - 1) / lanes * lanes - plan.microphones }
    // The inverse transform wants four vectors.
    let across = lengths.filter { bins >= 2 * $0 }
    lanes = across.min { (idle($0), -$0) < (idle($1), -$1) }!
    isAcross = true
  }

  var bins: Int { plan.transformSize / 2 }
  /// Vectors of real parts in one partition of one unit.
  var groups: Int { isAcross ? edges : plan.microphones }
  var units: Int { isAcross ? bins : bins / lanes }
  /// Vectors that hold one bin of all microphones.
  var edges: Int { (plan.microphones + lanes - 1) / lanes }
  /// Partitions whose products are summed before they join the total: short chains round less.
  var chunk: Int { max(4, 64 / groups) }
  /// Blocks of eight partitions behind the first eight, which are the head; where there are none, all are.
  var blocks: Int { plan.isLong ? (plan.partitions - 1) / 8 : 0 }
  var head: Int { blocks > 0 ? 8 : plan.partitions }
  /// Spectra that are kept: a tail looks back at fifteen.
  var slots: Int { blocks > 0 ? 16 : plan.partitions }
  /// Periods that the input must be replayed for, so that every partition has seen all that it would have: a tail's
  /// oldest block began fifteen periods and up to seven more before its own eight.
  var reach: Int { blocks > 0 ? 8 * blocks + 24 : plan.partitions }
  /// Frames of input that this takes, with the window of the oldest: a power of two.
  var historyFrames: Int {
    var frames = 1
    while frames < (reach + 1) * plan.period + plan.transformSize { frames *= 2 }
    return frames
  }
  /// Whether products are formed two periods at a time: filters are then read half as often.
  var isAhead: Bool { head >= 4 && units >= 4 }
  /// Floats from one unit of the spectra to the next: an odd number of slots, since powers of two would fall on the same
  /// lines of the cache.
  var unit: Int { (slots | 1) * groups * 2 * lanes }
  /// The same from one frequency of the tail to the next.
  var tailUnit: Int { (blocks | 1) * groups * 2 * lanes }

  /// Floats of a filter set: the head, the tail, the Nyquist bin.
  var filterFloats: Int { headFloats + tailFloats + nyquistFloats }
  var headFloats: Int { 2 * units * head * groups * 2 * lanes }
  var tailFloats: Int { 2 * units * 16 * blocks * groups * 2 * lanes }
  var nyquistFloats: Int { 2 * plan.partitions * edges * lanes }

  /// Where one bin of a filter's head stands; its imaginary part `lanes` behind it.
  func place(output: Int, microphone: Int, partition: Int, bin: Int) -> Int {
    let at = place(microphone: microphone, bin: bin)
    let age = head - 1 - partition
    return (((output * units + at.unit) * head + age) * groups + at.group) * 2 * lanes + at.lane
  }

  /// The same of the tail, at a frequency of the transform over partitions.
  func place(output: Int, microphone: Int, block: Int, frequency: Int, bin: Int) -> Int {
    let at = place(microphone: microphone, bin: bin)
    let row = ((output * units + at.unit) * 16 + frequency % 4 * 4 + frequency / 4) * blocks
    return headFloats + ((row + blocks - 1 - block) * groups + at.group) * 2 * lanes + at.lane
  }

  private func place(microphone: Int, bin: Int) -> (unit: Int, group: Int, lane: Int) {
    isAcross ? (bin, microphone / lanes, microphone % lanes) : (bin / lanes, microphone, bin % lanes)
  }

  /// Where the Nyquist bin of a filter stands.
  func nyquistPlace(output: Int, microphone: Int, partition: Int) -> Int {
    let age = plan.partitions - 1 - partition
    return filterFloats - nyquistFloats + ((output * plan.partitions + age) * edges) * lanes + microphone
  }
}
