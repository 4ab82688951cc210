import Acoustics
import Realtime
import Threads

/// Stereo filters that follow the sound, on `main` of one engine, and who speaks where: reads the engine's microphones, and
/// delivers filters and talkers.
///
/// It plays the linear filters alone, and says why, while something forbids it to follow: see `State`. It gets there and
/// back smoothly.
public final class AdaptiveStereo: @unchecked Sendable {
  // Unchecked: only the worker uses `finder` and what follows it.

  /// What it follows the sound with: an array, and stereo whose linear filters it corrects.
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
  private let wanted = Locked<Target?>(nil)
  private let stated = Locked<State>(.off)
  /// Nil while nobody looks for talkers.
  private let told = Locked<Talkers?>(nil)
  private var finder: DirectionFinder?
  private var tracker: TalkerTracker?
  private var corrected: CorrectedFilters?
  private var target: Target?
  private var block: [AlignedMemory] = []
  /// The part of the corrections that is applied now.
  private var strength = 0.0
  /// Updates in which nothing was applied.
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

  /// Follows the sound with other tables, another base, or another strength; nil for not at all.
  ///
  /// Thread: any.
  package func follow(_ target: Target?) { wanted.withLock { $0 = target } }

  /// Follows the sound at full strength from the first frame on. Call it before the first period.
  ///
  /// Thread: worker.
  package func start(_ target: Target?) {
    follow(target)
    guard let target else { return }
    begin(target)
    strength = target.strength
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
    if let new = wanted.withLock({ $0 }) {
      begin(new)
    } else if target == nil {
      return
    }
    guard let finder, let target else { return }
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
        case .directions: corrected?.update(strength: Float(strength))
        }
        // The responses are those of all microphones.
        if hasMuted { tracker?.reset() } else { tracker?.take(step, of: finder) }
        updates += 1
        fade(to: goal(of: target), finder)
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
    if updatesAtRest > Int(10 * Self.fade / finder.secondsPerUpdate) {
      stream.returnToBase()
      switch wanted.withLock({ $0 }) {
      case nil: end()
      case let target? where target.ears == nil: corrected = nil
      default: break
      }
    } else if let corrected {
      corrected.writeFilters()
      stream.deliver(base: corrected.ears.base, coefficients: corrected.filters.floats)
    }
  }

  /// Forgets the sound so far.
  ///
  /// Thread: worker.
  private func reset() {
    finder?.reset()
    corrected?.reset()
  }

  /// Thread: worker.
  private func begin(_ new: Target) {
    defer { target = new }
    if finder == nil || finder!.array !== new.array {
      let finder = DirectionFinder(new.array, up: new.up)
      (self.finder, tracker, corrected) = (
        finder, TalkerTracker(finder, plane: new.hasHeight ? nil : new.up), nil
      )
      for memory in block { memory.free() }
      block = (0..<engine.microphones).map { _ in AlignedMemory(count: finder.hop) }
      stream.start()
    } else if let target, new.up != target.up {
      finder!.prefer(horizonOf: new.up)
    }
    guard let ears = new.ears, ears !== corrected?.ears else { return }
    // What is known of the sound remains; the corrections of other filters are worth nothing.
    strength = 0
    if let corrected { corrected.use(ears) } else { corrected = CorrectedFilters(ears, finder!) }
  }

  /// Thread: worker.
  private func end() {
    stream.stop()
    (finder, tracker, corrected, target) = (nil, nil, nil, nil)
    stated.withLock { $0 = .off }
    told.withLock { $0 = nil }
  }

  /// The strength to go to.
  ///
  /// Thread: worker.
  private func goal(of target: Target) -> Double {
    let late = engine.statistics.lateAdaptations
    if late != lateBefore { updatesLate = 1 + Int(1 / (finder?.secondsPerUpdate ?? 1)) }
    lateBefore = late
    updatesLate = max(0, updatesLate - 1)
    let state: State =
      if wanted.withLock({ $0?.ears == nil || $0?.strength == 0 }) {
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
    return state == .adapting ? target.strength : 0
  }

  /// Thread: worker.
  private var hasMuted: Bool { (0..<engine.microphones).contains { engine.isMuted(microphone: $0) } }

  /// Thread: worker.
  private func fade(to goal: Double, _ finder: DirectionFinder) {
    strength += min(1, finder.secondsPerUpdate / Self.fade) * (goal - strength)
    if goal == 0, strength < 1e-4 { strength = 0 }
    updatesAtRest = strength == 0 ? updatesAtRest + 1 : 0
  }
}
