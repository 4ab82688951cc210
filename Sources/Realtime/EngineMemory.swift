import CRealtime

/// What an engine remembered when a take of microphones began: what it takes to compute the take's feeds again, bit for
/// bit. A value; any thread.
public struct EngineMemory: Sendable, Hashable {
  public var instructionSet = InstructionSet.baseline
  /// In frames.
  public var period = 0
  /// The stream's clock at the first frame after the pre-roll, where a period begins.
  public var frame = 0
  /// The microphones' last frames before that. Shape: `[microphone][frame]`, whole periods.
  public var microphones: [[Float]] = []
  /// What mutes and fades them there, of each microphone.
  public var inputs: [InputMemory] = []
  /// The high-passes' memory there: the two values of each output of main, then of each recorded output of other feeds.
  public var highPasses: [SIMD2<Double>] = []

  public init() {}
}

/// What an engine remembers of a microphone beside its frames: invalid samples and dropouts.
public struct InputMemory: BitwiseCopyable, Hashable, Sendable {
  /// Frames since the last invalid sample.
  package var cleanFrames: Int
  package var dropout: DropoutFade.State

  package init(cleanFrames: Int, dropout: DropoutFade.State) {
    (self.cleanFrames, self.dropout) = (cleanFrames, dropout)
  }
}

/// The same in a take's ring: memory that the control side reserves, and the callback fills when the take begins. The ring
/// calls `free` once.
struct ReservedMemory {
  struct Place: BitwiseCopyable {
    var period = 0
    var frame = 0
    /// Of each microphone.
    var frames = 0
  }

  private let microphones: Int
  private let capacity: Int
  private let samples: AlignedMemory
  private let inputs: UnsafeMutablePointer<InputMemory>
  private let outputs: Int
  private let highPasses: UnsafeMutablePointer<SIMD2<Double>>
  private let place: UnsafeMutablePointer<Place>
  private let instructionSet: InstructionSet

  /// Thread: control side.
  /// - Parameter capacity: frames of each microphone.
  init(microphones: Int, capacity: Int, outputs: Int, _ instructionSet: InstructionSet) {
    self.instructionSet = instructionSet
    self.microphones = microphones
    self.capacity = capacity
    self.outputs = outputs
    samples = AlignedMemory(count: microphones * capacity)
    inputs = .allocate(capacity: microphones)
    inputs.initialize(
      repeating: InputMemory(cleanFrames: 0, dropout: .init(toneAge: 0, signalAge: 0)), count: microphones)
    highPasses = .allocate(capacity: outputs)
    highPasses.initialize(repeating: SIMD2(), count: outputs)
    place = .allocate(capacity: 1)
    place.initialize(to: Place())
  }

  /// Thread: any but the callback's.
  func free() {
    samples.free()
    inputs.deallocate()
    highPasses.deallocate()
    place.deallocate()
  }

  /// Copies the end of the live history.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter periods: how many.
  @_noLocks @_noAllocation
  func keep(_ history: UnsafePointer<pinna_history>, period: Int, periods: Int) {
    let mask = history.pointee.capacity &- 1
    let most = min(periods &* period, min(capacity, history.pointee.capacity))
    let (frames, end) = (most &- most % period, history.pointee.written)
    // The ring's end comes after `head` frames.
    let start = (end &- frames) & mask
    let head = min(frames, mask &+ 1 &- start)
    place.pointee.period = period
    place.pointee.frame = end
    place.pointee.frames = frames
    var microphone = 0
    while microphone < microphones {
      let row = history.pointee.frames + microphone &* history.pointee.stride
      let target = samples.floats + microphone &* capacity
      target.copy(from: row + start, count: head)
      (target + head).copy(from: row, count: frames &- head)
      microphone &+= 1
    }
  }

  /// Keeps what mutes and fades a microphone.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func keep(cleanFrames: Int, _ dropout: DropoutFade.State, ofMicrophone n: Int) {
    guard n < microphones else { return }
    inputs[n].cleanFrames = cleanFrames
    inputs[n].dropout = dropout
  }

  /// Keeps the memory of one output's high-pass.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func keep(highPass: SIMD2<Double>, ofOutput n: Int) { highPasses[n] = highPass }

  /// Thread: disk thread, after the take has begun.
  func contents() -> EngineMemory {
    var memory = EngineMemory()
    memory.instructionSet = instructionSet
    (memory.period, memory.frame) = (place.pointee.period, place.pointee.frame)
    memory.microphones = (0..<microphones).map { m in
      Array(UnsafeBufferPointer(start: samples.floats + m * capacity, count: place.pointee.frames))
    }
    memory.inputs = Array(UnsafeBufferPointer(start: inputs, count: microphones))
    memory.highPasses = Array(UnsafeBufferPointer(start: highPasses, count: outputs))
    return memory
  }
}
