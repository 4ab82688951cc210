import CRealtime
import Synchronization
import Threads

/// Microphones in, left and right out: what runs in the process callback.
///
/// Two sides share it. The *callback*'s thread calls `process`, and in freewheel `hasRoomInTake`. The *control side* is everybody else:
/// its methods (`Engine+Control.swift`) may be called from any thread but the callback's, and take a lock that
/// the callback never sees. Between the two stand one queue each way, one hand-over place for a prepared
/// convolver, and counters.
public final class Engine: @unchecked Sendable {
  // Unchecked: `state` and the scratch memory belong to the callback alone; see above for the rest.

  public let microphones: Int
  public let taps: Int
  public let sampleRate: Double
  public let instructionSet: InstructionSet
  /// One per vector length; the control side chooses among them for each period.
  let kernelTables: [KernelCalls]
  private let kernels: KernelCalls

  // Callback only.
  let state: UnsafeMutablePointer<CallbackState>
  let history: UnsafeMutablePointer<InputHistory>
  let oldLeft = AlignedMemory(count: Partitioning.longestPeriod)
  let oldRight = AlignedMemory(count: Partitioning.longestPeriod)
  let fade: Crossfade

  // Shared.
  let messages = ControlQueue()
  let reports = ReportQueue()
  /// A convolver for another period, waiting for the callback: address of a `Convolver`, 0 for none.
  let prepared = Atomic<UInt>(0)
  let counters = EngineCounters()
  let meters: Meters
  private let playback = Playback()
  private let microphoneGuard: MicrophoneGuard
  /// What a take can reach back to; of no length where it is not wanted.
  public let preRoll: PreRoll
  /// The same, for the callback, which counts no references.
  private let past: Unmanaged<PreRoll>

  // Control side only.
  let control = Locked(ControlSide())

  /// - Parameters:
  ///   - fadeFrames: length of every crossfade; nil for 20 ms. 0 switches fades off, for tests.
  ///   - preRoll: what a take can reach back to, of as many microphones; nil for nothing.
  ///   - instructionSet: one that is available; nil for the best.
  public init(
    microphones: Int, taps: Int, sampleRate: Double, fadeFrames: Int? = nil, preRoll: PreRoll? = nil,
    instructionSet: InstructionSet? = nil
  ) {
    let set = instructionSet ?? .best
    guard set.isAvailable, let tables = KernelRegistry.tables(set) else {
      preconditionFailure("this processor has no \(set), or no kernels for it are registered")
    }
    self.instructionSet = set
    kernelTables = tables.map { KernelCalls($0) }
    kernels = kernelTables[0]
    self.microphones = microphones
    self.taps = taps
    self.sampleRate = sampleRate
    state = .allocate(capacity: 1)
    state.initialize(to: CallbackState())
    history = .allocate(capacity: 1)
    history.initialize(to: InputHistory(microphones: microphones, taps: taps))
    fade = Crossfade(frames: fadeFrames ?? Int((0.02 * sampleRate).rounded()))
    microphoneGuard = MicrophoneGuard(microphones: microphones, sampleRate: sampleRate)
    self.preRoll = preRoll ?? PreRoll(microphones: microphones, capacityFrames: 0)
    precondition(self.preRoll.channels == microphones + 2)
    past = .passUnretained(self.preRoll)
    meters = Meters(channels: microphones + 2, sampleRate: sampleRate)
  }

  deinit {
    history.pointee.free()
    history.deallocate()
    state.deallocate()
    oldLeft.free()
    oldRight.free()
    fade.free()
  }

  /// Before the first period only.
  func setInitial(_ sound: Sound) { state.pointee.current = sound }

  /// The process callback: one period of microphones into `left` and `right`.
  @_noLocks @_noAllocation
  public func process(_ period: borrowing Period) {
    if state.pointee.frame == 0 { history.pointee.begin(at: period.timing.frame) }
    adoptConvolver(period.frames)
    noteTiming(period.timing)
    applyControl()
    beginFadeOrTake(period.timing)
    let rejected = history.pointee.append(
      period.inputs, frames: period.frames, kernels: kernels, guard: microphoneGuard, meters: meters)
    convolve(period)
    if let ended = playback.mix(into: period, fade: fade) { reports.push(.playbackEnded(ended)) }
    meter(period, rejected: rejected)
    record(period)
    finishPeriod(period.frames)
  }

  /// Any thread: whether a microphone is silenced, because it sends what is no sound.
  public func isMuted(microphone: Int) -> Bool { microphoneGuard.isMuted(microphone) }

  /// The callback's thread, before `process`, where there is no deadline: whether a running take has room.
  public func hasRoomInTake(frames: Int) -> Bool {
    guard case .recording(_, let ring) = state.pointee.take else { return true }
    return ring._withUnsafeGuaranteedRef { $0.freeFrames() >= frames || $0.capacityFrames < frames }
  }

  /// The callback's thread, before `process`, where there is no deadline: whether what is played back is there.
  public func hasPlayback(frames: Int) -> Bool { playback.isReady(frames: frames) }

  // MARK: Control

  /// Takes over a convolver that was prepared for the server's new period.
  @_noLocks @_noAllocation
  private func adoptConvolver(_ frames: Int) {
    let running = state.pointee.convolver
    if let running, running._withUnsafeGuaranteedRef({ $0.fits(frames: frames) }) { return }
    // Read before the exchange: from then on the control side may free the one that ran.
    var replaced: Int?
    if let running { replaced = running._withUnsafeGuaranteedRef { $0.name() } }
    // Acquiring: what the control side built is there before we use it. Releasing: our reads of the spectra
    // that we leave are over before it cuts new ones in their place.
    let address = prepared.exchange(0, ordering: .acquiringAndReleasing)
    guard let pointer = UnsafeRawPointer(bitPattern: address) else {
      return history.pointee.makeRoom(for: frames)
    }
    let adopted = Unmanaged<Convolver>.fromOpaque(pointer)
    state.pointee.convolver = adopted
    history.pointee.resize(adopted._withUnsafeGuaranteedRef { $0.history() })
    if !adopted._withUnsafeGuaranteedRef({ $0.fits(frames: frames) }) {
      history.pointee.makeRoom(for: frames)
    }
    state.pointee.isBehind = true
    if let replaced { reports.push(.convolverReplaced(serial: replaced)) }
  }

  /// Applies what the controller sent, a bounded number per period, while there is room to answer.
  @_noLocks @_noAllocation
  private func applyControl() {
    var budget = 16
    while budget > 0, reports.room() >= 16 {
      guard let message = messages.pop() else { return }
      switch message {
      case .change(let ticket, let filters, let gain):
        accept(Sound(ticket: ticket, filters: filters, gain: gain))
      case .beginTake(let ticket, let ring): beginTake(ticket, ring)
      case .beginPlayback(let ticket, let ring):
        if !playback.begin(ticket, ring) { reports.push(.playbackEnded(ticket)) }
      case .endPlayback: playback.end(fade: fade)
      case .endTake(let ticket): endTake(ticket)
      }
      budget &-= 1
    }
  }

  /// A change waits while another fades; of those that wait only the newest is kept.
  @_noLocks @_noAllocation
  private func accept(_ sound: Sound) {
    switch state.pointee.take {
    case .armed(let take, _), .recording(let take, _):
      reports.push(.refused(sound.ticket, take: take))
      reports.push(.released(sound.ticket))
    case .idle:
      if let older = state.pointee.waiting {
        reports.push(.superseded(older.ticket))
        reports.push(.released(older.ticket))
      }
      state.pointee.waiting = sound
      beginFade()
    }
  }

  @_noLocks @_noAllocation
  private func beginFade() {
    guard state.pointee.next == nil, let sound = state.pointee.waiting else { return }
    state.pointee.next = sound
    state.pointee.waiting = nil
    state.pointee.fadePosition = 0
  }

  @_noLocks @_noAllocation
  private func beginTake(_ ticket: Ticket, _ ring: Unmanaged<TakeRing>) {
    switch state.pointee.take {
    case .armed(let take, _), .recording(let take, _): reports.push(.refused(ticket, take: take))
    case .idle: state.pointee.take = .armed(ticket, ring)
    }
  }

  @_noLocks @_noAllocation
  private func endTake(_ ticket: Ticket) {
    switch state.pointee.take {
    case .idle:
      reports.push(.noTake(ticket))
    case .armed(let take, let ring), .recording(let take, let ring):
      ring._withUnsafeGuaranteedRef { $0.finish() }
      state.pointee.take = .idle
      counters.recording.store(false, ordering: .relaxed)
      reports.push(.takeEnded(ticket, take: take, frame: state.pointee.frame))
    }
  }

  /// At the start of a period: the change that waited, or else the take that waited for it.
  @_noLocks @_noAllocation
  private func beginFadeOrTake(_ timing: Timing) {
    beginFade()
    guard state.pointee.next == nil, case .armed(let ticket, let ring) = state.pointee.take else { return }
    state.pointee.take = .recording(ticket, ring)
    let preRoll = past._withUnsafeGuaranteedRef { $0.hold() }
    ring._withUnsafeGuaranteedRef { $0.begin(preRoll: preRoll, microseconds: timing.microseconds) }
    counters.recording.store(true, ordering: .relaxed)
    reports.push(.takeBegan(ticket, frame: state.pointee.frame))
  }

  // MARK: What leaves besides sound

  @_noLocks @_noAllocation
  private func meter(_ period: borrowing Period, rejected: Int) {
    let clipped =
      observe(microphones, period.left, period.frames)
      &+ observe(microphones &+ 1, period.right, period.frames)
    if rejected > 0 { counters.rejectedSamples.wrappingAdd(rejected, ordering: .relaxed) }
    if clipped > 0 { counters.clippedSamples.wrappingAdd(clipped, ordering: .relaxed) }
    meters.advance(frames: period.frames)
  }

  /// Time that passed without us belongs to a running take, and parts what is kept for the next.
  @_noLocks @_noAllocation
  private func noteTiming(_ timing: Timing) {
    guard timing.skippedFrames > 0 || timing.pausedMicroseconds > 0 else { return }
    guard case .recording(_, let ring) = state.pointee.take else {
      return past._withUnsafeGuaranteedRef { $0.reset() }
    }
    if timing.pausedMicroseconds > 0 {
      ring._withUnsafeGuaranteedRef { $0.pause(microseconds: timing.pausedMicroseconds) }
    }
    if timing.skippedFrames > 0 { ring._withUnsafeGuaranteedRef { $0.skip(timing.skippedFrames) } }
  }

  /// Measures one output; returns how many samples are beyond full scale.
  @_noLocks @_noAllocation
  private func observe(_ channel: Int, _ samples: UnsafeMutablePointer<Float>, _ frames: Int) -> Int {
    var measure = pinna_measure(energy: 0, peak: 0, rejected: 0, clipped: 0)
    kernels.take(samples, nil, frames, &measure)
    meters.observe(channel, measure, frames: frames)
    return measure.clipped
  }

  @_noLocks @_noAllocation
  private func record(_ period: borrowing Period) {
    guard !period.timing.isRepeat else { return }
    let left = UnsafePointer(period.left)
    let right = UnsafePointer(period.right)
    let inputs = period.inputs
    let frames = period.frames
    if case .recording(_, let ring) = state.pointee.take {
      ring._withUnsafeGuaranteedRef { $0.write(left: left, right: right, inputs: inputs, frames: frames) }
    } else if state.pointee.next != nil, !state.pointee.isGettingReady {
      past._withUnsafeGuaranteedRef { $0.reset() }
    } else {
      past._withUnsafeGuaranteedRef { $0.append(left: left, right: right, inputs: inputs, frames: frames) }
    }
  }

  @_noLocks @_noAllocation
  private func finishPeriod(_ frames: Int) {
    state.pointee.frame &+= frames
    counters.frames.store(state.pointee.frame, ordering: .relaxed)
    guard !state.pointee.isGettingReady, let next = state.pointee.next else { return }
    let left = fade.frames &- state.pointee.fadePosition
    state.pointee.fadePosition &+= frames
    guard frames >= left else { return }
    if let current = state.pointee.current { reports.push(.released(current.ticket)) }
    reports.push(.applied(next.ticket, frame: state.pointee.frame &- frames &+ max(left, 0)))
    state.pointee.current = next
    state.pointee.next = nil
  }
}
