import CRealtime
import Synchronization

/// The level of one channel, as amplitudes. 1 is full scale.
public struct Level: Hashable, Sendable {
  public let rms: Float
  public let peak: Float

  /// Thread: any.
  public init(rms: Float, peak: Float) { (self.rms, self.peak) = (rms, peak) }
}

/// Level meters: RMS over 300 ms, and peak with a 1.5 s hold, for every channel. Values are linear, because logarithms
/// do not belong in the callback. When the hold ends, the peak becomes that of the same 300 ms, so it is never below
/// the RMS.
///
/// Energies and peaks are accumulated in slots of 10 ms, or of a period if that is longer. All channels are published
/// in the same period, every 10 ms. Equal signals therefore have equal levels, which reveals duplicated microphones.
struct Meters: ~Copyable, @unchecked Sendable {
  // Unchecked: only the callback uses the accumulators; other threads read `cells`.

  let channels: Int
  private let slotFrames: Int
  private let windowFrames: Int
  private let holdFrames: Int
  private let cells: [LevelCell]
  /// The same objects for the callback, which counts no references.
  private let unmanagedCells: UnsafeMutablePointer<Unmanaged<LevelCell>>
  private let cursor: UnsafeMutablePointer<Cursor>
  /// Sums of squares; zero outside the window. Shape: `[channel][slot]`.
  private let energies: AlignedMemory
  /// The largest magnitude of each slot; zero outside the window. Shape: `[channel][slot]`.
  private let slotPeaks: AlignedMemory
  /// Held peaks, by channel.
  private let peaks: AlignedMemory
  /// Frames since each held peak.
  private let peakAges: UnsafeMutablePointer<Int>
  private let slotLengths: UnsafeMutablePointer<Int>

  private struct Cursor {
    var slot = 0
    var oldest = 0
    /// Frames in the window.
    var length = 0
    /// Frames since the last publication.
    var sincePublished = 0
  }

  /// Thread: control side.
  init(channels: Int, sampleRate: Double) {
    self.channels = channels
    slotFrames = max(1, Int(sampleRate * 0.01))
    windowFrames = 30 * slotFrames
    holdFrames = Int(sampleRate * 1.5)
    cells = (0..<channels).map { _ in LevelCell() }
    unmanagedCells = .allocate(capacity: channels)
    for (n, cell) in cells.enumerated() { (unmanagedCells + n).initialize(to: .passUnretained(cell)) }
    cursor = .allocate(capacity: 1)
    cursor.initialize(to: Cursor())
    energies = AlignedMemory(count: channels * Meters.slots())
    slotPeaks = AlignedMemory(count: channels * Meters.slots())
    peaks = AlignedMemory(count: channels)
    peakAges = .allocate(capacity: channels)
    peakAges.initialize(repeating: 0, count: channels)
    slotLengths = .allocate(capacity: Meters.slots())
    slotLengths.initialize(repeating: 0, count: Meters.slots())
  }

  deinit {
    unmanagedCells.deallocate()
    cursor.deallocate()
    energies.free()
    slotPeaks.free()
    peaks.free()
    peakAges.deallocate()
    slotLengths.deallocate()
  }

  /// Thread: any.
  func level(_ channel: Int) -> Level { cells[channel].level }

  // MARK: - Realtime thread

  /// The held peak, 1 at full scale.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func peak(_ channel: Int) -> Float { peaks.floats[channel] }

  /// Adds the measures of `frames` samples of one channel. Call `advance` after all channels.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func observe(_ channel: Int, _ measure: pinna_measure, frames: Int) {
    let slot = channel &* Meters.slots() &+ cursor.pointee.slot
    energies.floats[slot] += measure.energy
    slotPeaks.floats[slot] = max(slotPeaks.floats[slot], measure.peak)
    peakAges[channel] &+= frames
    if measure.peak >= peaks.floats[channel] {
      peaks.floats[channel] = measure.peak
      peakAges[channel] = 0
    }
  }

  /// Forgets what a channel has had, which another output takes over.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func reset(_ channel: Int) {
    (energies.floats + channel &* Meters.slots()).clear(count: Meters.slots())
    (slotPeaks.floats + channel &* Meters.slots()).clear(count: Meters.slots())
    peaks.floats[channel] = 0
    peakAges[channel] = 0
    unmanagedCells[channel]._withUnsafeGuaranteedRef { $0.publish(meanSquare: 0, peak: 0) }
  }

  /// Ends the period. Publishes the first `channels` every 10 ms.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func advance(frames: Int, channels: Int) {
    let slot = cursor.pointee.slot
    slotLengths[slot] &+= frames
    cursor.pointee.length &+= frames
    cursor.pointee.sincePublished &+= frames
    if cursor.pointee.sincePublished >= slotFrames {
      cursor.pointee.sincePublished = 0
      var channel = 0
      while channel < channels {
        publish(channel)
        channel &+= 1
      }
    }
    if slotLengths[slot] >= slotFrames { beginSlot((slot &+ 1) % Meters.slots(), channels) }
  }

  /// Clears the slots that left the window; at least one if all are in use.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func beginSlot(_ next: Int, _ channels: Int) {
    var oldest = cursor.pointee.oldest
    while oldest == next
      || (oldest != cursor.pointee.slot && cursor.pointee.length &- slotLengths[oldest] >= windowFrames)
    {
      var channel = 0
      while channel < channels {
        energies.floats[channel &* Meters.slots() &+ oldest] = 0
        slotPeaks.floats[channel &* Meters.slots() &+ oldest] = 0
        channel &+= 1
      }
      cursor.pointee.length &-= slotLengths[oldest]
      slotLengths[oldest] = 0
      oldest = (oldest &+ 1) % Meters.slots()
    }
    cursor.pointee.oldest = oldest
    cursor.pointee.slot = next
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func publish(_ channel: Int) {
    let slots = (energies.floats + channel &* Meters.slots()).lanes
    let eight = (slots[0] + slots[1]) + (slots[2] + slots[3])
    let four = eight.lowHalf + eight.highHalf
    let two = four.lowHalf + four.highHalf
    let meanSquare = (two.x + two.y) / Float(max(cursor.pointee.length, 1))
    if peakAges[channel] > holdFrames {
      peaks.floats[channel] = windowPeak(channel)
      peakAges[channel] = 0
    }
    let peak = peaks.floats[channel]
    unmanagedCells[channel]._withUnsafeGuaranteedRef { $0.publish(meanSquare: meanSquare, peak: peak) }
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func windowPeak(_ channel: Int) -> Float {
    let slots = slotPeaks.floats + channel &* Meters.slots()
    var peak: Float = 0
    var slot = 0
    while slot < Meters.slots() {
      peak = max(peak, slots[slot])
      slot &+= 1
    }
    return peak
  }

  /// Number of slots: 30 make the window, and one is being filled. This is a function because a stored static is
  /// initialised lazily, which may lock.
  ///
  /// Thread: any.
  @_noLocks @_noAllocation
  private static func slots() -> Int { 32 }
}

/// One channel's published level. The callback writes it, any thread reads it.
final class LevelCell: Sendable {
  /// Mean square and peak, in one word so that they always belong to the same period.
  private let meanSquareAndPeak = Atomic<UInt64>(0)

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func publish(meanSquare: Float, peak: Float) {
    // Relaxed: no other memory depends on this word.
    meanSquareAndPeak.store(UInt64(meanSquare.bitPattern) << 32 | UInt64(peak.bitPattern), ordering: .relaxed)
  }

  /// Thread: any.
  var level: Level {
    let word = meanSquareAndPeak.load(ordering: .relaxed)
    let peak = Float(bitPattern: UInt32(truncatingIfNeeded: word))
    let rms = Float(bitPattern: UInt32(truncatingIfNeeded: word >> 32)).squareRoot()
    // Rounding can put the RMS above the peak.
    return Level(rms: min(rms, peak), peak: peak)
  }
}
