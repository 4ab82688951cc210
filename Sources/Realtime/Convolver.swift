import CRealtime

/// Everything that depends on the period: the microphones' spectra and the transforms.
///
/// Partitioned overlap-save: one forward transform per microphone, products summed over microphones and
/// partitions in an order that does not depend on the phase of the schedule, one inverse for both outputs
/// (left + j·right). The arithmetic is in `Sources/Kernels`.
/// - Source: Gardner, Efficient Convolution without Input-Output Delay, JAES 43 (1995).
final class Convolver: @unchecked Sendable {
  // Unchecked: built by the control side, then used by the callback alone until it hands it back.

  let layout: Layout
  /// Tells this convolver from those before and after it.
  let serial: Int
  /// Which of a filter set's two spectra belongs to this convolver.
  let generation: Int
  private let kernels: KernelCalls
  private let core: UnsafeMutablePointer<pinna_convolver>
  /// Two, for the time of a crossfade.
  private let voices: UnsafeMutablePointer<pinna_voice>
  private let tables: TransformTables
  private let memory: [AlignedMemory]
  private let tail: Int
  private let nyquist: Int
  /// Periods that `history` must be replayed for, so that every partition has seen all that it would have.
  private let reach: Int
  /// Frames that the input's history has to hold for that: a power of two.
  private let historyFrames: Int

  init(_ layout: Layout, kernels: KernelCalls, generation: Int, serial: Int) {
    let (plan, lanes) = (layout.plan, layout.lanes)
    self.layout = layout
    self.kernels = kernels
    self.serial = serial
    self.generation = generation
    tail = layout.headFloats
    nyquist = layout.filterFloats - layout.nyquistFloats
    reach = layout.reach
    historyFrames = layout.historyFrames
    tables = TransformTables(layout)
    var memory: [AlignedMemory] = []
    func floats(_ count: Int) -> UnsafeMutablePointer<Float> {
      memory.append(AlignedMemory(count: count))
      return memory.last!.floats
    }
    let size = plan.transformSize
    // A window's work in lanes takes the memory of both rows.
    let work = floats(max(2 * (size + 64), layout.isAcross ? size * lanes : 0))
    core = .allocate(capacity: 1)
    core.initialize(
      to: pinna_convolver(
        microphones: plan.microphones, period: plan.period, partitions: plan.partitions, head: layout.head,
        slots: layout.slots, half: size / 2,
        across: layout.isAcross ? 1 : 0, groups: layout.groups, units: layout.units, edges: layout.edges,
        unit: layout.unit, chunk: layout.chunk, ahead: layout.isAhead ? 1 : 0, clock: 0,
        newest: layout.slots - 1, newestEdge: plan.partitions - 1, place: 0,
        window: layout.isAcross ? floats(layout.groups * size * lanes) : nil,
        spectra: floats(layout.units * layout.unit), nyquist: floats(plan.partitions * layout.edges * lanes),
        re: work, im: work + size + 64, scratch: floats(2 * size),
        gathered: floats(64), silence: floats(size), rows: tables.rows,
        lanes: tables.lanes,
        tail: pinna_tail(
          blocks: layout.blocks, unit: layout.tailUnit,
          shift: (layout.units / 8).trailingZeroBitCount, turns: tables.tail,
          spectra: layout.blocks > 0 ? floats(layout.units * 16 * layout.tailUnit) : nil,
          work: layout.blocks > 0 ? floats(64 * lanes) : nil)))
    voices = .allocate(capacity: 2)
    for n in 0..<2 {
      let sums = layout.isAhead ? floats(layout.units * 4 * lanes) : nil
      let spectrum = floats(2 * (size + 64))
      (voices + n).initialize(
        to: pinna_voice(
          set: 0, bins: nil, tail: nil, nyquist: nil, sums: sums,
          later: layout.blocks > 0 ? floats(layout.units * 32 * lanes) : nil, known: 0, age: 0, re: spectrum,
          im: spectrum + size + 64, left: nil,
          right: nil))
    }
    self.memory = memory
  }

  deinit {
    core.deallocate()
    voices.deallocate()
    tables.free()
    for block in memory { block.free() }
  }

  @_noLocks @_noAllocation
  func fits(frames: Int) -> Bool { core.pointee.period == frames }

  @_noLocks @_noAllocation
  func name() -> Int { serial }

  @_noLocks @_noAllocation
  func history() -> Int { historyFrames }

  /// Takes over in mid-stream, or catches up: transforms what every partition would have seen, had it run all
  /// along, up to and with the period that `history` ends with.
  @_noLocks @_noAllocation
  func refill(from history: UnsafePointer<pinna_history>) {
    let period = core.pointee.period
    let windowPeriods = 2 &* core.pointee.half / period
    var age = reach &+ windowPeriods
    while age >= 0 {
      kernels.analyse(core, history, age: age < reach ? age &* period : -1 &- age &* period)
      age &-= 1
    }
    forget()
  }

  /// Takes in the period that `history` ends with.
  @_noLocks @_noAllocation
  func advance(_ history: UnsafePointer<pinna_history>) { kernels.analyse(core, history, age: 0) }

  /// Whether `filters` can be heard at the price of any other period: their tail must have been formed over eight,
  /// of which the one that they are first heard in is the last.
  @_noLocks @_noAllocation
  func isReady(_ filters: Unmanaged<FilterSet>) -> Bool {
    let generation = generation
    let spectra = filters._withUnsafeGuaranteedRef { $0.spectra(generation: generation) }
    guard core.pointee.tail.blocks > 0, spectra != nil else { return true }
    let set = filters._withUnsafeGuaranteedRef { $0.serial }
    if voices[0].set == set { return voices[0].known >= PINNA_TURNS &- 1 }
    return voices[1].set == set ? voices[1].known >= PINNA_TURNS &- 1 : false
  }

  /// This period's outputs through `filters`, and through `others` where there are any. Writes one period to each
  /// target, and nothing where there is none: such a set gets ready. False, and nothing written, where a set was not
  /// cut for this period.
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
      // One that goes on is first in line, so that it is found again.
      let set = filters._withUnsafeGuaranteedRef { $0.serial }
      if voices[1].set == set { exchangeVoices() }
      begin(0, set, first, target)
      voices[1].set = 0
      kernels.synthesise(core, voices, count: 1)
      unite(filters, target)
      return true
    }
    let second = others._withUnsafeGuaranteedRef { $0.spectra(generation: generation) }
    guard let second else { return false }
    let set = filters._withUnsafeGuaranteedRef { $0.serial }
    let otherSet = others._withUnsafeGuaranteedRef { $0.serial }
    let (last, other) = (voices[0].set, voices[1].set)
    if last == otherSet || other == set { exchangeVoices() }
    begin(0, set, first, target)
    begin(1, otherSet, second, otherTarget)
    kernels.synthesise(core, voices, count: 2)
    unite(filters, target)
    unite(others, otherTarget)
    return true
  }

  /// Left and right of a set with one channel are the same to the last bit: the inverse transform, in which they are
  /// the two parts of a complex number, rounds them differently.
  @_noLocks @_noAllocation
  private func unite(_ filters: Unmanaged<FilterSet>, _ target: Stereo?) {
    guard let target else { return }
    guard filters._withUnsafeGuaranteedRef({ $0.channels }) == 1 else { return }
    let period = core.pointee.period
    var n = 0
    while n < period {
      target.right[n] = target.left[n]
      n &+= 1
    }
  }

  /// What no voice has played through in this period has to begin anew.
  @_noLocks @_noAllocation
  func forget() {
    voices[0].set = 0
    voices[1].set = 0
  }

  @_noLocks @_noAllocation
  private func begin(_ n: Int, _ set: Int, _ spectra: UnsafeMutablePointer<Float>, _ target: Stereo?) {
    if voices[n].set != set {
      voices[n].set = set
      voices[n].bins = UnsafePointer(spectra)
      voices[n].tail = UnsafePointer(spectra + tail)
      voices[n].nyquist = UnsafePointer(spectra + nyquist)
      voices[n].known = 0
      voices[n].age = 0
    }
    voices[n].left = target?.left
    voices[n].right = target?.right
  }

  @_noLocks @_noAllocation
  private func exchangeVoices() {
    let voice = voices[0]
    voices[0] = voices[1]
    voices[1] = voice
  }
}

/// Where a stereo sound goes.
struct Stereo: BitwiseCopyable {
  let left: UnsafeMutablePointer<Float>
  let right: UnsafeMutablePointer<Float>

  @_noLocks @_noAllocation
  init(_ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>) {
    self.left = left
    self.right = right
  }
}
