import Synchronization

/// The pre-roll buffer: the last seconds of outputs and microphones, for a take that begins before it is requested.
///
/// The callback fills it. When a take begins, the buffer is held: its content is frozen until the take's disk thread
/// has read and released it. Then the callback fills it again, from empty.
public final class PreRoll: @unchecked Sendable {
  // Unchecked: the callback uses it while it is not held, the disk thread while it is; `held` orders the two.

  public let capacityFrames: Int
  /// Left, right, then the microphones.
  public let channels: Int
  private let samples: AlignedMemory
  private let held = Atomic<Bool>(false)
  private var writePosition = 0
  private var filledFrames = 0
  /// Write position at the moment it was held.
  private var heldEnd = 0

  /// If there is no memory, the program ends.
  ///
  /// Thread: any but the callback's.
  public convenience init(microphones: Int, capacityFrames: Int) {
    let memory = AlignedMemory(count: (2 + microphones) * capacityFrames)
    self.init(microphones, capacityFrames, memory)
  }

  /// A large buffer, whose allocation may fail.
  ///
  /// Thread: any but the callback's.
  public convenience init(microphones: Int, reservingFrames capacityFrames: Int) throws(OutOfMemory) {
    let memory = try AlignedMemory(reserving: (2 + microphones) * capacityFrames)
    self.init(microphones, capacityFrames, memory)
  }

  /// Thread: any but the callback's.
  private init(_ microphones: Int, _ capacityFrames: Int, _ memory: AlignedMemory) {
    self.capacityFrames = capacityFrames
    channels = 2 + microphones
    samples = memory
  }

  deinit { samples.free() }

  // MARK: - Realtime thread

  /// Appends one period, unless the buffer is held.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func append(
    left: UnsafePointer<Float>, right: UnsafePointer<Float>, inputs: UnsafePointer<UnsafePointer<Float>?>,
    frames: Int
  ) {
    guard capacityFrames > 0, !held.load(ordering: .acquiring) else { return }
    let skipped = max(0, frames &- capacityFrames)
    copy(left, 0, skipped, frames)
    copy(right, 1, skipped, frames)
    var channel = 2
    while channel < channels {
      copy(inputs[channel &- 2], channel, skipped, frames)
      channel &+= 1
    }
    writePosition = (writePosition &+ frames &- skipped) % capacityFrames
    filledFrames = min(capacityFrames, filledFrames &+ frames)
  }

  /// Copies frames `start` ..< `end` of one channel; nil is silence.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func copy(_ source: UnsafePointer<Float>?, _ channel: Int, _ start: Int, _ end: Int) {
    var position = writePosition
    var n = start
    while n < end {
      samples.floats[position &* channels &+ channel] = if let source { source[n] } else { 0 }
      position = position &+ 1 == capacityFrames ? 0 : position &+ 1
      n &+= 1
    }
  }

  /// Empties the buffer, because what follows is not contiguous with it.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func reset() { filledFrames = 0 }

  /// Holds the buffer for a take that begins: its content stays unchanged until `release`.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: the number of frames. If 0, nothing is held: the buffer was empty, or the previous take still reads it.
  @_noLocks @_noAllocation
  func hold() -> Int {
    guard filledFrames > 0, !held.load(ordering: .acquiring) else { return 0 }
    let frames = filledFrames
    heldEnd = writePosition
    filledFrames = 0
    held.store(true, ordering: .releasing)
    return frames
  }

  // MARK: - Disk thread

  /// Reads the frames that end `age` frames before the newest, interleaved: `outputs` of left and right, then
  /// `microphones`.
  ///
  /// Thread: disk thread.
  public func read(age: Int, frames: Int, outputs: Int, microphones: Int) -> [Float] {
    var result: [Float] = []
    result.reserveCapacity(frames * (outputs + microphones))
    for n in 0..<frames {
      let position = (heldEnd + 2 * capacityFrames - age - frames + n) % capacityFrames
      let frame = samples.floats + position * channels
      for channel in 0..<outputs { result.append(frame[channel]) }
      for microphone in 0..<microphones { result.append(frame[2 + microphone]) }
    }
    return result
  }

  /// Returns the buffer to the callback.
  ///
  /// Thread: disk thread.
  public func release() { held.store(false, ordering: .releasing) }
}
