import Acoustics
import Glibc
import Realtime
import Synchronization
import Threads

/// Filters that follow the sound, on feeds of one engine, and who speaks where: reads the engine's microphones, and delivers
/// filters and talkers. Stereo follows where sound comes from; every feed can do without wind. One analysis serves all feeds.
///
/// It plays the linear filters alone, and says why, while something forbids it to follow: see `State`. It gets there and
/// back smoothly.
public final class AdaptiveFilters: @unchecked Sendable {
  // Unchecked: only the worker uses `spectra` and what follows it.

  /// What a feed follows the sound with.
  public struct Target: Sendable {
    /// What plays while nothing follows the sound.
    package let base: FilterSet
    /// The linear filters of all that the feed hears.
    package let whole: FilterSet
    /// Of the setting that has this base, as in `Engine.change`.
    package var lineage = 0
    /// Whether tables that take long to compute are missing, or are those of another pose.
    package var lacksTables = false
    /// `whole` in bins, for `wind` and `part`.
    package var weights: LinearWeights?
    /// Nil if directions are of no interest.
    package var array: ArrayTable?
    /// Up for the listener, as a unit vector of the device frame: talkers are near the horizon.
    package var up = SIMD3<Double>()
    /// Whether the array can tell what is above from what is below.
    package var hasHeight = false
    /// Nil if stereo does not follow directions.
    package var ears: EarTable?
    /// 0…1: the part of that correction that is applied.
    public var strength = 0.0
    /// Nil if wind stays.
    package var wind: WindReference?
    /// 0…1: the part of the wind that is taken out.
    public var windStrength = 0.0

    /// Nil if talkers and room are as loud.
    public var part: FollowedPart?
    /// What the linear filters pass, for `part`; nil if the array's own responses tell.
    package var passed: PassedSound?

    package init(base: FilterSet, whole: FilterSet? = nil) { (self.base, self.whole) = (base, whole ?? base) }

    /// Whether it asks for nothing but talkers.
    fileprivate var isIdle: Bool { strength == 0 && windStrength == 0 && part == nil }

    /// Whether a feed's tables serve this target.
    fileprivate func isAlike(_ other: FollowedFeed) -> Bool {
      base === other.base && whole === other.whole && ears === other.ears && wind === other.wind
        && (part == nil) == (other.part == nil)
    }
  }

  /// The wind that the microphones have now.
  public struct Wind: Sendable {
    /// From 90 to 710 Hz, in decibels of full scale: `[microphone]`.
    public let levels: [Double]
    /// In decibels, by the feeds' numbers: by how much wind is softer than in the linear filters, relative to sound.
    public let removed: [Int: Double]
  }

  /// Whether the filters follow the sound.
  public enum State: String, Sendable, CaseIterable {
    /// It was not asked to.
    case off
    case adapting
    /// A microphone is muted, because it sends invalid samples.
    case mutedMicrophone
    /// The period is so short that the engine computes filters ahead of time.
    case shortPeriod
    /// The worker got no processor time.
    case late
  }

  private let engine: Engine
  private let stream: FilterStream
  /// By the feeds' numbers in the engine. All have the same array.
  private let wanted = Locked<(targets: [Int: Target], isNew: Bool)>(([:], false))
  private let stated = Locked<State>(.off)
  /// Nil while nobody looks for talkers.
  private let told = Locked<Talkers?>(nil)
  /// The newest wind, `[microphone]`, as powers; nil while nobody looks for it.
  private let heardWind = Locked<[Float]?>(nil)
  /// Whether a microphone is missing.
  private let lacksMicrophone = Atomic<Bool>(false)
  /// By feed.
  private let removedWind = Locked<[Int: Double]>([:])
  private var spectra: MicrophoneSpectra?
  private var finder: DirectionFinder?
  private var wind: WindAnalysis?
  private var tracker: TalkerTracker?
  private var corrected: CorrectedFilters?
  private let listing = TalkerListing()
  /// Of the listener whom talkers are near the horizon for.
  private var up = SIMD3<Double>()
  private var hasHeight = true
  private var block: [AlignedMemory] = []
  /// Updates in which nothing was asked for.
  private var updatesAtRest = 0
  /// `Engine.statistics.lateAdaptations` when the worker last caught up.
  private var lateBefore = 0
  private var updatesLate = 0
  /// Processor time so far, in seconds, of the analysis and of the filters that are written.
  ///
  /// Thread: worker.
  public private(set) var seconds = (analysis: 0.0, writing: 0.0)

  /// Time constant in seconds with which the strength changes.
  private static let fade = 0.05

  /// - Returns: nil if the engine was made without a stream.
  package init?(_ engine: Engine) {
    guard let stream = engine.stream else { return nil }
    self.engine = engine
    self.stream = stream
  }

  deinit { for memory in block { memory.free() } }

  /// Follows the sound with other tables, another base, or another strength; empty for not at all.
  /// - Parameter targets: by the feeds' numbers in the engine. All have the same array.
  ///
  /// Thread: any.
  package func follow(_ targets: [Int: Target]) { wanted.withLock { $0 = (targets, true) } }

  /// Follows the sound at full strength from the first frame on. Call it before the first period.
  ///
  /// Thread: worker.
  package func start(_ targets: [Int: Target]) {
    follow(targets)
    guard !targets.isEmpty else { return }
    begin(targets)
    for (number, target) in targets {
      corrected?.feeds[number]?.strength = target.strength
      corrected?.feeds[number]?.windStrength = target.windStrength
      if let part = target.part {
        corrected?.feeds[number]?.talkersGain = part.talkers
        corrected?.feeds[number]?.roomGain = part.room
      }
    }
  }

  /// Thread: any.
  public var state: State { stated.withLock { $0 } }

  /// Who has been heard in the last seconds; nil while nobody looks for talkers.
  ///
  /// Thread: any.
  public var talkers: [TrackedTalker]? {
    told.withLock { $0 }.map { told in told.indices.compactMap { told[$0] } }
  }

  /// The wind that there is; nil if there is none, or nobody looks for it.
  ///
  /// Thread: any.
  public var presentWind: Wind? {
    heardWind.withLock { powers in
      // No copy leaves the lock, so that the worker never has to make one to write.
      guard let powers, powers.contains(where: { $0 > 0 }) else { return nil }
      return Wind(
        levels: powers.map { Double(10 * log10(max($0, 1e-12))) },
        removed: removedWind.withLock { $0.mapValues { $0 } })
    }
  }

  /// Finds no talkers while a microphone is missing: directions need all of them.
  ///
  /// Thread: any.
  package func setLacksMicrophone(_ lacks: Bool) { lacksMicrophone.store(lacks, ordering: .relaxed) }

  /// Lists who speaks where from a frame of the engine on, also a past one; nil for no more.
  ///
  /// Thread: any.
  package func listTalkers(from frame: Int?) { listing.begin(at: frame.map { $0 + stream.firstClock }) }

  /// Who has begun, moved or ceased since the last call, as `listTalkers` asks for.
  ///
  /// Thread: any.
  package func takeTalkers() -> [TalkerChange] {
    listing.take().map { TalkerChange(frame: $0.frame - stream.firstClock, talker: $0.talker) }
  }

  /// Reads what the callback has received since the last call, and delivers the newest filters.
  ///
  /// Thread: worker.
  package func work() {
    let new: [Int: Target] = wanted.withLock { wanted in
      defer { wanted.isNew = false }
      return wanted.isNew ? wanted.targets : [:]
    }
    if !new.isEmpty { begin(new) }
    guard let spectra else { return }
    let begin = processorSeconds()
    var (updates, read) = (0, 0)
    withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<Float>.self, capacity: block.count) { pointers in
      for (m, memory) in block.enumerated() { pointers[m] = memory.floats }
      let targets = UnsafePointer(pointers.baseAddress!)
      while true {
        let (frames, lost, clock) = stream.read(into: targets, atMost: spectra.framesToHop)
        if lost > 0 { reset() }
        guard frames > 0 else { break }
        read += frames
        let late = align(spectra, frames, at: clock)
        guard late < frames else { continue }
        for (m, memory) in block.enumerated() { pointers[m] = memory.floats + late }
        let step = targets.withMemoryRebound(to: UnsafePointer<Float>.self, capacity: block.count) {
          take($0, frames - late, spectra)
        }
        for (m, memory) in block.enumerated() { pointers[m] = memory.floats }
        switch step {
        case .none: continue
        case .silence: corrected?.reset()
        case .directions: corrected?.update(tracker?.talkers)
        }
        // The responses are those of all microphones.
        if let finder {
          // Nobody is heard while a microphone is muted or missing, and everybody is who they were.
          let heard = hasMuted || lacksMicrophone.load(ordering: .relaxed) ? step.muted : step
          tracker?.take(heard, of: finder)
          listing.take(heard, of: finder) { makeTracker(finder) }
        }
        updates += 1
        fade()
      }
    }
    let analysed = processorSeconds()
    seconds.analysis += analysed - begin
    if updates > 0 {
      deliver()
      seconds.writing += processorSeconds() - analysed
      // Unless that was the end.
      if let tracker { told.withLock { $0 = tracker.talkers } }
      if let wind {
        heardWind.withLock { powers in
          if powers == nil { powers = wind.powers }
          for m in wind.powers.indices { powers![m] = wind.powers[m] }
        }
      }
    }
    if read > 0 { stream.finished(frames: read) }
  }

  /// Lets the analysis begin where one of a take does that begins where periods do, or later by whole periods.
  ///
  /// Thread: worker.
  /// - Returns: how many of the frames come before.
  private func align(_ spectra: MicrophoneSpectra, _ frames: Int, at clock: Int) -> Int {
    guard clock != spectra.clock else { return 0 }
    let period = spectra.grid.hop * max(DirectionFinder.hopsPerUpdate, wind?.hopsPerUpdate ?? 0)
    let late = (period - clock % period) % period
    if late < frames { reset(at: clock + late) }
    return min(late, frames)
  }

  /// Thread: worker.
  private func makeTracker(_ finder: DirectionFinder) -> TalkerTracker {
    TalkerTracker(finder, plane: hasHeight ? nil : up)
  }

  /// Takes frames, at most `framesToHop`.
  ///
  /// Thread: worker.
  private func take(
    _ block: UnsafePointer<UnsafePointer<Float>>, _ frames: Int, _ spectra: MicrophoneSpectra
  ) -> DirectionFinder.Step {
    let isHop = frames == spectra.framesToHop
    let found = finder?.append(block, count: frames)
    if spectra !== finder?.spectra { _ = spectra.append(block, count: frames) }
    guard isHop else { return .none }
    if found == .silence || (found == nil && spectra.isSilent) {
      if spectra !== finder?.spectra { spectra.reset() }
      wind?.reset()
      return .silence
    }
    let hops = spectra.clock / spectra.grid.hop
    if let wind {
      wind.append(spectra)
      if hops % wind.hopsPerUpdate == 0 { wind.update() }
    }
    return found ?? (hops % DirectionFinder.hopsPerUpdate == 0 ? .directions : .none)
  }

  /// Thread: worker.
  private func deliver() {
    let longRest = Int(10 * Self.fade / secondsPerUpdate)
    let wanted = wanted.withLock { $0.targets }
    let update = spectra.map { $0.clock / $0.grid.framesPerUpdate } ?? 0
    for (number, feed) in corrected?.feeds ?? [:] {
      if feed.updatesAtRest > longRest {
        if feed.mayBeHeard { stream.returnToBase(feed: number) }
        feed.mayBeHeard = false
        removedWind.withLock { $0[number] = nil }
        if wanted[number]?.isIdle ?? true {
          corrected?.remove(feed: number)
          choosePace()
        }
      } else {
        guard feed.needsDelivery(wind, update: update) else { continue }
        corrected?.writeFilters(feed: number)
        stream.deliver(
          feed: number, base: feed.base, lineage: feed.lineage, coefficients: feed.filters.floats)
        feed.mayBeHeard = true
        if feed.wind != nil { removedWind.withLock { $0[number] = feed.removed } }
      }
    }
    if updatesAtRest > longRest, corrected?.feeds.isEmpty ?? true { end() }
  }

  /// Forgets the sound so far.
  ///
  /// Thread: worker.
  /// - Parameter clock: of the next frame; nil if time goes on.
  private func reset(at clock: Int? = nil) {
    finder?.reset(at: clock)
    if spectra !== finder?.spectra { spectra?.reset(at: clock) }
    wind?.reset()
    corrected?.reset()
    listing.reset()
  }

  /// Thread: worker.
  private var secondsPerUpdate: Double { spectra?.grid.secondsPerUpdate ?? 1 }

  /// Thread: worker.
  private func begin(_ new: [Int: Target]) {
    // Talkers are told as the first feed hears them.
    let inOrder = new.sorted { $0.key < $1.key }.map(\.value)
    let first = inOrder.first { $0.array != nil }
    let table = inOrder.lazy.compactMap { $0.wind?.table }.first
    hasHeight = first?.hasHeight ?? hasHeight
    if spectra == nil || finder?.array !== first?.array || wind?.table !== table { listen(first, table) }
    if let first, first.up != up {
      finder?.prefer(horizonOf: first.up)
      up = first.up
    }
    tracker?.look(across: hasHeight ? nil : up)
    for (number, target) in new {
      // What is known of the sound remains; the corrections of other filters are worth nothing.
      if let known = corrected?.feeds[number], target.isAlike(known) {
        (known.part, known.lineage) = (target.part, target.lineage)
      } else if target.ears != nil || target.wind != nil || target.part != nil {
        corrected?.use(target, feed: number)
      }
    }
    choosePace()
  }

  /// Directions of all bands are found only where filters follow them.
  ///
  /// Thread: worker.
  private func choosePace() {
    finder?.findsAll = corrected?.feeds.values.contains { $0.ears != nil || $0.part != nil } ?? false
  }

  /// Listens to an array, for directions, for wind, or for both.
  ///
  /// Thread: worker.
  private func listen(_ first: Target?, _ table: WindTable?) {
    if finder?.array !== first?.array {
      let finder = first.flatMap { target in target.array.map { DirectionFinder($0, up: target.up) } }
      self.finder = finder
      up = first?.up ?? up
      tracker = finder.map(makeTracker)
      if let finder { listing.prepare(finder) }
      told.withLock { $0 = nil }
    }
    if wind?.table !== table {
      wind = table.map(WindAnalysis.init)
      if wind == nil { heardWind.withLock { $0 = nil } }
    }
    guard let grid = first?.array?.grid ?? table?.grid else { return }
    let isRunning = spectra != nil
    // Wind is looked for in all microphones.
    let isShared = wind == nil || finder?.array.isWhole ?? false
    spectra =
      isShared ? finder?.spectra : MicrophoneSpectra(grid, places: Array(0..<engine.microphones))
    let feeds = corrected?.feeds ?? [:]
    corrected = CorrectedFilters(
      grid, microphones: engine.microphones, finder: finder, wind: wind, taps: engine.taps,
      feeds: feeds)
    for memory in block { memory.free() }
    block = (0..<engine.microphones).map { _ in AlignedMemory(count: grid.hop) }
    if !isRunning { stream.start() }
  }

  /// Thread: worker.
  private func end() {
    stream.stop()
    (spectra, finder, wind, tracker, corrected, updatesAtRest) = (nil, nil, nil, nil, nil, 0)
    heardWind.withLock { $0 = nil }
    removedWind.withLock { $0 = [:] }
    stated.withLock { $0 = .off }
    told.withLock { $0 = nil }
  }

  /// Whether corrections are applied; says so.
  ///
  /// Thread: worker.
  private func isAdapting() -> Bool {
    let late = engine.statistics.lateAdaptations
    if late != lateBefore { updatesLate = 1 + Int(1 / secondsPerUpdate) }
    lateBefore = late
    updatesLate = max(0, updatesLate - 1)
    let state: State =
      if wanted.withLock({ $0.targets.values.allSatisfy(\.isIdle) }) {
        .off
      } else if !stream.canAdapt {
        .shortPeriod
      } else if hasMuted {
        .mutedMicrophone
      } else if updatesLate > 0 {
        .late
      } else {
        .adapting
      }
    stated.withLock { $0 = state }
    return state == .adapting
  }

  /// Thread: worker.
  private var hasMuted: Bool { (0..<engine.microphones).contains { engine.isMuted(microphone: $0) } }

  /// Thread: worker.
  private func fade() {
    let isAdapting = isAdapting()
    let wanted = wanted.withLock { $0.targets }
    let step = min(1, secondsPerUpdate / Self.fade)
    func fade(_ strength: inout Double, to goal: Double) {
      strength += step * ((isAdapting ? goal : 0) - strength)
      if goal == 0 || !isAdapting, strength < 1e-4 { strength = 0 }
    }
    for (number, feed) in corrected?.feeds ?? [:] {
      let target = wanted[number]
      fade(&feed.strength, to: target?.ears == nil ? 0 : target?.strength ?? 0)
      fade(&feed.windStrength, to: target?.windStrength ?? 0)
      let (part, rest) = (isAdapting ? target?.part : nil, feed.restingGain)
      func approach(_ gain: inout Double, _ goal: Double) {
        gain += step * (goal - gain)
        if abs(gain - goal) < 1e-4 { gain = goal }
      }
      approach(&feed.talkersGain, part?.talkers ?? rest)
      approach(&feed.roomGain, part?.room ?? rest)
      let isAtRest =
        feed.strength == 0 && (feed.windStrength == 0 || wind?.presence == 0) && feed.isWhole
      feed.updatesAtRest = isAtRest ? feed.updatesAtRest + 1 : 0
    }
    updatesAtRest = wanted.isEmpty ? updatesAtRest + 1 : 0
  }
}

/// Of the calling thread.
private func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
