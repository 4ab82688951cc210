import Acoustics
import Adaptation
import CRealtime
import Glibc
import Messages
import Processor
import Realtime
import Synchronization
import Threads

/// Lets `main` of a running engine follow the sound, and finds talkers: makes what that needs in the background, and runs the
/// worker beside the callback.
///
/// Thread: any, where nothing else is stated.
final class LiveAdaptation: Sendable {
  /// What `main` plays.
  struct Play: Sendable {
    let selection: Selection
    let device: Device
    let base: FilterSet
    let strength: Double

    /// The part of the corrections that is applied: 0 where nothing is to follow the sound.
    var correction: Double { selection.polarPattern == .stereo && base.outputs == 2 ? strength : 0 }
  }

  /// What was asked for last.
  private struct Wanted {
    var play: Play?
    /// Whether talkers are wanted anyway.
    var finds = false
    /// Of changes so far: what was asked for before counts no more.
    var number = 0
  }

  private let adaptive: AdaptiveStereo
  private let sampleRate: Int
  private let delayFrames: Int
  /// Makes models and tables, one after another. The newest wins.
  private let maker: Worker
  private let wanted = Locked(Wanted())
  private let model = Locked<AdaptiveModel?>(nil)
  /// What was followed last, with the selection that its tables are for.
  private let last = Locked<(selection: Selection, target: AdaptiveStereo.Target)?>(nil)
  private let progress = Locked(Progress.ready)
  private let isRunning = Atomic<Bool>(false)
  private let hasEnded = Atomic<Bool>(false)

  private enum Progress {
    case ready, preparing
    /// There is nothing to follow with.
    case failed(String)
  }

  /// How often the worker looks for new frames, in microseconds: a quarter of the shortest hop at 48 kHz.
  private static let interval: UInt32 = 600

  /// - Returns: nil if the engine cannot adapt, or no thread can be started.
  init?(_ engine: Engine, delayFrames: Int) {
    guard let adaptive = AdaptiveStereo(engine), let maker = try? Worker("pinna tables") else { return nil }
    self.adaptive = adaptive
    self.maker = maker
    sampleRate = Int(engine.sampleRate)
    self.delayFrames = delayFrames
  }

  /// Follows the sound as `play` says from now on.
  func follow(_ play: Play) { want { $0.play = play } }

  /// Looks for talkers from now on, or only where stereo follows the sound.
  func find(_ isWanted: Bool) {
    if wanted.withLock({ $0.finds }) != isWanted { want { $0.finds = isWanted } }
  }

  private func want(_ change: (inout Wanted) -> Void) {
    let new = wanted.withLock {
      change(&$0)
      $0.number += 1
      return $0
    }
    guard let play = new.play else { return }
    guard play.correction > 0 || new.finds else { return settle(new.number, nil, .ready) }
    if let known = known(play) { return settle(new.number, known, .ready) }
    progress.withLock { $0 = .preparing }
    maker.run { [self] in
      let number = new.number
      guard number == wanted.withLock({ $0.number }), !hasEnded.load(ordering: .relaxed) else { return }
      do {
        let present = model.withLock { $0 }
        let model =
          if let present, present.device == play.device { present } else {
            try AdaptiveModel(play.device, sampleRate: sampleRate)
          }
        self.model.withLock { $0 = model }
        let target =
          try known(play)
          ?? model.target(
            play.selection, base: play.base, delayFrames: delayFrames, strength: play.correction)
        if target != nil { try startWorker() }
        last.withLock { $0 = target.map { (play.selection, $0) } }
        settle(number, target, target == nil ? .failed("a microphone is missing") : .ready)
      } catch {
        settle(number, nil, .failed("\(error)"))
      }
    }
  }

  /// Lets `target` be followed, unless something newer was asked for meanwhile.
  private func settle(_ number: Int, _ target: AdaptiveStereo.Target?, _ new: Progress) {
    wanted.withLock {
      guard number == $0.number else { return }
      adaptive.follow(target)
      progress.withLock { $0 = new }
    }
  }

  /// The tables that were made last, if they serve: gain and strength change often, and tables take a moment.
  private func known(_ play: Play) -> AdaptiveStereo.Target? {
    guard let last = last.withLock({ $0 }), last.selection == play.selection,
      last.target.ears?.base === (play.correction > 0 ? play.base : nil)
    else { return nil }
    var target = last.target
    target.strength = play.correction
    return target
  }

  private var isCorrecting: Bool { wanted.withLock { ($0.play?.correction ?? 0) > 0 } }

  /// What becomes of stereo that follows the sound; nil if that was not asked for.
  var text: String? {
    guard isCorrecting else { return nil }
    return switch progress.withLock({ $0 }) {
    case .preparing: "preparing; the linear filters play"
    case .failed(let reason): reason + "; the linear filters play"
    case .ready: adaptive.state.text
    }
  }

  var talkers: [TrackedTalker]? { adaptive.talkers }

  /// Why nobody looks for talkers; nil if somebody does, or nobody shall.
  var talkersText: String? {
    guard isCorrecting || wanted.withLock({ $0.finds }) else { return nil }
    return switch progress.withLock({ $0 }) {
    case .preparing: "preparing"
    case .failed(let reason): reason
    case .ready: adaptive.talkers == nil ? "nothing has been heard yet" : nil
    }
  }

  /// The engine is no longer used.
  func end() {
    hasEnded.store(true, ordering: .relaxed)
    adaptive.follow(nil)
  }

  /// Starts the worker's thread, unless it runs.
  ///
  /// Thread: that of `maker`.
  private func startWorker() throws(NoThread) {
    guard !isRunning.exchange(true, ordering: .relaxed) else { return }
    do {
      try BackgroundThread.start("pinna adapt") { [weak self] in
        Self.raisePriority()
        while let live = self, !live.hasEnded.load(ordering: .relaxed) {
          live.adaptive.work()
          usleep(Self.interval)
        }
      }
    } catch {
      isRunning.store(false, ordering: .relaxed)
      throw error
    }
  }

  /// Realtime priority below that of the callback, where the system allows it.
  ///
  /// Thread: the worker's.
  private static func raisePriority() {
    var parameters = sched_param(sched_priority: 1)
    _ = pthread_setschedparam(pthread_self(), Int32(SCHED_FIFO), &parameters)
    flushDenormalsToZero()
  }
}

extension AdaptiveStereo.State {
  fileprivate var text: String? {
    switch self {
    case .off: nil
    case .adapting: StatusReport.adapting
    case .mutedMicrophone: "a microphone is muted; the linear filters play"
    case .shortPeriod: "the period is too short to adapt; the linear filters play"
    case .late: "the computer was too slow to adapt; the linear filters play"
    }
  }
}
