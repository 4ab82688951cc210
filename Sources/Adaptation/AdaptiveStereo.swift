import Acoustics
import Realtime
import Threads

/// Stereo filters that follow the sound, on feeds of one engine, and who speaks where: reads the engine's microphones, and
/// delivers filters and talkers. One analysis serves all feeds.
///
/// It plays the linear filters alone, and says why, while something forbids it to follow: see `State`. It gets there and
/// back smoothly.
public final class AdaptiveStereo: @unchecked Sendable {
  // Unchecked: only the worker uses `finder` and what follows it.

  /// What a feed follows the sound with: an array, and stereo whose linear filters it corrects.
  public struct Target: Sendable {
    package let array: ArrayTable
    /// Up for the listener, as a unit vector of the device frame: talkers are near the horizon.
    package let up: SIMD3<Double>
    /// Whether the array can tell what is above from what is below.
    package let hasHeight: Bool
    /// Nil if nothing is to be corrected: then it only finds talkers.
    package let ears: EarTable?
    /// 0…1: the part of the correction that is applied.
    public var strength: Double
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
  private let wanted = Locked<[Int: Target]>([:])
  private let stated = Locked<State>(.off)
  /// Nil while nobody looks for talkers.
  private let told = Locked<Talkers?>(nil)
  private var finder: DirectionFinder?
  private var tracker: TalkerTracker?
  private var corrected: CorrectedFilters?
  /// Of the listener whom talkers are near the horizon for.
  private var up = SIMD3<Double>()
  private var block: [AlignedMemory] = []
  /// Updates in which nothing was asked for.
  private var updatesAtRest = 0
  /// `Engine.statistics.lateAdaptations` when the worker last caught up.
  private var lateBefore = 0
  private var updatesLate = 0

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
  package func follow(_ targets: [Int: Target]) { wanted.withLock { $0 = targets } }

  /// Follows the sound at full strength from the first frame on. Call it before the first period.
  ///
  /// Thread: worker.
  package func start(_ targets: [Int: Target]) {
    follow(targets)
    guard !targets.isEmpty else { return }
    begin(targets)
    for (number, target) in targets { corrected?.feeds[number]?.strength = target.strength }
  }

  /// Thread: any.
  public var state: State { stated.withLock { $0 } }

  /// Who has been heard in the last seconds; nil while nobody looks for talkers.
  ///
  /// Thread: any.
  public var talkers: [TrackedTalker]? {
    told.withLock { $0 }.map { told in told.indices.compactMap { told[$0] } }
  }

  /// Reads what the callback has received since the last call, and delivers the newest filters.
  ///
  /// Thread: worker.
  package func work() {
    let new = wanted.withLock { $0 }
    if !new.isEmpty { begin(new) }
    guard let finder else { return }
    var (updates, read) = (0, 0)
    withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<Float>.self, capacity: block.count) { pointers in
      for (m, memory) in block.enumerated() { pointers[m] = memory.floats }
      let targets = UnsafePointer(pointers.baseAddress!)
      while true {
        let (frames, lost) = stream.read(into: targets, atMost: finder.framesToHop)
        if lost > 0 { reset() }
        guard frames > 0 else { break }
        read += frames
        let step = targets.withMemoryRebound(to: UnsafePointer<Float>.self, capacity: block.count) {
          finder.append($0, count: frames)
        }
        switch step {
        case .none: continue
        case .silence: corrected?.reset()
        case .directions: corrected?.update()
        }
        // The responses are those of all microphones.
        if hasMuted { tracker?.reset() } else { tracker?.take(step, of: finder) }
        updates += 1
        fade(finder)
      }
    }
    if updates > 0 {
      deliver(finder)
      // Unless that was the end.
      if let tracker { told.withLock { $0 = tracker.talkers } }
    }
    if read > 0 { stream.finished(frames: read) }
  }

  /// Thread: worker.
  private func deliver(_ finder: DirectionFinder) {
    let longRest = Int(10 * Self.fade / finder.secondsPerUpdate)
    let wanted = wanted.withLock { $0 }
    for (number, feed) in corrected?.feeds ?? [:] {
      if feed.updatesAtRest > longRest {
        stream.returnToBase(feed: number)
        if wanted[number]?.ears == nil { corrected?.remove(feed: number) }
      } else {
        corrected?.writeFilters(feed: number)
        stream.deliver(feed: number, base: feed.ears.base, coefficients: feed.filters.floats)
      }
    }
    if updatesAtRest > longRest, corrected?.feeds.isEmpty ?? true { end() }
  }

  /// Forgets the sound so far.
  ///
  /// Thread: worker.
  private func reset() {
    finder?.reset()
    corrected?.reset()
  }

  /// Thread: worker.
  private func begin(_ new: [Int: Target]) {
    // Talkers are told as the first feed hears them.
    guard let first = new.min(by: { $0.key < $1.key })?.value else { return }
    if finder == nil || finder!.array !== first.array {
      let finder = DirectionFinder(first.array, up: first.up)
      (self.finder, tracker, corrected) = (
        finder, TalkerTracker(finder, plane: first.hasHeight ? nil : first.up),
        CorrectedFilters(finder, taps: engine.taps)
      )
      for memory in block { memory.free() }
      block = (0..<engine.microphones).map { _ in AlignedMemory(count: finder.hop) }
      stream.start()
    } else if first.up != up {
      finder!.prefer(horizonOf: first.up)
    }
    up = first.up
    for (number, target) in new {
      // What is known of the sound remains; the corrections of other filters are worth nothing.
      if let ears = target.ears, ears !== corrected?.feeds[number]?.ears {
        corrected?.use(ears, feed: number)
      }
    }
  }

  /// Thread: worker.
  private func end() {
    stream.stop()
    (finder, tracker, corrected, updatesAtRest) = (nil, nil, nil, 0)
    stated.withLock { $0 = .off }
    told.withLock { $0 = nil }
  }

  /// Whether corrections are applied.
  ///
  /// Thread: worker.
  private func isAdapting(_ finder: DirectionFinder) -> Bool {
    let late = engine.statistics.lateAdaptations
    if late != lateBefore { updatesLate = 1 + Int(1 / finder.secondsPerUpdate) }
    lateBefore = late
    updatesLate = max(0, updatesLate - 1)
    let state: State =
      if wanted.withLock({ $0.values.allSatisfy { $0.ears == nil || $0.strength == 0 } }) {
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
  private func fade(_ finder: DirectionFinder) {
    let isAdapting = isAdapting(finder)
    let wanted = wanted.withLock { $0 }
    for (number, feed) in corrected?.feeds ?? [:] {
      let goal = isAdapting ? wanted[number]?.strength ?? 0 : 0
      feed.strength += min(1, finder.secondsPerUpdate / Self.fade) * (goal - feed.strength)
      if goal == 0, feed.strength < 1e-4 { feed.strength = 0 }
      feed.updatesAtRest = feed.strength == 0 ? feed.updatesAtRest + 1 : 0
    }
    updatesAtRest = wanted.isEmpty ? updatesAtRest + 1 : 0
  }
}
