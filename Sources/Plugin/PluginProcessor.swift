import Acoustics
import Realtime
import Synchronization
import Threads

/// One plug-in in a host, whatever its format: an engine, whose microphones, outputs and controls are addresses that the host
/// gives. What crosses this boundary are C's types: addresses, numbers.
///
/// Three sides share it, as formats of plug-ins have them:
/// - The audio thread calls `connect`, `run` and `workIsComing`.
/// - The worker calls `work` when the host was asked for that (`wantsWork`), at the same time as the audio thread runs.
/// - The main thread calls `activate`, while no other thread calls anything but `work`.
public final class PluginProcessor: @unchecked Sendable {
  // Unchecked: only the audio thread uses `state` and the addresses, except in `activate`; the rest does not change, is
  // atomic, or is behind a lock.

  private let filters: PluginFilters
  private let sets: [FilterSet]
  private let feedSets: [FilterSet]
  private let engine = Locked<Engine?>(nil)
  let longestBlock = 8192
  let minuteFrames: Int

  let inputs: UnsafeMutablePointer<UnsafePointer<Float>?>
  let outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
  let controls: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
  /// The same addresses for a part of a block.
  private let partInputs: UnsafeMutablePointer<UnsafePointer<Float>?>
  private let partOutputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
  /// Takes the place of left and right where nothing listens.
  private let unheard: UnsafeMutablePointer<Float>
  private let portCount: Int
  private let inputCount: Int
  private let outputCount: Int
  private let delayFrames: Int
  let state: UnsafeMutablePointer<PluginState>
  let choices: PluginChoices
  // Copies of global constants, whose first use takes a lock.
  let gainLimits = (least: Decibels.outputGains.lowerBound, most: Decibels.outputGains.upperBound)
  let highPassLimits = (least: HighPass.range.lowerBound, most: HighPass.range.upperBound)
  /// The block length that the worker shall prepare for; 0 for none.
  let wantedPeriod = Atomic<Int>(0)

  /// Thread: main.
  public init(_ filters: PluginFilters) {
    self.filters = filters
    sets = filters.cases.map { FilterSet(coefficients: $0.coefficients) }
    feedSets = filters.feeds.map { FilterSet(coefficients: $0.coefficients) }
    (inputCount, outputCount, delayFrames) = (filters.microphones, filters.outputs, filters.delayFrames)
    choices = PluginChoices(filters)
    minuteFrames = 60 * filters.sampleRate
    portCount = inputCount + outputCount + PluginControl.allCases.count
    inputs = .allocate(capacity: inputCount)
    inputs.initialize(repeating: nil, count: inputCount)
    outputs = .allocate(capacity: outputCount)
    outputs.initialize(repeating: nil, count: outputCount)
    controls = .allocate(capacity: PluginControl.allCases.count)
    controls.initialize(repeating: nil, count: PluginControl.allCases.count)
    partInputs = .allocate(capacity: inputCount)
    partInputs.initialize(repeating: nil, count: inputCount)
    partOutputs = .allocate(capacity: outputCount)
    partOutputs.initialize(repeating: nil, count: outputCount)
    unheard = .allocate(capacity: longestBlock)
    unheard.initialize(repeating: 0, count: longestBlock)
    state = .allocate(capacity: 1)
    state.initialize(to: PluginState())
  }

  deinit {
    inputs.deallocate()
    outputs.deallocate()
    controls.deallocate()
    partInputs.deallocate()
    partOutputs.deallocate()
    unheard.deallocate()
    state.deallocate()
    choices.free()
  }

  /// Begins with silence, and with what the controls say.
  ///
  /// Thread: main.
  /// - Parameter blockLength: what to prepare for; nil if the host has not said.
  public func activate(blockLength: Int?) {
    // The worker may still be preparing filters for the previous engine.
    engine.withLock { $0 = makeEngine(blockLength: blockLength) }
  }

  /// Thread: main.
  private func makeEngine(blockLength: Int?) -> Engine {
    let engine = Engine(
      microphones: inputCount, taps: filters.taps, sampleRate: Double(filters.sampleRate))
    engine.keep(sets)
    state.pointee = PluginState()
    state.pointee.seen = filters.initial
    state.pointee.seen = readSetting()
    let asked = choices.index(of: state.pointee.seen)
    let first = asked >= 0 ? asked : choices.index(of: filters.initial)
    state.pointee.applied = state.pointee.seen
    state.pointee.requested = PluginRequest(index: first, state.pointee.seen)
    engine.start(
      with: sets[first], gain: state.pointee.requested.gain,
      highPass: filters.corner(state.pointee.seen.highPass))
    var place = 0
    for (feed, set) in zip(filters.feeds, feedSets) {
      _ = engine.startFeed(
        with: set, firstOutput: place, gain: feed.gain, highPass: filters.corner(feed.highPass))
      place += set.outputs
    }
    wantedPeriod.store(0, ordering: .relaxed)
    if let blockLength {
      state.pointee.wantedPeriod = min(blockLength, longestBlock)
      engine.prepare(period: state.pointee.wantedPeriod)
    }
    state.pointee.engine = .passUnretained(engine)
    return engine
  }

  /// Prepares for the block lengths that `run` has met, and releases what it no longer uses.
  ///
  /// Thread: worker.
  public func work() {
    engine.withLock { engine in
      guard let engine else { return }
      _ = engine.drainReports()
      let wanted = wantedPeriod.load(ordering: .relaxed)
      if wanted > 0 { engine.prepare(period: wanted) }
    }
  }

  // MARK: - Audio thread

  /// Gives the address of a port's samples, or of a control's value. Microphones are counted first, from 0, then outputs,
  /// then controls.
  ///
  /// Thread: audio.
  @_noLocks @_noAllocation
  public func connect(port: Int, to address: UnsafeMutableRawPointer?) {
    let floats = address?.assumingMemoryBound(to: Float.self)
    if port < 0 { return }
    if port < inputCount {
      inputs[port] = UnsafePointer(floats)
    } else if port < inputCount &+ outputCount {
      outputs[port &- inputCount] = floats
    } else if port < portCount {
      controls[port &- inputCount &- outputCount] = floats
    }
  }

  /// Processes a block, in periods that filters are prepared for (`PluginProcessor+Lengths.swift`). Where there are none, the
  /// engine plays it directly, and the worker is asked for them.
  ///
  /// Thread: audio.
  @_noLocks @_noAllocation
  public func run(_ frames: Int) {
    guard let engine = state.pointee.engine else { return }
    ProcessorCalls.enter()
    let mode = beginRun(engine)
    let longest = period(for: frames, engine)
    var first = 0
    while first < frames {
      let count = min(frames &- first, longest)
      process(first, count, engine)
      first &+= count
    }
    endRun(engine, mode)
    ProcessorCalls.exit()
  }

  /// The same for a host that does not run in real time: it prepares for any length at once.
  ///
  /// Thread: audio.
  public func runUnhurried(_ frames: Int) {
    guard let engine = state.pointee.engine else { return }
    work()
    let mode = beginRun(engine)
    var first = 0
    while first < frames {
      let count = min(frames - first, longestBlock)
      if !engine._withUnsafeGuaranteedRef({ $0.isPrepared(period: count) }) {
        wantedPeriod.store(count, ordering: .relaxed)
        work()
      }
      process(first, count, engine)
      first += count
    }
    state.pointee.wantsWork = false
    endRun(engine, mode)
  }

  /// Whether the worker has something to do that it does not know of.
  ///
  /// Thread: audio.
  public var wantsWork: Bool {
    @_noLocks @_noAllocation get { state.pointee.wantsWork }
  }

  /// The host has promised to call the worker.
  ///
  /// Thread: audio.
  @_noLocks @_noAllocation
  public func workIsComing() { state.pointee.wantsWork = false }

  /// Whether the host says that it does not run in real time.
  ///
  /// Thread: audio.
  public var isFreewheeling: Bool {
    @_noLocks @_noAllocation get { isOn(.freewheeling) }
  }

  /// - Returns: the thread's floating-point mode, for `endRun`.
  @_noLocks @_noAllocation
  private func beginRun(_ engine: Unmanaged<Engine>) -> UInt64 {
    let mode = ProcessorCalls.flushDenormals()
    applyControls(engine)
    return mode
  }

  @_noLocks @_noAllocation
  private func endRun(_ engine: Unmanaged<Engine>, _ mode: UInt64) {
    address(.latency)?.pointee = Float(delayFrames)
    address(.refused)?.pointee = Float(state.pointee.refused)
    address(.peakLeft)?.pointee = peak(0, engine)
    address(.peakRight)?.pointee = peak(1, engine)
    ProcessorCalls.restore(mode)
  }

  /// In decibels, from -120 on.
  @_noLocks @_noAllocation
  private func peak(_ output: Int, _ engine: Unmanaged<Engine>) -> Float {
    let peak = engine._withUnsafeGuaranteedRef { $0.heldPeak(output: output) }
    return Float(ProcessorCalls.decibels(amplitude: Double(max(1e-6, peak))))
  }

  @_noLocks @_noAllocation
  private func process(_ first: Int, _ count: Int, _ engine: Unmanaged<Engine>) {
    var n = 0
    while n < inputCount {
      partInputs[n] = nil
      if let samples = inputs[n] { partInputs[n] = samples + first }
      n &+= 1
    }
    n = 0
    while n < outputCount {
      partOutputs[n] = nil
      if let samples = outputs[n] { partOutputs[n] = samples + first }
      n &+= 1
    }
    let left = listened(0)
    let right = listened(1)
    var timing = Timing()
    timing.frame = state.pointee.frame
    let microphones = UnsafePointer(partInputs)
    let feeds = UnsafePointer(partOutputs + 2)
    engine._withUnsafeGuaranteedRef {
      $0.process(
        Period(frames: count, inputs: microphones, left: left, right: right, feeds: feeds, timing: timing))
    }
    state.pointee.frame &+= count
  }

  /// An output of `main`, or what takes its place where nothing listens.
  @_noLocks @_noAllocation
  private func listened(_ output: Int) -> UnsafeMutablePointer<Float> {
    if let samples = partOutputs[output] { return samples }
    return unheard
  }
}

extension PluginFilters {
  /// Nil for 0.
  fileprivate func corner(_ hertz: Double) -> Double? { hertz > 0 ? hertz : nil }
}
