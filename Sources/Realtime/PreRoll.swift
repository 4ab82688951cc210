import Synchronization

/// The last seconds of what came out and what went in, for a take that begins in the past.
///
/// The callback fills it while no take holds it. A take that begins holds it as it is; its disk thread reads it and
/// lets go, after which it fills anew.
public final class PreRoll: @unchecked Sendable {
  // Unchecked: the callback's while not held, the disk thread's while held; `held` orders the two.

  public let capacityFrames: Int
  /// Left, right, then the microphones.
  public let channels: Int
  private let samples: AlignedMemory
  private let held = Atomic<Bool>(false)
  private var at = 0
  private var filled = 0
  // Of what is held.
  private var heldEnd = 0

  /// Ends the program where there is no memory.
  public convenience init(microphones: Int, capacityFrames: Int) {
    let memory = AlignedMemory(count: (2 + microphones) * capacityFrames)
    self.init(microphones, capacityFrames, memory)
  }

  /// A large one.
  public convenience init(microphones: Int, reservingFrames capacityFrames: Int) throws(OutOfMemory) {
    let memory = try AlignedMemory(reserving: (2 + microphones) * capacityFrames)
    self.init(microphones, capacityFrames, memory)
  }

  private init(_ microphones: Int, _ capacityFrames: Int, _ memory: AlignedMemory) {
    self.capacityFrames = capacityFrames
    channels = 2 + microphones
    samples = memory
  }

  deinit { samples.free() }

  // MARK: Callback

  @_noLocks @_noAllocation
  func append(
    left: UnsafePointer<Float>, right: UnsafePointer<Float>, inputs: UnsafePointer<UnsafePointer<Float>?>,
    frames: Int
  ) {
    guard capacityFrames > 0, !held.load(ordering: .acquiring) else { return }
    let skipped = max(0, frames &- capacityFrames)
    put(left, 0, skipped, frames)
    put(right, 1, skipped, frames)
    var channel = 2
    while channel < channels {
      put(inputs[channel &- 2], channel, skipped, frames)
      channel &+= 1
    }
    at = (at &+ frames &- skipped) % capacityFrames
    filled = min(capacityFrames, filled &+ frames)
  }

  @_noLocks @_noAllocation
  private func put(_ source: UnsafePointer<Float>?, _ channel: Int, _ start: Int, _ end: Int) {
    var place = at
    var n = start
    while n < end {
      samples.floats[place &* channels &+ channel] = if let source { source[n] } else { 0 }
      place = place &+ 1 == capacityFrames ? 0 : place &+ 1
      n &+= 1
    }
  }

  /// What came so far does not belong to what comes.
  @_noLocks @_noAllocation
  func reset() { filled = 0 }

  /// A take begins: nothing is changed until `release`. Returns how many frames there are; where that is none, because
  /// the take before still reads or nothing came yet, nothing is held.
  @_noLocks @_noAllocation
  func hold() -> Int {
    guard filled > 0, !held.load(ordering: .acquiring) else { return 0 }
    let frames = filled
    heldEnd = at
    filled = 0
    held.store(true, ordering: .releasing)
    return frames
  }

  // MARK: Disk thread

  /// The frames that end `age` before the newest one, interleaved: `outputs` of left and right, then `microphones`.
  public func read(age: Int, frames: Int, outputs: Int, microphones: Int) -> [Float] {
    var result: [Float] = []
    result.reserveCapacity(frames * (outputs + microphones))
    for n in 0..<frames {
      let place = (heldEnd + 2 * capacityFrames - age - frames + n) % capacityFrames
      let frame = samples.floats + place * channels
      for channel in 0..<outputs { result.append(frame[channel]) }
      for microphone in 0..<microphones { result.append(frame[2 + microphone]) }
    }
    return result
  }

  /// What was held has been read.
  public func release() { held.store(false, ordering: .releasing) }
}
