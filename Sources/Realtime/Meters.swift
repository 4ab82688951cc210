import CRealtime
import Synchronization

/// Level of one channel, as amplitudes: 1 is full scale.
public struct Level: Hashable, Sendable {
  public let rms: Float
  public let peak: Float
}

/// RMS over 300 ms and peak with a 1.5 s hold for every channel; linear, because logarithms do not belong in
/// the callback.
///
/// Energies are summed in slots of 10 ms, or of a period where that is longer. All channels are published in one
/// period, every 10 ms: equal signals have equal levels, by which microphones that carry the same are found.
struct Meters: ~Copyable, @unchecked Sendable {
  // Unchecked: the callback alone touches the accumulators; what others read is published in `cells`.

  let channels: Int
  private let slotFrames: Int
  private let windowFrames: Int
  private let holdFrames: Int
  private let cells: [LevelCell]
  /// The same cells, for the callback, which may not count references.
  private let published: UnsafeMutablePointer<Unmanaged<LevelCell>>
  private let cursor: UnsafeMutablePointer<Cursor>
  /// Sums of squares; what is out of the window is zero. Shape: `[channel][slot]`.
  private let energies: AlignedMemory
  private let peaks: AlignedMemory
  private let peakAges: UnsafeMutablePointer<Int>
  private let slotLengths: UnsafeMutablePointer<Int>

  private struct Cursor {
    var slot = 0
    var oldest = 0
    /// Frames in the window.
    var length = 0
    /// Frames since the channels were published.
    var due = 0
  }

  init(channels: Int, sampleRate: Double) {
    self.channels = channels
    slotFrames = max(1, Int(sampleRate * 0.01))
    windowFrames = 30 * slotFrames
    holdFrames = Int(sampleRate * 1.5)
    cells = (0..<channels).map { _ in LevelCell() }
    published = .allocate(capacity: channels)
    for (n, cell) in cells.enumerated() { (published + n).initialize(to: .passUnretained(cell)) }
    cursor = .allocate(capacity: 1)
    cursor.initialize(to: Cursor())
    energies = AlignedMemory(count: channels * Meters.slots())
    peaks = AlignedMemory(count: channels)
    peakAges = .allocate(capacity: channels)
    peakAges.initialize(repeating: 0, count: channels)
    slotLengths = .allocate(capacity: Meters.slots())
    slotLengths.initialize(repeating: 0, count: Meters.slots())
  }

  deinit {
    published.deallocate()
    cursor.deallocate()
    energies.free()
    peaks.free()
    peakAges.deallocate()
    slotLengths.deallocate()
  }

  /// Any thread.
  func level(_ channel: Int) -> Level { cells[channel].level }

  /// Callback: takes in what `frames` samples of one channel measured. After all channels, `advance`.
  @_noLocks @_noAllocation
  func observe(_ channel: Int, _ measure: pinna_measure, frames: Int) {
    energies.floats[channel &* Meters.slots() &+ cursor.pointee.slot] += measure.energy
    peakAges[channel] &+= frames
    if measure.peak >= peaks.floats[channel] || peakAges[channel] > holdFrames {
      peaks.floats[channel] = measure.peak
      peakAges[channel] = 0
    }
  }

  /// Callback: ends the period; publishes all channels every 10 ms.
  @_noLocks @_noAllocation
  func advance(frames: Int) {
    let slot = cursor.pointee.slot
    slotLengths[slot] &+= frames
    cursor.pointee.length &+= frames
    cursor.pointee.due &+= frames
    if cursor.pointee.due >= slotFrames {
      cursor.pointee.due = 0
      var channel = 0
      while channel < channels {
        publish(channel)
        channel &+= 1
      }
    }
    if slotLengths[slot] >= slotFrames { beginSlot((slot &+ 1) % Meters.slots()) }
  }

  /// Lets go of slots that the window no longer needs, of one at least where all are in use.
  @_noLocks @_noAllocation
  private func beginSlot(_ next: Int) {
    var oldest = cursor.pointee.oldest
    while oldest == next
      || (oldest != cursor.pointee.slot && cursor.pointee.length &- slotLengths[oldest] >= windowFrames)
    {
      var channel = 0
      while channel < channels {
        energies.floats[channel &* Meters.slots() &+ oldest] = 0
        channel &+= 1
      }
      cursor.pointee.length &-= slotLengths[oldest]
      slotLengths[oldest] = 0
      oldest = (oldest &+ 1) % Meters.slots()
    }
    cursor.pointee.oldest = oldest
    cursor.pointee.slot = next
  }

  @_noLocks @_noAllocation
  private func publish(_ channel: Int) {
    let slots = (energies.floats + channel &* Meters.slots()).lanes
    let eight = (slots[0] + slots[1]) + (slots[2] + slots[3])
    let four = eight.lowHalf + eight.highHalf
    let two = four.lowHalf + four.highHalf
    let meanSquare = (two.x + two.y) / Float(max(cursor.pointee.length, 1))
    let peak = peaks.floats[channel]
    published[channel]._withUnsafeGuaranteedRef { $0.publish(meanSquare: meanSquare, peak: peak) }
  }

  /// Room for slots: 30 make the window, one is being filled. A stored static would be initialised lazily, which the
  /// callback may not do.
  @_noLocks @_noAllocation
  private static func slots() -> Int { 32 }
}

/// One channel's published level: written by the callback, read by anyone.
final class LevelCell: Sendable {
  private let meanSquare = Atomic<UInt32>(0)
  private let peak = Atomic<UInt32>(0)

  @_noLocks @_noAllocation
  func publish(meanSquare energy: Float, peak top: Float) {
    // Relaxed: each value stands for itself.
    meanSquare.store(energy.bitPattern, ordering: .relaxed)
    peak.store(top.bitPattern, ordering: .relaxed)
  }

  var level: Level {
    Level(
      rms: Float(bitPattern: meanSquare.load(ordering: .relaxed)).squareRoot(),
      peak: Float(bitPattern: peak.load(ordering: .relaxed)))
  }
}
