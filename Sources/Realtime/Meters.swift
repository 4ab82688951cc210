import Synchronization

/// Level of one channel, as amplitudes: 1 is full scale.
public struct Level: Hashable, Sendable {
  public let rms: Float
  public let peak: Float
}

/// RMS over 300 ms and peak with a 1.5 s hold for every channel; linear, because logarithms do not belong in
/// the callback.
struct Meters: ~Copyable, @unchecked Sendable {
  // Unchecked: the callback alone touches the accumulators; what others read is published in `cells`.

  let channels: Int
  private let slotFrames: Int
  private let holdFrames: Int
  private let cells: [LevelCell]
  /// The same cells, for the callback, which may not count references.
  private let published: UnsafeMutablePointer<Unmanaged<LevelCell>>
  private let accumulators: UnsafeMutablePointer<Accumulators>
  /// Sums of squares. Shape: `[channel][slot]`.
  private let energies: AlignedMemory
  private let peaks: AlignedMemory
  private let peakAges: UnsafeMutablePointer<Int>
  private let slotLengths: UnsafeMutablePointer<Int>

  private struct Accumulators {
    var slot = 0
    var slotFill = 0
  }

  init(channels: Int, sampleRate: Double) {
    self.channels = channels
    slotFrames = max(1, Int(sampleRate * 0.01))
    holdFrames = Int(sampleRate * 1.5)
    cells = (0..<channels).map { _ in LevelCell() }
    published = .allocate(capacity: channels)
    for (n, cell) in cells.enumerated() { (published + n).initialize(to: .passUnretained(cell)) }
    accumulators = .allocate(capacity: 1)
    accumulators.initialize(to: Accumulators())
    energies = AlignedMemory(count: channels * Meters.slots())
    peaks = AlignedMemory(count: channels)
    peakAges = .allocate(capacity: channels)
    peakAges.initialize(repeating: 0, count: channels)
    slotLengths = .allocate(capacity: Meters.slots())
    slotLengths.initialize(repeating: 0, count: Meters.slots())
  }

  deinit {
    published.deallocate()
    accumulators.deallocate()
    energies.free()
    peaks.free()
    peakAges.deallocate()
    slotLengths.deallocate()
  }

  /// Any thread.
  func level(_ channel: Int) -> Level { cells[channel].level }

  /// Callback: takes in `frames` samples of one channel. After all channels, `advance`.
  @_noLocks @_noAllocation
  func observe(_ channel: Int, _ samples: UnsafePointer<Float>?, frames: Int) {
    var energy: Float = 0
    var peak: Float = 0
    if let samples {
      var n = 0
      while n < frames {
        let magnitude = samples[n].magnitude
        // Not a number compares false and counts as silence.
        if magnitude <= 1e6 {
          energy += magnitude * magnitude
          if magnitude > peak { peak = magnitude }
        }
        n &+= 1
      }
    }
    energies.floats[channel &* Meters.slots() &+ accumulators.pointee.slot] += energy
    peakAges[channel] &+= frames
    if peak >= peaks.floats[channel] || peakAges[channel] > holdFrames {
      peaks.floats[channel] = peak
      peakAges[channel] = 0
    }
  }

  /// Callback: ends the period; publishes when a slot of 10 ms, or a longer period, is full.
  @_noLocks @_noAllocation
  func advance(frames: Int) {
    let slot = accumulators.pointee.slot
    slotLengths[slot] &+= frames
    accumulators.pointee.slotFill &+= frames
    guard accumulators.pointee.slotFill >= slotFrames else { return }
    var channel = 0
    while channel < channels {
      publish(channel, newest: slot)
      channel &+= 1
    }
    let next = (slot &+ 1) % Meters.slots()
    slotLengths[next] = 0
    channel = 0
    while channel < channels {
      energies.floats[channel &* Meters.slots() &+ next] = 0
      channel &+= 1
    }
    accumulators.pointee = Accumulators(slot: next, slotFill: 0)
  }

  /// As many slots as make 300 ms: one alone where the period is longer.
  @_noLocks @_noAllocation
  private func publish(_ channel: Int, newest: Int) {
    let window = Meters.slots() &* slotFrames
    var energy: Float = 0
    var length = 0
    var back = 0
    while back < Meters.slots(), length < window {
      let at = (newest &- back &+ Meters.slots()) % Meters.slots()
      energy += energies.floats[channel &* Meters.slots() &+ at]
      length &+= slotLengths[at]
      back &+= 1
    }
    let meanSquare = energy / Float(max(length, 1))
    let peak = peaks.floats[channel]
    published[channel]._withUnsafeGuaranteedRef { $0.publish(meanSquare: meanSquare, peak: peak) }
  }

  /// Slots of 10 ms in the window. A stored static would be initialised lazily, which the callback may not do.
  @_noLocks @_noAllocation
  private static func slots() -> Int { 30 }
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
