import CRealtime
import Synchronization
import Threads

/// The engine: microphones in; out come left and right, and the outputs of other feeds. It runs in JACK's process callback.
///
/// Two sides share it:
/// - The callback's thread calls `process` and, in freewheel, `hasRoomInTake`, `hasPlayback` and
///   `isAdaptationCaughtUp`.
/// - The control side is any other thread (`Engine+Control.swift`). It takes a lock that the callback never touches.
///
/// They communicate through one queue in each direction, one atomic pointer to a prepared convolver, and counters.
public final class Engine: @unchecked Sendable {
  // Unchecked: only the callback uses `state` and the work areas; the rest is described above.

  public let microphones: Int
  public let taps: Int
  /// In hertz.
  public let sampleRate: Double
  public let instructionSet: InstructionSet
  /// One per vector length. `ConvolverLayout` chooses among them for each period.
  let kernelTables: [KernelCalls]
  let kernels: KernelCalls

  // Callback only.
  let state: UnsafeMutablePointer<CallbackState>
  /// Live until the first convolver is adopted, and during unprepared periods that the live one has no room for.
  private let spareHistory: InputHistory
  let unmanagedSpareHistory: Unmanaged<InputHistory>
  let feeds = FeedTable()
  let oldLeft = AlignedMemory(count: Partitioning.longestPeriod)
  let oldRight = AlignedMemory(count: Partitioning.longestPeriod)
  let unheardLeft = AlignedMemory(count: Partitioning.longestPeriod)
  let unheardRight = AlignedMemory(count: Partitioning.longestPeriod)
  /// This period's samples of the microphones (`capture`).
  let captured: AlignedMemory
  let capturedInputs: UnsafeMutablePointer<UnsafePointer<Float>?>
  let direct: DirectForm
  let fade: Crossfade
  /// To filters that follow the sound.
  let adaptedFade: Crossfade
  let longestPeriod = Partitioning.longestPeriod
  /// Frames of the microphones that the engine remembers at most.
  let longestHistory: Int

  // Shared.
  let messages = ControlQueue()
  let reports = ReportQueue()
  /// Address of a `Convolver` prepared for another period, which the callback has not adopted yet; 0 for none.
  let prepared = Atomic<UInt>(0)
  /// The period of that convolver.
  let preparedPeriod = Atomic<Int>(0)
  /// Address of the live `InputHistory`. Its owner is released only after the callback has reported that.
  let live: Atomic<UInt>
  let counters = EngineCounters()
  let meters: Meters
  /// The newest frames of the outputs.
  public let tap = OutputTap()
  private let playback = Playback()
  let microphoneGuard: MicrophoneGuard
  let dropouts: DropoutFade
  /// The pre-roll buffer of `main` and the microphones. Empty when pre-roll is off.
  public let preRoll: PreRoll

  /// The way of filters that follow the sound; nil if none ever will.
  public let stream: FilterStream?
  let unmanagedStream: Unmanaged<FilterStream>?

  // Control side only.
  let control = Locked(ControlSide())
  /// The caches for which layouts are chosen.
  private let caches: ProcessorCaches
  /// The layout for its partitioning, whatever the model says: for measurements. Set it before the first `prepare`.
  package var layoutOverride: ConvolverLayout?

  /// Thread: control side.
  /// - Parameters:
  ///   - fadeFrames: length of every crossfade; nil for 20 ms. 0 switches fades off, for tests.
  ///   - preRoll: a pre-roll buffer for two outputs and the same number of microphones; nil switches pre-roll off.
  ///   - instructionSet: an available one; nil for the fastest.
  ///   - caches: those that the memory layout is chosen for.
  ///   - adapts: whether filters can follow the sound (`stream`).
  public init(
    microphones: Int, taps: Int, sampleRate: Double, fadeFrames: Int? = nil, preRoll: PreRoll? = nil,
    instructionSet: InstructionSet? = nil, caches: ProcessorCaches = .current, adapts: Bool = false
  ) {
    self.caches = caches
    let set = instructionSet ?? .best
    guard set.isAvailable, let tables = KernelRegistry.tables(set) else {
      preconditionFailure("this processor has no \(set.rawValue), or no kernels for it are registered")
    }
    self.instructionSet = set
    kernelTables = tables.map { KernelCalls($0) }
    kernels = kernelTables[0]
    self.microphones = microphones
    self.taps = taps
    self.sampleRate = sampleRate
    var capacity = 1
    while capacity < taps + 2 * Partitioning.longestPeriod { capacity *= 2 }
    longestHistory = capacity
    spareHistory = InputHistory(microphones: microphones, capacity: capacity)
    unmanagedSpareHistory = .passUnretained(spareHistory)
    live = Atomic(UInt(bitPattern: Unmanaged.passUnretained(spareHistory).toOpaque()))
    state = .allocate(capacity: 1)
    state.initialize(to: CallbackState(live: spareHistory, meteredChannels: microphones + 2))
    direct = DirectForm(microphones: microphones, taps: taps, sampleRate: sampleRate, kernels: kernels)
    fade = Crossfade(frames: fadeFrames ?? Crossfade.frames(sampleRate: sampleRate))
    adaptedFade = Crossfade(frames: fadeFrames == 0 ? 0 : FilterStream.fadeFrames(sampleRate: sampleRate))
    captured = AlignedMemory(count: microphones * Partitioning.longestPeriod)
    capturedInputs = .allocate(capacity: microphones)
    stream = adapts ? FilterStream(microphones: microphones, taps: taps, sampleRate: sampleRate) : nil
    unmanagedStream = stream.map { .passUnretained($0) }
    microphoneGuard = MicrophoneGuard(microphones: microphones, sampleRate: sampleRate)
    dropouts = DropoutFade(microphones: microphones, sampleRate: sampleRate)
    self.preRoll = preRoll ?? PreRoll(microphones: microphones, capacityFrames: 0)
    precondition(self.preRoll.outputs == 2 && self.preRoll.microphones == microphones)
    feeds.states[0].preRoll = .passUnretained(self.preRoll)
    feeds.states[0].lane = stream?.addLane(feed: 0, outputs: 2)
    meters = Meters(channels: microphones + 2 + FeedTable.mostOutputs, sampleRate: sampleRate)
  }

  deinit {
    state.pointee.residents?.deallocate()
    state.deallocate()
    oldLeft.free()
    oldRight.free()
    unheardLeft.free()
    unheardRight.free()
    captured.free()
    capturedInputs.deallocate()
    fade.free()
    adaptedFade.free()
  }

  /// The layouts that the engine has kernels for, of which it chooses one.
  ///
  /// Thread: control side.
  package func layouts(period frames: Int) -> [ConvolverLayout] {
    ConvolverLayout.candidates(
      Partitioning(microphones: microphones, taps: taps, period: frames), lanes: kernelTables.map { $0.lanes }
    )
  }

  /// The layout for periods of `frames`.
  ///
  /// Thread: control side.
  package func layout(period frames: Int) -> ConvolverLayout {
    let plan = Partitioning(microphones: microphones, taps: taps, period: frames)
    if let layoutOverride, layoutOverride.plan == plan { return layoutOverride }
    return ConvolverLayout(plan, lanes: kernelTables.map { $0.lanes }, caches: caches)
  }

  /// What the model of the layouts expects a period without a crossfade to take, in microseconds.
  ///
  /// Thread: control side.
  /// - Parameter outputs: of each feed, main's two included. Outputs are computed in pairs.
  public func predictedMicroseconds(period frames: Int, outputs: [Int]) -> Double {
    guard (1...Partitioning.longestPeriod).contains(frames) else { return 0 }
    return layout(period: frames).cost(caches, pairs: outputs.reduce(0) { $0 + ($1 + 1) / 2 }).time
  }

  /// Frames from the request of other filters until their fade begins: those in which their tail is formed.
  ///
  /// Thread: control side.
  public func formingFrames(period frames: Int) -> Int { max(0, layout(period: frames).block - 1) * frames }

  /// Processes one period: microphones into the outputs.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  public func process(_ period: borrowing Period) {
    processCaptured(
      Period(
        frames: period.frames, inputs: capture(period), left: period.left, right: period.right,
        feeds: period.feeds, timing: period.timing))
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func processCaptured(_ period: borrowing Period) {
    let isRetired = retire(by: period.timing)
    adoptConvolver(period)
    chooseHistory(period.frames)
    if !isRetired {
      recordLostTime(period.timing, before: period.frames)
      endTakeWithTransport(period.timing)
      applyControl()
      beginFadeOrTake(period.timing, period.frames)
    }
    let rejected = receive(period)
    tapMicrophones(period.frames)
    convolve(period)
    applyHighPasses(period)
    if let ended = playback.mix(into: period, fade: fade) { reports.push(.playbackEnded(ended)) }
    if isRetired { fadeOut(period) }
    tap.append(period.left, period.right, period.frames)
    updateMeters(period, rejected: rejected)
    if !isRetired {
      reportSubstitutions()
      record(period)
      followTransport(period)
    }
    finishPeriod(period.frames)
  }

  /// Whether a microphone is muted because it sends invalid samples.
  ///
  /// Thread: any.
  public func isMuted(microphone: Int) -> Bool { microphoneGuard.isMuted(microphone) }

  /// Whether a running take has room for `frames`. Only in freewheel, where there is no deadline, before `process`.
  ///
  /// Thread: JACK's realtime thread (process callback).
  public func hasRoomInTake(frames: Int) -> Bool {
    guard case .recording(_, let ring) = state.pointee.take else { return true }
    return ring._withUnsafeGuaranteedRef { $0.freeFrames() >= frames || $0.capacityFrames < frames }
  }

  /// Whether the playback ring holds `frames`. Only in freewheel, where there is no deadline, before `process`.
  ///
  /// Thread: JACK's realtime thread (process callback).
  public func hasPlayback(frames: Int) -> Bool { playback.isReady(frames: frames) }

  /// Whether what follows from all periods so far has been delivered to `stream`. Only in freewheel, where there is no
  /// deadline, before `process`.
  ///
  /// Thread: JACK's realtime thread (process callback).
  public var isAdaptationCaughtUp: Bool { stream?.isCaughtUp ?? true }

  // MARK: - Realtime thread: requests

  /// Adopts the convolver prepared for the server's new period.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func adoptConvolver(_ period: borrowing Period) {
    let (frames, start) = (period.frames, period.timing.frame)
    let isFirst = state.pointee.frame == 0
    if isFirst {
      state.pointee.live._withUnsafeGuaranteedRef { $0.begin(at: start) }
      unmanagedStream?._withUnsafeGuaranteedRef { $0.begin(at: start) }
    }
    let running = state.pointee.convolver
    if let running, running._withUnsafeGuaranteedRef({ $0.fits(frames: frames) }) { return }
    // Acquiring: everything the control side built is visible before it is used here. Releasing: the reads of the old
    // generation of spectra are over before the control side overwrites it.
    let address = prepared.exchange(0, ordering: .acquiringAndReleasing)
    guard let pointer = UnsafeRawPointer(bitPattern: address) else { return }
    let adopted = Unmanaged<Convolver>.fromOpaque(pointer)
    state.pointee.convolver = adopted
    if adopted._withUnsafeGuaranteedRef({ $0.hasTail() }) { playBase() }
    if isFirst { adopted._withUnsafeGuaranteedRef { $0.begin(at: start) } }
    guard let running else { return }
    let serial = running._withUnsafeGuaranteedRef { $0.serialNumber() }
    if running._withUnsafeGuaranteedRef({ $0.ownHistory() }).toOpaque() == state.pointee.live.toOpaque() {
      state.pointee.replacedConvolver = serial
    } else {
      reports.push(.convolverReplaced(serial: serial))
    }
  }

  /// Applies requests from the control side: at most 16 per period, and only while there is room for reports.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func applyControl() {
    var budget = 16
    while budget > 0, reports.freeCount() >= 16 {
      guard let message = messages.pop() else { return }
      switch message {
      case .change(let feed, let setting): acceptChange(feed, setting)
      case .substitute(let feed, let setting): waitToFade(feed, to: setting)
      case .beginFeed(let ticket, let feed, let outputs, let firstOutput, let preRoll, let lane):
        beginFeed(
          ticket, feed: feed,
          FeedState(outputs: outputs, firstOutput: firstOutput, preRoll: preRoll, lane: lane))
      case .endFeed(let ticket, let feed): endFeed(ticket, feed: feed)
      case .beginTake(let ticket, let ring, let followsTransport):
        beginTake(ticket, ring, followsTransport: followsTransport)
      case .beginPlayback(let ticket, let ring):
        if !playback.begin(ticket, ring) { reports.push(.playbackEnded(ticket)) }
      case .endPlayback: playback.end(fade: fade)
      case .endTake(let ticket): endTake(ticket)
      }
      budget &-= 1
    }
  }

  /// Begins the pending changes, or else the armed take, if it is due.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func beginFadeOrTake(_ timing: Timing, _ frames: Int) {
    let isFading = beginFades()
    adapt(frames)
    guard case .armed(let ticket, let ring) = state.pointee.take,
      isTakeDue(ticket, timing, isFading: isFading)
    else { return }
    state.pointee.take = .recording(ticket, ring)
    let preRoll = holdPreRolls(for: ring)
    keepMemory(in: ring, frames)
    // Of periods missed before the take was armed, nothing belongs to it.
    let missed = state.pointee.isTakeArmed ? missedTransport(timing) ?? 0 : 0
    let transportFrame = state.pointee.takeFollowsTransport ? timing.transport.frame &- missed : nil
    let microseconds = timing.microseconds &- Int(Double(missed) * 1e6 / sampleRate)
    ring._withUnsafeGuaranteedRef {
      $0.begin(preRoll: preRoll, microseconds: microseconds, transportFrame: transportFrame)
      if missed > 0 { $0.skip(missed, until: timing.microseconds) }
    }
    counters.recording.store(true, ordering: .relaxed)
    reports.push(.takeBegan(ticket, frame: state.pointee.frame))
  }

  // MARK: - Realtime thread: meters and the clock

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func updateMeters(_ period: borrowing Period, rejected: Int) {
    var clipped = 0
    var feed = 0
    while feed < state.pointee.feedsEnd {
      let first = feed == 0 ? microphones : microphones &+ 2 &+ feeds.states[feed].firstOutput
      var n = 0
      while n < feeds.states[feed].outputs {
        if let samples = output(feed, n, period) {
          clipped &+= measureOutput(first &+ n, samples, period.frames)
        }
        n &+= 1
      }
      feed &+= 1
    }
    if rejected > 0 { counters.rejectedSamples.wrappingAdd(rejected, ordering: .relaxed) }
    if clipped > 0 { counters.clippedSamples.wrappingAdd(clipped, ordering: .relaxed) }
    meters.advance(frames: period.frames, channels: state.pointee.meteredChannels)
  }

  /// Measures one output.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: the number of samples above full scale.
  @_noLocks @_noAllocation
  private func measureOutput(_ channel: Int, _ samples: UnsafeMutablePointer<Float>, _ frames: Int) -> Int {
    var measure = pinna_measure(energy: 0, peak: 0, rejected: 0, clipped: 0)
    kernels.copyAndMeasure(samples, nil, frames, &measure)
    meters.observe(channel, measure, frames: frames)
    return measure.clipped
  }

  /// Advances the clock and the fades.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func finishPeriod(_ frames: Int) {
    state.pointee.frame &+= frames
    counters.frames.store(state.pointee.frame, ordering: .relaxed)
    advanceFades(frames)
  }
}
