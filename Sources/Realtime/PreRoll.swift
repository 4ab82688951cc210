import Synchronization

/// A pre-roll buffer: the last seconds of a feed, for a take that begins before it is requested. That of `main` has the
/// microphones, too.
///
/// The callback fills it. When a take that records the feed begins, the buffer is held: its content is frozen until the
/// take's disk thread has read and released it. Then the callback fills it again, from empty.
public final class PreRoll: @unchecked Sendable {
  // Unchecked: the callback uses it while it is not held, the disk thread while it is; `held` orders the two.

  public let capacityFrames: Int
  /// Of the feed. They come first, then the microphones.
  public let outputs: Int
  public let microphones: Int
  private let width: Int
  private let samples: AlignedMemory
  private let held = Atomic<Bool>(false)
  private var writePosition = 0
  /// How many of the newest frames hold the feed as it is set, and how many the microphones.
  private var filledOutputs = 0
  private var filledMicrophones = 0
  /// Write position at the moment it was held.
  private var heldEnd = 0

  /// If there is no memory, the program ends.
  ///
  /// Thread: any but the callback's.
  public convenience init(outputs: Int = 2, microphones: Int, capacityFrames: Int) {
    let memory = AlignedMemory(count: (outputs + microphones) * capacityFrames)
    self.init(outputs, microphones, capacityFrames, memory)
  }

  /// A large buffer, whose allocation may fail.
  ///
  /// Thread: any but the callback's.
  public convenience init(outputs: Int = 2, microphones: Int, reservingFrames capacityFrames: Int)
    throws(OutOfMemory)
  {
    let memory = try AlignedMemory(reserving: (outputs + microphones) * capacityFrames)
    self.init(outputs, microphones, capacityFrames, memory)
  }

  /// Thread: any but the callback's.
  private init(_ outputs: Int, _ microphones: Int, _ capacityFrames: Int, _ memory: AlignedMemory) {
    self.capacityFrames = capacityFrames
    self.outputs = outputs
    self.microphones = microphones
    width = outputs + microphones
    samples = memory
  }

  deinit { samples.free() }

  // MARK: - Realtime thread

  /// Whether the callback fills it.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func isFilling() -> Bool {
    if capacityFrames == 0 { return false }
    return !held.load(ordering: .acquiring)
  }

  /// Writes one channel of the next period; nil is silence. `advance` follows when all are written.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func write(_ source: UnsafePointer<Float>?, _ channel: Int, frames: Int) {
    var position = writePosition
    var n = max(0, frames &- capacityFrames)
    while n < frames {
      samples.floats[position &* width &+ channel] = if let source { source[n] } else { 0 }
      position = position &+ 1 == capacityFrames ? 0 : position &+ 1
      n &+= 1
    }
  }

  /// Counts a period whose channels are written.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func advance(frames: Int) {
    writePosition = (writePosition &+ min(frames, capacityFrames)) % capacityFrames
    filledOutputs = min(capacityFrames, filledOutputs &+ frames)
    filledMicrophones = min(capacityFrames, filledMicrophones &+ frames)
  }

  /// Empties the buffer, because what follows is not contiguous with it.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func reset() {
    filledOutputs = 0
    filledMicrophones = 0
  }

  /// Forgets the feed's outputs, which were set otherwise. The microphones stay.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func resetOutputs() { filledOutputs = 0 }

  /// The newest frames that a take may begin with.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameters:
  ///   - outputs, microphones: what the take records.
  /// - Returns: 0 also while the previous take still reads the buffer.
  @_noLocks @_noAllocation
  func frames(outputs: Bool, microphones: Bool) -> Int {
    guard isFilling() else { return 0 }
    return min(outputs ? filledOutputs : .max, microphones ? filledMicrophones : .max)
  }

  /// Holds the buffer for a take that begins: its content stays unchanged until `release`.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func hold() {
    heldEnd = writePosition
    reset()
    held.store(true, ordering: .releasing)
  }

  // MARK: - Disk thread

  /// Reads the frames that end `age` frames before the newest, interleaved: the first `outputs` of the feed, then the first
  /// `microphones`.
  ///
  /// Thread: disk thread.
  public func read(age: Int, frames: Int, outputs: Int, microphones: Int) -> [Float] {
    var result: [Float] = []
    result.reserveCapacity(frames * (outputs + microphones))
    for n in 0..<frames {
      let position = (heldEnd + 2 * capacityFrames - age - frames + n) % capacityFrames
      let frame = samples.floats + position * width
      for channel in 0..<outputs { result.append(frame[channel]) }
      for microphone in 0..<microphones { result.append(frame[self.outputs + microphone]) }
    }
    return result
  }

  /// Returns the buffer to the callback.
  ///
  /// Thread: disk thread.
  public func release() { held.store(false, ordering: .releasing) }
}
