import Acoustics
import Adaptation
import CRealtime
import Glibc
import Messages
import Processor
import Realtime
import Settings
import Synchronization
import Threads

/// Lets feeds of a running engine follow the sound, and finds talkers: makes what that needs in the background, and runs the
/// worker beside the callback.
///
/// Thread: any, where nothing else is stated.
final class LiveAdaptation: Sendable {
  /// What a feed plays.
  struct Play: Sendable {
    /// With the selection that is played.
    let feed: FeedSetting
    let device: Device
    /// Its linear filters.
    let whole: FilterSet
    /// Where talkers are whom a part may name.
    var places: [String: Direction]
    /// Of the setting, as in `Engine.change`.
    let lineage: Int
  }

  /// What was asked for last.
  private struct Wanted {
    /// By the feeds' numbers in the engine.
    var plays: [Int: Play] = [:]
    /// Whether talkers are wanted anyway, as main hears them.
    var finds = false
    /// Those that something follows the sound for.
    var followed: [Int: Play] {
      plays.filter { $0.value.feed.followsSound || ($0.key == 0 && finds) }
    }
    /// Whether directions are found: for one feed, they are for all.
    var findsDirections: Bool { finds || plays.values.contains { $0.feed.followsDirections } }
    /// Of changes so far: what was asked for before counts no more.
    var number = 0
  }

  private let adaptive: AdaptiveFilters
  private let sampleRate: Int
  private let microphones: Int
  private let taps: Int
  private let delayFrames: Int
  /// Makes models and tables, one after another. The newest wins.
  private let maker: Worker
  private let wanted = Locked(Wanted())
  private let model = Locked<AdaptiveModel?>(nil)
  /// By the feed's number in the engine.
  private let reusable = Locked<[Int: ReusableTarget]>([:])
  private let progress = Locked(Progress.ready)
  private let isRunning = Atomic<Bool>(false)
  private let hasEnded = Atomic<Bool>(false)
  /// Of the worker in the last second.
  private let taken = Locked(AdaptationLoad())

  private enum Progress {
    case ready, preparing
    /// There is nothing to follow with.
    case failed(String)
  }

  /// How often the worker looks for new frames, in microseconds: a quarter of the shortest hop at 48 kHz.
  private static let interval: UInt32 = 600

  /// - Returns: nil if the engine cannot adapt, or no thread can be started.
  init?(_ engine: Engine, delayFrames: Int) {
    guard let adaptive = AdaptiveFilters(engine), let maker = try? Worker("pinna tables") else { return nil }
    self.adaptive = adaptive
    self.maker = maker
    sampleRate = Int(engine.sampleRate)
    (microphones, taps) = (engine.microphones, engine.taps)
    self.delayFrames = delayFrames
  }

  /// Lets a feed follow the sound as `play` says from now on; nil for a feed that has ended.
  func follow(_ play: Play?, feed: Int) {
    if play == nil { reusable.withLock { $0[feed] = nil } }
    want { $0.plays[feed] = play }
  }

  /// Looks for talkers from now on, or only where stereo follows the sound.
  func find(_ isWanted: Bool) {
    if wanted.withLock({ $0.finds }) != isWanted { want { $0.finds = isWanted } }
  }

  /// Finds nobody while a microphone is missing.
  func setLacksMicrophone(_ lacks: Bool) { adaptive.setLacksMicrophone(lacks) }

  /// Those whom parts may name are there from now on.
  func place(_ places: [String: Direction]) {
    guard wanted.withLock({ $0.plays.values.contains { $0.places != places } }) else { return }
    want { for feed in $0.plays.keys { $0.plays[feed]?.places = places } }
  }

  /// What has only turned is followed at once, and gets tables that take long to compute when it rests.
  private func want(_ change: (inout Wanted) -> Void) {
    let new = wanted.withLock {
      change(&$0)
      $0.number += 1
      return $0
    }
    let plays = new.followed
    let number = new.number
    var (known, hasTurned) = ([Int: AdaptiveFilters.Target](), false)
    for (feed, play) in plays {
      known[feed] = self.known(play, feed, new.findsDirections)
      guard known[feed] == nil, let target = turned(play, feed, new.findsDirections) else { continue }
      (known[feed], hasTurned) = (target, true)
    }
    let lacksDirections = new.findsDirections && model.withLock { $0?.findsDirections } != true
    let isComplete = known.count == plays.count && !lacksDirections
    if isComplete || hasTurned {
      settle(number, known, isComplete ? .ready : .preparing)
    } else {
      progress.withLock { $0 = .preparing }
    }
    if isComplete, !known.values.contains(where: \.lacksTables) { return }
    maker.run { [self] in
      guard isComplete ? rests(number) : isNewest(number) else { return }
      do {
        var targets: [Int: AdaptiveFilters.Target] = [:]
        var obstacle: String?
        for (feed, play) in plays {
          let target: AdaptiveFilters.Target?
          do {
            target = try self.known(play, feed, new.findsDirections) ?? make(play, new.findsDirections)
          } catch let fault as Unsupported {
            // Others go on.
            (target, obstacle) = (nil, "\(fault)")
          }
          targets[feed] = target
          reusable.withLock {
            $0[feed] = target.map { ReusableTarget($0, for: play.feed, whole: play.whole) }
          }
        }
        if !targets.isEmpty { try startWorker() }
        settle(
          number, targets,
          targets.count < plays.count ? .failed(obstacle ?? "a microphone is missing") : .ready)
      } catch {
        settle(number, [:], .failed("\(error)"))
      }
    }
  }

  /// Makes the tables of what a feed plays.
  ///
  /// Thread: that of `maker`.
  private func make(_ play: Play, _ findsDirections: Bool) throws -> AdaptiveFilters.Target? {
    let present = model.withLock { $0 }
    let model =
      if let present, present.device == play.device, present.findsDirections || !findsDirections {
        present
      } else {
        try AdaptiveModel(play.device, sampleRate: sampleRate, findsDirections: findsDirections)
      }
    self.model.withLock { $0 = model }
    return try model.target(
      play.feed, whole: play.whole, delayFrames: delayFrames, places: play.places, lineage: play.lineage)
  }

  /// Whether nothing was wanted since.
  private func isNewest(_ number: Int) -> Bool {
    number == wanted.withLock { $0.number } && !hasEnded.load(ordering: .relaxed)
  }

  /// Waits for `ReusableTarget.rest`.
  ///
  /// Thread: that of `maker`.
  /// - Returns: false as soon as something else is wanted.
  private func rests(_ number: Int) -> Bool {
    let end = ContinuousClock.now + .seconds(ReusableTarget.rest)
    while .now < end {
      guard isNewest(number) else { return false }
      usleep(20_000)
    }
    return isNewest(number)
  }

  /// Lets `targets` be followed, unless something newer was asked for meanwhile.
  private func settle(_ number: Int, _ targets: [Int: AdaptiveFilters.Target], _ new: Progress) {
    wanted.withLock {
      guard number == $0.number else { return }
      adaptive.follow(targets)
      progress.withLock { $0 = new }
    }
  }

  private func known(_ play: Play, _ feed: Int, _ findsDirections: Bool) -> AdaptiveFilters.Target? {
    reusable.withLock { reusable -> AdaptiveFilters.Target? in
      guard
        var target = reusable[feed]?.target(
          for: play.feed, whole: play.whole, places: play.places, findsDirections: findsDirections)
      else { return nil }
      reusable[feed]?.lineage = play.lineage
      target.lineage = play.lineage
      return target
    }
  }

  /// The target of a feed that has turned, with the tables that are made at once; nil if it has done more than that.
  private func turned(_ play: Play, _ feed: Int, _ findsDirections: Bool) -> AdaptiveFilters.Target? {
    guard let last = reusable.withLock({ $0[feed] }), let model = model.withLock({ $0 }),
      model.device == play.device, model.findsDirections || !play.feed.followsDirections,
      var target = last.target(
        turnedTo: play.feed, whole: play.whole, places: play.places, lineage: play.lineage, model,
        delayFrames: delayFrames)
    else { return nil }
    reusable.withLock { $0[feed] = ReusableTarget(target, for: play.feed, whole: play.whole) }
    if !findsDirections { target.array = nil }
    return target
  }

  private var isCorrecting: Bool {
    wanted.withLock { $0.plays.values.contains { $0.feed.followsDirections } }
  }

  /// What becomes of stereo that follows the sound; nil if that was not asked for.
  var text: String? {
    guard isCorrecting else { return nil }
    return switch progress.withLock({ $0 }) {
    case .preparing: "preparing; the linear filters play"
    case .failed(let reason): reason + "; the linear filters play"
    case .ready: adaptive.state.text
    }
  }

  /// The wind that there is and what is taken out, or why none is; nil if that was not asked for.
  func windText(_ microphones: [String]) -> String? {
    guard wanted.withLock({ $0.plays.values.contains { $0.feed.wind > 0 } }) else { return nil }
    switch progress.withLock({ $0 }) {
    case .preparing: return "preparing; the linear filters play"
    case .failed(let reason): if adaptive.state == .off { return reason + "; the linear filters play" }
    case .ready: break
    }
    guard [.adapting, .off].contains(adaptive.state) else { return adaptive.state.text }
    guard let wind = adaptive.presentWind else { return "none" }
    let loudest = wind.levels.max() ?? 0
    let windy = zip(microphones, wind.levels).filter { $1 > loudest - 6 }.map(\.0)
    let removed = wind.removed.values.max() ?? 0
    return String(format: "%.0f dBFS at ", loudest)
      + (windy.count == microphones.count ? "all microphones" : windy.joined(separator: ", "))
      + String(format: "; %.0f dB taken out", removed + 0)
  }

  /// Whether there is wind, as far as anybody listens for it.
  var hasWind: Bool { adaptive.presentWind != nil }

  /// What following the sound takes, in percent of a core; nil if nothing follows it.
  var load: Double? {
    let follows = wanted.withLock { !$0.followed.isEmpty } && isRunning.load(ordering: .relaxed)
    return follows ? (taken.withLock { $0 }.total * 1000).rounded() / 10 : nil
  }

  /// - Parameter feed: what another feed shall play, or one that does not follow the sound yet.
  /// - Throws: if following the sound would take more than may be.
  func check(_ feed: FeedSetting, number: Int?) throws(Failure) {
    guard feed.followsSound else { return }
    let (plays, finds) = wanted.withLock { ($0.plays.filter(\.value.feed.followsSound), $0.finds) }
    if let number, plays[number] != nil { return }
    let outputs = plays.values.reduce(0) { $0 + $1.feed.selection.polarPattern.outputs }
    let more = feed.selection.polarPattern.outputs
    // Nothing is measured before a feed follows the sound.
    let load =
      outputs > 0
      ? taken.withLock { $0 }.adding(more, to: outputs)
      : .expected(
        microphones: microphones, taps: taps, outputs: [more],
        findsDirections: feed.followsDirections || finds)
    guard load.total > AdaptationLoad.most else { return }
    throw Failure(
      .failed,
      "with the feed \(feed.name) following the sound would take about "
        + String(
          format: "%.0f %% of a core, more than %.0f; let fewer feeds follow it, or feeds with fewer outputs",
          100 * load.total, 100 * AdaptationLoad.most))
  }

  var talkers: [TrackedTalker]? { adaptive.talkers }

  func listTalkers(from frame: Int?) { adaptive.listTalkers(from: frame) }
  func takeTalkers() -> [TalkerChange] { adaptive.takeTalkers() }

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
    adaptive.follow([:])
  }

  /// Starts the worker's thread, unless it runs.
  ///
  /// Thread: that of `maker`.
  private func startWorker() throws(NoThread) {
    guard !isRunning.exchange(true, ordering: .relaxed) else { return }
    do {
      try BackgroundThread.start("pinna adapt") { [weak self] in
        Self.raisePriority()
        var (start, before) = (ContinuousClock.now, (analysis: 0.0, writing: 0.0))
        while let live = self, !live.hasEnded.load(ordering: .relaxed) {
          live.adaptive.work()
          let elapsed = (ContinuousClock.now - start) / .seconds(1)
          if elapsed > 1 {
            let now = live.adaptive.seconds
            live.taken.withLock {
              $0 = AdaptationLoad(
                analysis: (now.analysis - before.analysis) / elapsed,
                writing: (now.writing - before.writing) / elapsed)
            }
            (start, before) = (.now, now)
          }
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

extension AdaptiveFilters.State {
  fileprivate var text: String? {
    switch self {
    case .off: nil
    case .adapting: StatusFields.adapting
    case .mutedMicrophone: "a microphone is muted; the linear filters play"
    case .shortPeriod: "the period is too short to adapt; the linear filters play"
    case .late: "the computer was too slow to adapt; the linear filters play"
    }
  }
}
