import CRealtime
import Synchronization

// In this file, because a debug build's proof of the callback sees one file at a time.
/// A place in a take where time passed without recorded frames.
public struct TakeGap: Hashable, Sendable, BitwiseCopyable {
  public enum Cause: String, Sendable, BitwiseCopyable {
    /// Overrun: the disk was too slow, and the ring was full.
    case disk
    /// Pinna stalled while the server continued.
    case stall
    /// The server changed its period or sample rate, and left Pinna out meanwhile.
    case period
    /// Ports or connections of the graph changed, and the server left Pinna out meanwhile.
    case graph
    /// The server did not wait for Pinna in freewheel; or it went over to it or back, which of length 0 means that nobody
    /// knows how many frames are missing there.
    case freewheel
    /// The server stalled: there were no frames, so none are missing.
    case server
  }

  /// Frame at which it begins, counted from the first one that the callback wrote.
  public let start: Int
  /// Length in frames, which silence replaces.
  public let frames: Int
  public let cause: Cause
  /// Duration of the server's stall, beyond the time of its frames; of a stall of Pinna, when the server called it again,
  /// on the monotonic clock.
  public let microseconds: Int

  /// Whether Pinna seemed to stall, for known frames.
  var isCountedStall: Bool {
    @_noLocks @_noAllocation
    get { if case .stall = cause { frames > 0 } else { false } }
  }

  @_noLocks @_noAllocation
  func shorter(by count: Int) -> TakeGap {
    TakeGap(start: start, frames: frames &- count, cause: cause, microseconds: microseconds)
  }

  @_noLocks @_noAllocation
  func earlier(by count: Int) -> TakeGap {
    TakeGap(start: start &- count, frames: frames, cause: cause, microseconds: microseconds)
  }
}

/// The ring buffer of one take, from the callback to the take's disk thread.
///
/// It holds whole frames in order: main's outputs, those of other feeds, then microphones, so that all stay in step. Gaps
/// are in a queue of their own, with their exact lengths.
public final class TakeRing: @unchecked Sendable {
  // Unchecked: single producer (the callback), single consumer (the disk thread); the cursors order their accesses.

  /// Of `main`: 0, 1 (left) or 2 (left and right).
  public let outputs: Int
  /// How many outputs of other feeds it holds.
  public let feedOutputs: Int
  public let microphones: Int

  /// Where a take began.
  public struct Start: Sendable, BitwiseCopyable {
    /// Frames of pre-roll before its first frame.
    public let preRoll: Int
    /// Time of that frame on the monotonic clock.
    public let microseconds: Int
    /// The transport's frame at that frame, if the transport began the take.
    public let transportFrame: Int?

    @_noLocks @_noAllocation
    init(preRoll: Int, microseconds: Int, transportFrame: Int?) {
      self.preRoll = preRoll
      self.microseconds = microseconds
      self.transportFrame = transportFrame
    }
  }

  public var channels: Int { width }
  public let capacityFrames: Int
  private let width: Int
  /// The places of the feeds' outputs in `Period.feeds`, in order, and the same as bits.
  private let places: UnsafeMutablePointer<Int>
  private let placeBits: UInt64
  private let samples: AlignedMemory
  private let cursor: RingCursor
  private let gaps = GapQueue()
  /// How long a stall stays open, in frames: periods that are late follow each other, for 7936 frames in the longest run seen.
  private static let shortestPatience = 8192
  private let begun = Atomic<Bool>(false)
  private let finished = Atomic<Bool>(false)
  // Frames lost so far, whether queued as a gap or not, and whether a stall lost the last of them.
  private let lostCount = Atomic<Int>(0)
  private let lostToStall = Atomic<Bool>(false)
  // Callback only: length of the take so far, and lost frames that are not queued as a gap yet.
  private var length = 0
  private var unflushedGap = 0
  // Callback only: when the last stall ended, on the monotonic clock.
  private var stallEnd = 0
  // Disk thread only: frames of the gaps drained so far.
  private var drainedGapFrames = 0
  // Written by the callback before `begun`.
  private var origin = Start(preRoll: 0, microseconds: 0, transportFrame: nil)
  // Reserved by the control side before the callback knows the ring, if it holds microphones.
  private var reserved: ReservedMemory?
  // Written by the callback before `finished`.
  private var endedWithTransport = false

  /// If there is no memory, the program ends.
  ///
  /// Thread: any but the callback's.
  /// - Parameters:
  ///   - outputs: of `main`.
  ///   - places: of the recorded outputs of other feeds in `Period.feeds`, in the order in which a frame holds them. The
  ///     callback gives all of them as long as the take runs.
  public convenience init(outputs: Int, places: [Int] = [], microphones: Int = 0, capacityFrames: Int) {
    let memory = AlignedMemory(count: (outputs + places.count + microphones) * capacityFrames)
    self.init(outputs, places, microphones, capacityFrames, memory)
  }

  /// A large ring, whose allocation may fail.
  ///
  /// Thread: any but the callback's.
  public convenience init(
    outputs: Int, places: [Int] = [], microphones: Int, reservingFrames capacityFrames: Int
  ) throws(OutOfMemory) {
    let memory = try AlignedMemory(reserving: (outputs + places.count + microphones) * capacityFrames)
    self.init(outputs, places, microphones, capacityFrames, memory)
  }

  /// Thread: any but the callback's.
  private init(
    _ outputs: Int, _ places: [Int], _ microphones: Int, _ capacityFrames: Int, _ memory: AlignedMemory
  ) {
    precondition((0...2).contains(outputs) && places.allSatisfy((0..<FeedTable.mostOutputs).contains))
    self.outputs = outputs
    feedOutputs = places.count
    self.microphones = microphones
    self.capacityFrames = capacityFrames
    width = outputs + places.count + microphones
    self.places = .allocate(capacity: max(1, places.count))
    for (n, place) in places.enumerated() { self.places[n] = place }
    placeBits = places.reduce(0) { $0 | 1 << UInt64($1) }
    samples = memory
    cursor = RingCursor(capacity: capacityFrames)
  }

  deinit {
    samples.free()
    places.deallocate()
    reserved?.free()
  }

  /// Reserves what it takes to keep the engine's memory, if the take has microphones.
  ///
  /// Thread: control side, before the callback knows the ring.
  func reserveMemory(frames: Int, _ instructionSet: InstructionSet) {
    guard microphones > 0, reserved == nil else { return }
    reserved = ReservedMemory(
      microphones: microphones, capacity: frames, outputs: outputs + feedOutputs, instructionSet)
  }

  // MARK: - Realtime thread

  /// Frames that fit. In freewheel the caller waits for room.
  ///
  /// Thread: JACK's realtime thread (process callback).
  public func freeFrames() -> Int { cursor.freeCount() }

  /// Fixes the frame of the take that comes next, for whoever tells of it: open stalls are closed.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: its number, from the first frame that the callback wrote.
  @_noLocks @_noAllocation
  func fixNextFrame() -> Int {
    flushGap()
    gaps.close()
    return length &+ unflushedGap
  }

  /// Whether it records an output of a feed other than `main`.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter place: of the output in `Period.feeds`.
  @_noLocks @_noAllocation
  func records(_ place: Int) -> Bool { placeBits &>> UInt64(truncatingIfNeeded: place) & 1 == 1 }

  /// Where a frame holds this output of a feed; nil if it does not.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter place: in `Period.feeds`.
  @_noLocks @_noAllocation
  private func channel(ofPlace place: Int) -> Int? {
    var n = 0
    while n < feedOutputs {
      if places[n] == place { return outputs &+ n }
      n &+= 1
    }
    return nil
  }

  /// Keeps the engine's memory of the microphones, before the take begins.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func keep(_ history: UnsafePointer<pinna_history>, period: Int, periods: Int) {
    guard let reserved else { return }
    reserved.keep(history, period: period, periods: periods)
  }

  /// Keeps what mutes and fades a microphone, before the take begins.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func keep(cleanFrames: Int, _ dropout: DropoutFade.State, ofMicrophone n: Int) {
    guard let reserved else { return }
    reserved.keep(cleanFrames: cleanFrames, dropout, ofMicrophone: n)
  }

  /// Keeps the memory of the high-pass of one output, before the take begins.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameters:
  ///   - place: in `Period.feeds`; nil for main's.
  ///   - n: counts main's outputs.
  @_noLocks @_noAllocation
  func keep(highPass: SIMD2<Double>, place: Int?, ofMain n: Int) {
    guard let reserved else { return }
    if let place {
      guard let channel = channel(ofPlace: place) else { return }
      reserved.keep(highPass: highPass, ofOutput: channel)
    } else if n < outputs {
      reserved.keep(highPass: highPass, ofOutput: n)
    }
  }

  /// Begins the take: the next frame is its first.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameters:
  ///   - preRoll: frames of pre-roll before it.
  ///   - microseconds: its time on the monotonic clock.
  ///   - transportFrame: the transport's frame, if the transport began the take.
  @_noLocks @_noAllocation
  func begin(preRoll: Int, microseconds: Int, transportFrame: Int?) {
    origin = Start(preRoll: preRoll, microseconds: microseconds, transportFrame: transportFrame)
    begun.store(true, ordering: .releasing)
  }

  /// Appends one whole period, or a gap of its length. What has no buffer is silent.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func write(
    left: UnsafePointer<Float>, right: UnsafePointer<Float>,
    feeds: UnsafePointer<UnsafeMutablePointer<Float>?>?, inputs: UnsafePointer<UnsafePointer<Float>?>,
    frames: Int
  ) {
    // Two slots of the queue stay free, for a pause and for the end of the take.
    var hasRoom = cursor.freeCount() >= frames
    if unflushedGap > 0, gaps.freeCount() <= 2 { hasRoom = false }
    guard hasRoom else { return loseFrames(frames, .disk) }
    flushGap()
    if outputs > 0 { copy(left, 0, frames) }
    if outputs > 1 { copy(right, 1, frames) }
    var n = 0
    while n < feedOutputs {
      copy(UnsafePointer(feeds?[places[n]]), outputs &+ n, frames)
      n &+= 1
    }
    n = 0
    while n < microphones {
      copy(inputs[n], outputs &+ feedOutputs &+ n, frames)
      n &+= 1
    }
    length &+= frames
    cursor.produced(frames)
  }

  /// Adds a gap: the server played `frames` that the callback never received.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter end: when the server called again, on the monotonic clock.
  @_noLocks @_noAllocation
  func skip(_ frames: Int, until end: Int) {
    loseFrames(frames, .stall)
    stallEnd = end
  }

  /// Before a period with a time of its own is written: frames that seemed lost long enough before are lost, and the oldest
  /// of those that hold too much back.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func confirmStalls(period: Int) {
    let patience = max(Self.shortestPatience, 4 &* period)
    gaps.closeOld(
      length: length, patience: patience, recorded: cursor.producedCount(),
      mostHeldBack: min(capacityFrames / 2, 2 &* patience))
  }

  /// Before a period is written that has the time of the one before: the last frames that seemed lost were late.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func takeBackStall(frames: Int) {
    length &-= gaps.takeBack(frames, from: lostCount)
  }

  /// Adds a place where frames may be missing that nobody counts.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter time: of the next frame, on the monotonic clock.
  @_noLocks @_noAllocation
  func skipUncounted(at time: Int) {
    flushGap()
    guard unflushedGap == 0, gaps.freeCount() > 1 else { return }
    push(TakeGap(start: length, frames: 0, cause: .stall, microseconds: time))
  }

  /// Adds a pause: the server stalled.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func pause(microseconds: Int) {
    flushGap()
    guard unflushedGap == 0, gaps.freeCount() > 1 else { return }
    push(TakeGap(start: length, frames: 0, cause: .server, microseconds: microseconds))
  }

  /// Ends the take: the last frame has been written.
  /// - Parameter withTransport: whether it ends because the transport stopped.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func finish(withTransport: Bool) {
    flushGap()
    gaps.close()
    endedWithTransport = withTransport
    finished.store(true, ordering: .releasing)
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func copy(_ source: UnsafePointer<Float>?, _ channel: Int, _ frames: Int) {
    var at = cursor.writeIndex()
    var n = 0
    while n < frames {
      samples.floats[at &* width &+ channel] = if let source { source[n] } else { 0 }
      at = at &+ 1 == capacityFrames ? 0 : at &+ 1
      n &+= 1
    }
  }

  /// Counts lost frames. They become a gap when the next frame is written, or when the cause changes.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func loseFrames(_ frames: Int, _ cause: TakeGap.Cause) {
    if unflushedGap > 0, missingCause != cause, gaps.freeCount() > 2 { flushGap() }
    if unflushedGap == 0 { lostToStall.store(cause == .stall, ordering: .relaxed) }
    unflushedGap &+= frames
    // Releasing: a reader that sees this count also sees every frame and gap before it.
    lostCount.store(lostCount.load(ordering: .relaxed) &+ frames, ordering: .releasing)
  }

  /// Thread: any.
  private var missingCause: TakeGap.Cause {
    @_noLocks @_noAllocation
    get { lostToStall.load(ordering: .relaxed) ? .stall : .disk }
  }

  /// Queues the lost frames as one gap.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func flushGap() {
    guard unflushedGap > 0, gaps.freeCount() > 0 else { return }
    let cause = missingCause
    push(
      TakeGap(
        start: length, frames: unflushedGap, cause: cause, microseconds: cause == .stall ? stallEnd : 0))
    length &+= unflushedGap
    unflushedGap = 0
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func push(_ gap: TakeGap) {
    gaps.append(gap, recorded: cursor.producedCount())
  }

  // MARK: - Disk thread

  /// Where the take began; nil until it has.
  ///
  /// Thread: any.
  public var start: Start? { begun.load(ordering: .acquiring) ? origin : nil }

  /// What the engine remembered when the take began; nil before it has, and without microphones.
  ///
  /// Thread: disk thread.
  public var memory: EngineMemory? { start == nil ? nil : reserved?.contents() }

  /// Frames lost so far, which silence replaces.
  ///
  /// Thread: any.
  public var lostFrames: Int { lostCount.load(ordering: .relaxed) }

  /// Length of the take so far, lost frames included, from the first frame that the callback wrote.
  ///
  /// Thread: any.
  public var frames: Int {
    // Lost frames that turned out to be late are taken off before the next ones are recorded.
    let recorded = cursor.producedCount()
    return recorded + lostFrames
  }

  /// Frames that the disk thread has not drained yet.
  ///
  /// Thread: any.
  public var waitingFrames: Int { capacityFrames - cursor.freeCount() }

  /// Whether a gap waits until it is certain how long it is. The frames behind it are not drained before.
  ///
  /// Thread: disk thread.
  public var hasOpenGap: Bool { gaps.drainableFrames != .max }

  /// Whether the callback has written its last frame. Read it before draining; the drain then reaches that frame.
  ///
  /// Thread: any.
  public var isFinished: Bool { finished.load(ordering: .acquiring) }

  /// Whether the callback ended the take because the transport stopped.
  ///
  /// Thread: any.
  public var hasEndedWithTransport: Bool { isFinished && endedWithTransport }

  /// Drains everything that arrived since the last call, in order: runs of interleaved frames, and gaps.
  ///
  /// Thread: disk thread.
  /// - Parameters:
  ///   - position: length of the take drained so far, which this advances.
  ///   - isLast: whether this is the last call. Lost frames that the callback did not queue before it ended become the
  ///     last gap.
  public func drain<Failure: Error>(
    position: inout Int, isLast: Bool = false,
    frames: (UnsafeBufferPointer<Float>) throws(Failure) -> Void,
    gap: (TakeGap) throws(Failure) -> Void
  ) throws(Failure) {
    let filled = cursor.filledCount()
    var available = filled
    let drainable = gaps.drainableFrames
    if !isLast, drainable != .max { available = min(available, drainable - cursor.consumedCount()) }
    // After the frames: a callback that is still running queues a gap before the frames that follow it. What it has lost is
    // then in a gap that is drained below, or missing at `position`; or behind frames that came meanwhile and are not in the
    // take.
    let open = isLast ? gaps.seal() : 0
    let lostSoFar = lostCount.load(ordering: .acquiring)
    let hasMore = cursor.filledCount() > filled
    while let next = gaps.first {
      guard try drain(until: next, &available, &position, frames) else { break }
      gaps.removeFirst()
      try deliver(next, position: &position, to: gap)
    }
    for n in 0..<open {
      let next = gaps.open(n)
      guard try drain(until: next, &available, &position, frames) else { break }
      try deliver(next, position: &position, to: gap)
    }
    _ = try drain(until: nil, &available, &position, frames)
    let missing = lostSoFar - drainedGapFrames
    guard isLast, missing > 0, !hasMore else { return }
    let last = TakeGap(start: position, frames: missing, cause: missingCause, microseconds: 0)
    try deliver(last, position: &position, to: gap)
  }

  /// Thread: disk thread.
  private func deliver<Failure: Error>(
    _ gap: TakeGap, position: inout Int, to body: (TakeGap) throws(Failure) -> Void
  ) throws(Failure) {
    position += gap.frames
    drainedGapFrames += gap.frames
    try body(gap)
  }

  /// Drains the frames before a gap, all without one.
  ///
  /// Thread: disk thread.
  /// - Parameter available: how many frames there are, from `position` on.
  /// - Returns: whether that reached the gap.
  private func drain<Failure: Error>(
    until gap: TakeGap?, _ available: inout Int, _ position: inout Int,
    _ frames: (UnsafeBufferPointer<Float>) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    while available > 0, position < gap?.start ?? .max {
      // In short runs, so that room becomes free while a slow disk is still writing.
      let run = min(available, (gap?.start ?? .max) - position, capacityFrames - cursor.readIndex(), 8192)
      let start = samples.floats + cursor.readIndex() * channels
      defer { cursor.consumed(run) }
      position += run
      available -= run
      try frames(UnsafeBufferPointer(start: start, count: run * channels))
    }
    return gap.map { position >= $0.start } ?? true
  }
}
