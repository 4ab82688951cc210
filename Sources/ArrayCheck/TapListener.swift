import Glibc

/// The channel that answered when somebody tapped on a microphone.
public struct TapAnswer: Hashable, Sendable {
  /// Index of the channel.
  public let channel: Int
  /// By how much its tap was louder than in any other channel, in dB.
  public let margin: Double

  public init(channel: Int, margin: Double) {
    self.channel = channel
    self.margin = margin
  }
}

/// Hears from blocks of samples which channel answers a tap: the one with the most energy above its background, if all
/// others have much less. Voices and other sounds from a distance reach all microphones alike and are no answer.
///
/// A value; any thread.
public struct TapListener: Sendable {
  /// Length of a block in seconds.
  public static let blockDuration = 0.02

  private var last: [Float]
  /// Energies of past blocks without a tap. Shape: `[block][channel]`.
  private var history: [[Double]] = []
  /// The tap in progress: its energy above the background by channel, and the number of its blocks.
  private var tap: (energies: [Double], blocks: Int)?
  /// Number of blocks since a sound stood out from the background.
  public private(set) var quietBlocks = 0

  public init(channels: Int) { last = [Float](repeating: 0, count: channels) }

  /// - Parameter block: shape `[channel][frame]`; about `blockDuration` long.
  /// - Returns: the answer, with the last block of a tap.
  public mutating func hear(_ block: [[Float]]) -> TapAnswer? {
    let energies = block.indices.map { differenceEnergy(block[$0], channel: $0) }
    guard history.count >= Thresholds.leastTapHistory else {
      history.append(energies)
      return nil
    }
    let background = energies.indices.map { m in median(history.map { $0[m] }) }
    let isLoud = energies.indices.contains {
      energies[$0] > Thresholds.leastTapRise * background[$0] + Thresholds.leastTapEnergy
    }
    quietBlocks = isLoud ? 0 : quietBlocks + 1
    guard isLoud || tap != nil else {
      history.append(energies)
      if history.count > Thresholds.tapHistory { history.removeFirst() }
      return nil
    }
    let above = zip(energies, background).map { max(0, $0 - $1) }
    let sum = tap.map { zip($0.energies, above).map { $0 + $1 } } ?? above
    let blocks = (tap?.blocks ?? 0) + 1
    guard blocks == Thresholds.tapLength else {
      tap = (sum, blocks)
      return nil
    }
    tap = nil
    // A noise that stays becomes the background.
    history.append(energies)
    if history.count > Thresholds.tapHistory { history.removeFirst() }
    return Self.answer(sum)
  }

  /// Mean square of successive differences, so that offsets and rumble do not count.
  private mutating func differenceEnergy(_ samples: [Float], channel: Int) -> Double {
    var sum = 0.0
    var previous = last[channel]
    for sample in samples where sample.isFinite {
      sum += Double((sample - previous) * (sample - previous))
      previous = sample
    }
    last[channel] = previous
    return sum / Double(max(1, samples.count))
  }

  private static func answer(_ energies: [Double]) -> TapAnswer? {
    let order = energies.indices.sorted { energies[$0] > energies[$1] }
    guard let first = order.first, energies[first] > 0 else { return nil }
    let second = order.count > 1 ? energies[order[1]] : 0
    let margin = min(Thresholds.mostTapMargin, 10 * log10(energies[first] / max(second, 1e-30)))
    return margin >= Thresholds.leastTapMargin ? TapAnswer(channel: first, margin: margin) : nil
  }
}
