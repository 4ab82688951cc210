import CRealtime

/// The part of the engine that depends on the period: input spectra, FFT tables, and the kernels' work areas.
///
/// Uniformly partitioned overlap-save: one forward FFT per microphone, products summed over microphones and partitions,
/// one inverse FFT for both outputs (left + j·right). The order of the sums does not depend on the schedule's phase.
/// The arithmetic is in `Sources/Kernels`.
/// - Source: Gardner, Efficient Convolution without Input-Output Delay, JAES 43 (1995).
final class Convolver: @unchecked Sendable {
  // Unchecked: the control side builds it; from then on only the callback uses it, until it reports its release.

  let layout: ConvolverLayout
  /// Identifies this convolver among those of its engine.
  let serial: Int
  /// 0 or 1: which of a filter set's two spectra this convolver uses.
  let generation: Int
  private let kernels: KernelCalls
  private let kernelState: UnsafeMutablePointer<pinna_convolver>
  /// Two voices, because a crossfade plays two filter sets at once.
  private let voices: UnsafeMutablePointer<pinna_voice>
  private let tables: TransformTables
  private let memory: [AlignedMemory]
  private let tailOffset: Int
  private let nyquistOffset: Int
  /// Periods of history that `refill` replays, so that every partition has its complete input.
  private let refillPeriods: Int
  /// Frames of input history that `refill` needs: a power of two.
  private let historyFrames: Int

  /// Thread: control side.
  init(_ layout: ConvolverLayout, kernels: KernelCalls, generation: Int, serial: Int) {
    let (plan, lanes) = (layout.plan, layout.lanes)
    self.layout = layout
    self.kernels = kernels
    self.serial = serial
    self.generation = generation
    tailOffset = layout.headFloats
    nyquistOffset = layout.filterFloats - layout.nyquistFloats
    refillPeriods = layout.refillPeriods
    historyFrames = layout.historyFrames
    tables = TransformTables(layout)
    var memory: [AlignedMemory] = []
    func floats(_ count: Int) -> UnsafeMutablePointer<Float> {
      memory.append(AlignedMemory(count: count))
      return memory.last!.floats
    }
    let size = plan.transformSize
    // Where lanes are microphones, the analysis uses `re` and `im` as one block.
    let work = floats(max(2 * (size + 64), layout.lanesAreMicrophones ? size * lanes : 0))
    kernelState = .allocate(capacity: 1)
    kernelState.initialize(
      to: pinna_convolver(
        microphones: plan.microphones, period: plan.period, partitions: plan.partitions,
        headPartitions: layout.headPartitions, slots: layout.slots, bins: layout.bins,
        lanesAreMicrophones: layout.lanesAreMicrophones ? 1 : 0, groups: layout.groups, units: layout.units,
        nyquistVectors: layout.nyquistVectors, unitStride: layout.unitStride, chunk: layout.chunk,
        pairsPeriods: layout.pairsPeriods ? 1 : 0, periodIndex: 0, newestSlot: layout.slots - 1,
        newestNyquistSlot: plan.partitions - 1, windowPosition: 0,
        window: layout.lanesAreMicrophones ? floats(layout.groups * size * lanes) : nil,
        spectra: floats(layout.units * layout.unitStride),
        nyquist: floats(plan.partitions * layout.nyquistVectors * lanes),
        re: work, im: work + size + 64, scratch: floats(2 * size), laneSums: floats(64), zeros: floats(size),
        rowFFT: tables.rowFFT, laneFFT: tables.laneFFT,
        tail: pinna_tail(
          blocks: layout.blocks, frequencyStride: layout.tailFrequencyStride,
          phaseShift: (layout.units / 8).trailingZeroBitCount, twiddles: tables.tailTwiddles,
          spectra: layout.blocks > 0 ? floats(layout.units * 16 * layout.tailFrequencyStride) : nil,
          work: layout.blocks > 0 ? floats(64 * lanes) : nil)))
    voices = .allocate(capacity: 2)
    for n in 0..<2 {
      let partialSums = layout.pairsPeriods ? floats(layout.units * 4 * lanes) : nil
      let spectrum = floats(2 * (size + 64))
      (voices + n).initialize(
        to: pinna_voice(
          filterSerial: 0, headSpectra: nil, tailSpectra: nil, nyquist: nil, partialSums: partialSums,
          tailSums: layout.blocks > 0 ? floats(layout.units * 32 * lanes) : nil, tailPhases: 0,
          periodsHeard: 0, re: spectrum, im: spectrum + size + 64, left: nil, right: nil))
    }
    self.memory = memory
  }

  deinit {
    kernelState.deallocate()
    voices.deallocate()
    tables.free()
    for block in memory { block.free() }
  }

  // MARK: - Realtime thread

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func fits(frames: Int) -> Bool { kernelState.pointee.period == frames }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func serialNumber() -> Int { serial }

  /// Frames that the input history must hold for a refill.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func requiredHistory() -> Int { historyFrames }

  /// Computes all spectra from `history`, up to and including its last period, as if this convolver had run all along.
  /// This is for a convolver that starts mid-stream, or that missed periods.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func refill(from history: UnsafePointer<pinna_history>) {
    let period = kernelState.pointee.period
    let windowPeriods = 2 &* kernelState.pointee.bins / period
    var age = refillPeriods &+ windowPeriods
    while age >= 0 {
      kernels.analyse(kernelState, history, age: age < refillPeriods ? age &* period : -1 &- age &* period)
      age &-= 1
    }
    stopVoices()
  }

  /// Computes the spectra of the last period of `history`.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func advance(_ history: UnsafePointer<pinna_history>) { kernels.analyse(kernelState, history, age: 0) }

  /// Whether `filters` can become audible in this period without extra work. Their tail is computed over eight periods,
  /// of which the last is the first audible one.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func isReady(_ filters: Unmanaged<FilterSet>) -> Bool {
    let generation = generation
    let spectra = filters._withUnsafeGuaranteedRef { $0.spectra(generation: generation) }
    guard kernelState.pointee.tail.blocks > 0, spectra != nil else { return true }
    let set = filters._withUnsafeGuaranteedRef { $0.serial }
    if voices[0].filterSerial == set { return voices[0].tailPhases >= PINNA_TAIL_PHASES &- 1 }
    return voices[1].filterSerial == set ? voices[1].tailPhases >= PINNA_TAIL_PHASES &- 1 : false
  }

  /// Computes this period's outputs through `filters` and, if not nil, through `others`. For a set without a target,
  /// only the tail is computed.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: false, with nothing written, if a set was not prepared for this period.
  @_noLocks @_noAllocation
  func synthesise(
    _ filters: Unmanaged<FilterSet>, to target: Stereo?, _ others: Unmanaged<FilterSet>?,
    to otherTarget: Stereo?
  )
    -> Bool
  {
    let generation = generation
    let first = filters._withUnsafeGuaranteedRef { $0.spectra(generation: generation) }
    guard let first else { return false }
    guard let others else {
      // A set that continues must be voice 0, where the next period looks for it.
      let set = filters._withUnsafeGuaranteedRef { $0.serial }
      if voices[1].filterSerial == set { swapVoices() }
      startVoice(0, set, first, target)
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
    if last == otherSet || other == set { swapVoices() }
    startVoice(0, set, first, target)
    startVoice(1, otherSet, second, otherTarget)
    kernels.synthesise(kernelState, voices, count: 2)
    copyMono(filters, target)
    copyMono(others, otherTarget)
    return true
  }

  /// Copies left to right for a set with one channel, so that both are identical to the last bit. The inverse FFT
  /// computes them as real and imaginary parts, which round differently.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func copyMono(_ filters: Unmanaged<FilterSet>, _ target: Stereo?) {
    guard let target else { return }
    guard filters._withUnsafeGuaranteedRef({ $0.channels }) == 1 else { return }
    let period = kernelState.pointee.period
    var n = 0
    while n < period {
      target.right[n] = target.left[n]
      n &+= 1
    }
  }

  /// Forgets both voices: no filter set played in this period, so each has to start over.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func stopVoices() {
    voices[0].filterSerial = 0
    voices[1].filterSerial = 0
  }

  /// Assigns a voice to a filter set. Its partial sums are kept if it played this set already.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func startVoice(_ n: Int, _ set: Int, _ spectra: UnsafeMutablePointer<Float>, _ target: Stereo?) {
    if voices[n].filterSerial != set {
      voices[n].filterSerial = set
      voices[n].headSpectra = UnsafePointer(spectra)
      voices[n].tailSpectra = UnsafePointer(spectra + tailOffset)
      voices[n].nyquist = UnsafePointer(spectra + nyquistOffset)
      voices[n].tailPhases = 0
      voices[n].periodsHeard = 0
    }
    voices[n].left = target?.left
    voices[n].right = target?.right
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  private func swapVoices() {
    let voice = voices[0]
    voices[0] = voices[1]
    voices[1] = voice
  }
}

/// Two output buffers.
struct Stereo: BitwiseCopyable {
  let left: UnsafeMutablePointer<Float>
  let right: UnsafeMutablePointer<Float>

  /// Thread: any.
  @_noLocks @_noAllocation
  init(_ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>) {
    self.left = left
    self.right = right
  }
}
