import CRealtime

/// The part of the engine that depends on the period: input spectra, FFT tables, and the kernels' work areas.
///
/// Uniformly partitioned overlap-save: one forward FFT per microphone, products summed over microphones and partitions,
/// one inverse FFT per output. The order of the sums does not depend on the schedule's phase.
/// The arithmetic is in `Sources/Kernels`.
/// - Source: Gardner, Efficient Convolution without Input-Output Delay, JAES 43 (1995).
final class Convolver: @unchecked Sendable {
  // Unchecked: the control side builds it; from then on only the callback uses it, until it reports its release.

  let layout: ConvolverLayout
  /// Identifies this convolver among those of its engine.
  let serial: Int
  /// 0 or 1: which of a filter set's two spectra this convolver uses.
  let generation: Int
  let kernels: KernelCalls
  let kernelState: UnsafeMutablePointer<pinna_convolver>
  /// The voices of each feed; nil for one that does not exist. Shape: `[pair of outputs][2]`: two, because a crossfade
  /// plays two filter sets at once.
  let voices: UnsafeMutablePointer<UnsafeMutablePointer<pinna_voice>?>
  /// Floats of one pair's filters in a filter set.
  private let filterFloats: Int
  private let tables: TransformTables
  private let memory: [AlignedMemory]
  /// Of the voices of each feed. Control side only.
  private var voiceMemory = [[AlignedMemory]](repeating: [], count: FeedTable.capacity)
  private let tailOffset: Int
  /// What its spectra are computed from. It becomes the engine's live history once this convolver is up to date.
  private let history: InputHistory
  /// The same object for the callback, which counts no references.
  let unmanagedHistory: Unmanaged<InputHistory>
  let progress: UnsafeMutablePointer<Progress>
  /// Periods whose spectra a restart computes, so that every partition has its complete input.
  let refillPeriods: Int
  /// These, and the earlier ones that only fill the first window.
  let historyPeriods: Int

  struct Progress: BitwiseCopyable {
    /// Frames of the stream whose spectra are computed.
    var position = 0
    /// Periods before this frame only fill the window.
    var first = 0
    /// Periods analysed. A restart sets it to `historyPeriods`, so that `hasJustBegun` is false.
    var analysed = 0
  }

  /// Thread: control side.
  init(_ layout: ConvolverLayout, kernels: KernelCalls, generation: Int, serial: Int) {
    let (plan, lanes) = (layout.plan, layout.lanes)
    self.layout = layout
    self.kernels = kernels
    self.serial = serial
    self.generation = generation
    tailOffset = layout.headFloats
    filterFloats = layout.filterFloats
    refillPeriods = layout.refillPeriods
    historyPeriods = layout.refillPeriods + plan.windowFrames / plan.period + 1
    history = InputHistory(microphones: plan.microphones, capacity: layout.historyFrames)
    unmanagedHistory = .passUnretained(history)
    progress = .allocate(capacity: 1)
    progress.initialize(to: Progress())
    tables = TransformTables(layout)
    var memory: [AlignedMemory] = []
    func floats(_ count: Int) -> UnsafeMutablePointer<Float> {
      memory.append(AlignedMemory(count: count))
      return memory.last!.floats
    }
    let row = layout.rowStride
    kernelState = .allocate(capacity: 1)
    kernelState.initialize(
      to: pinna_convolver(
        microphones: plan.microphones, period: plan.period, headPartitions: layout.headPartitions,
        slots: layout.slots, bins: layout.bins,
        lanesAreMicrophones: layout.lanesAreMicrophones ? 1 : 0, groups: layout.groups, units: layout.units,
        unitStride: layout.unitStride, chunk: layout.chunk,
        pairsPeriods: layout.pairsPeriods ? 1 : 0, periodIndex: 0, newestSlot: layout.slots - 1,
        windowPosition: 0,
        window: layout.lanesAreMicrophones ? floats(layout.groups * plan.windowFrames * lanes) : nil,
        spectra: floats(layout.units * layout.unitStride),
        work: floats(max(2 * row, layout.lanesAreMicrophones ? plan.windowFrames * lanes : 0)),
        scratch: floats(2 * row),
        rowStride: row,
        rowFFT: tables.rowFFT, laneFFT: tables.laneFFT,
        tail: pinna_tail(
          blocks: layout.blocks, phases: layout.block, frequencyStride: layout.tailFrequencyStride,
          phaseShift: (layout.units / max(1, layout.block)).trailingZeroBitCount,
          twiddles: tables.tailTwiddles,
          spectra: floats(layout.units * layout.tailTransformSize * layout.tailFrequencyStride),
          work: floats(4 * layout.tailTransformSize * lanes))))
    voices = .allocate(capacity: FeedTable.capacity)
    voices.initialize(repeating: nil, count: FeedTable.capacity)
    self.memory = memory
    makeVoices(feed: 0, outputs: 2)
  }

  deinit {
    kernelState.deallocate()
    for feed in 0..<FeedTable.capacity { removeVoices(feed: feed) }
    voices.deallocate()
    progress.deallocate()
    tables.free()
    for block in memory { block.free() }
  }

  /// Makes the voices of a feed, before the callback knows that feed or this convolver.
  ///
  /// Thread: control side.
  func makeVoices(feed: Int, outputs: Int) {
    let lanes = layout.lanes
    func floats(_ count: Int) -> UnsafeMutablePointer<Float> {
      voiceMemory[feed].append(AlignedMemory(count: count))
      return voiceMemory[feed].last!.floats
    }
    let count = (outputs + 1) / 2 * 2
    let made = UnsafeMutablePointer<pinna_voice>.allocate(capacity: count)
    for n in 0..<count {
      let partialSums = layout.pairsPeriods ? floats(layout.units * 4 * lanes) : nil
      (made + n).initialize(
        to: pinna_voice(
          filterSerial: 0, headSpectra: nil, tailSpectra: nil, partialSums: partialSums,
          tailSums: floats(layout.units * 4 * layout.block * lanes), tailPhases: 0,
          periodsPlayed: 0, spectra: floats(4 * layout.rowStride), left: nil, right: nil))
    }
    voices[feed] = made
  }

  /// Frees the voices of a feed, if it has some. The callback has reported the feed's end, or no longer knows this
  /// convolver.
  ///
  /// Thread: control side.
  func removeVoices(feed: Int) {
    voices[feed]?.deallocate()
    voices[feed] = nil
    for block in voiceMemory[feed] { block.free() }
    voiceMemory[feed] = []
  }

  // MARK: - Realtime thread

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func fits(frames: Int) -> Bool { kernelState.pointee.period == frames }

  /// Whether it forms the tail of long filters ahead of time.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func hasTail() -> Bool { kernelState.pointee.tail.blocks > 0 }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func serialNumber() -> Int { serial }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func ownHistory() -> Unmanaged<InputHistory> { unmanagedHistory }

  // MARK: - From spectra to outputs

  /// Whether `filters` can become audible on a feed in this period without extra work. Their tail is computed over as
  /// many periods as its blocks have partitions, of which the last is the first audible one.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func isReady(_ filters: Unmanaged<FilterSet>, feed: Int) -> Bool {
    if hasJustBegun() { return true }
    let generation = generation
    let spectra = filters._withUnsafeGuaranteedRef { $0.spectra(generation: generation) }
    guard kernelState.pointee.tail.blocks > 0, spectra != nil, let voices = voices[feed] else { return true }
    let set = filters._withUnsafeGuaranteedRef { $0.serial }
    let last = kernelState.pointee.tail.phases &- 1
    // All pairs of a feed play the same sets for the same time.
    if voices[0].filterSerial == set { return voices[0].tailPhases >= last }
    return voices[1].filterSerial == set ? voices[1].tailPhases >= last : false
  }

  /// Computes this period of one pair of a feed's outputs through `filters` and, if not nil, through `others`. For a set
  /// without a target, only what later periods need is computed.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: false, with nothing written, if a set was not prepared for this period.
  @_noLocks @_noAllocation
  func synthesise(
    feed: Int, pair: Int, _ filters: Unmanaged<FilterSet>, to target: OutputPair?,
    _ others: Unmanaged<FilterSet>?, to otherTarget: OutputPair?
  )
    -> Bool
  {
    guard let ofFeed = voices[feed] else { return false }
    let voices = ofFeed + 2 &* pair
    let generation = generation
    let offset = pair &* filterFloats
    let first = filters._withUnsafeGuaranteedRef { $0.spectra(generation: generation) }
    guard let first else { return false }
    guard let others else {
      // A set that continues must be voice 0, where the next period looks for it.
      let set = filters._withUnsafeGuaranteedRef { $0.serial }
      if voices[1].filterSerial == set { swap(voices) }
      start(voices, set, first + offset, target)
      voices[1].filterSerial = 0
      kernels.synthesise(kernelState, voices, count: 1)
      copyMono(filters, target)
      return true
    }
    let second = others._withUnsafeGuaranteedRef { $0.spectra(generation: generation) }
    guard let second else { return false }
    let set = filters._withUnsafeGuaranteedRef { $0.serial }
    let otherSet = others._withUnsafeGuaranteedRef { $0.serial }
    let (last, other) = (voices[0].filterSerial, voices[1].filterSerial)
    if last == otherSet || other == set { swap(voices) }
    start(voices, set, first + offset, target)
    start(voices + 1, otherSet, second + offset, otherTarget)
    kernels.synthesise(kernelState, voices, count: 2)
    copyMono(filters, target)
    copyMono(others, otherTarget)
    return true
  }

  /// Copies left to right for a set with one output, so that both are identical to the last bit, whatever the compiler
  /// makes of the two inverse FFTs.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func copyMono(_ filters: Unmanaged<FilterSet>, _ target: OutputPair?) {
    guard let target else { return }
    guard filters._withUnsafeGuaranteedRef({ $0.outputs }) == 1 else { return }
    let period = kernelState.pointee.period
    var n = 0
    while n < period {
      target.right[n] = target.left[n]
      n &+= 1
    }
  }

  /// Forgets the voices of a feed: no filter set played there in this period, so each has to start over.
  ///
  /// Thread: JACK's realtime thread (process callback), or the control side before the callback knows this convolver.
  @_noLocks @_noAllocation
  func stopVoices(feed: Int, pairs: Int) {
    guard let voices = voices[feed] else { return }
    var n = 0
    while n < 2 &* pairs {
      voices[n].filterSerial = 0
      n &+= 1
    }
  }

  /// Whether this is the first period of the stream: all tails are silence, and so complete.
  ///
  /// Thread: JACK's realtime thread (process callback), or the control side.
  @_noLocks @_noAllocation
  private func hasJustBegun() -> Bool { progress.pointee.analysed <= 1 }

  /// Assigns a voice to a filter set. Its partial sums are kept if it played this set already.
  ///
  /// Thread: JACK's realtime thread (process callback), or the control side before the callback knows this convolver.
  @_noLocks @_noAllocation
  private func start(
    _ voice: UnsafeMutablePointer<pinna_voice>, _ set: Int, _ spectra: UnsafeMutablePointer<Float>,
    _ target: OutputPair?
  ) {
    if voice.pointee.filterSerial != set {
      voice.pointee.filterSerial = set
      voice.pointee.headSpectra = UnsafePointer(spectra)
      voice.pointee.tailSpectra = UnsafePointer(spectra + tailOffset)
      voice.pointee.tailPhases = hasJustBegun() ? kernelState.pointee.tail.phases : 0
      voice.pointee.periodsPlayed = 0
    }
    voice.pointee.left = target?.left
    voice.pointee.right = target?.right
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func swap(_ voices: UnsafeMutablePointer<pinna_voice>) {
    let voice = voices[0]
    voices[0] = voices[1]
    voices[1] = voice
  }
}
