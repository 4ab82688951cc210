import Acoustics
import Messages
import Realtime
import Rendering
import Settings

/// A crossfade of a feed on its way through the callback.
///
/// Thread: control thread; a value.
package struct Fade {
  enum End { case inForce, superseded, refused }

  /// What is wanted with it; nil for other filters of what is in force, because a microphone is missing or back, or the feed
  /// follows a pose or a talker.
  let setting: Setting?
  /// The microphones that its filters do without.
  let missing: Set<String>
  /// Whether it is for these.
  var isFallback = false
  /// What is played if the feed follows; nil if it does not.
  let turned: Selection?
  /// Nil for other filters, which nobody waits for.
  var deadline: ContinuousClock.Instant?
  /// Nil for an internal change, and after the request timed out.
  var request: Request?
  /// What was asked for with the request; nil if that is not known.
  var changes: [Change]?
  /// Whether it plays in place of what was wanted before it, which it therefore contains.
  var standsIn = false
}

/// One feed, `main` or another: what is in force, and what is under way. A step of one feed never waits for another. Only
/// `main` is always there: it is neither added nor removed.
///
/// Thread: control thread; a value.
package struct FeedMachine {
  enum Step {
    case steady
    /// Filters that those of the device do not contain.
    case designing(FilterChoice.Key)
    case adding(Job<Ticket>)
    case removing(Job<Bool>)
  }

  /// A request that is answered once its feed is in force, or has gone.
  struct Waiting {
    /// Nil if it asked for the feed's end.
    var feed: FeedSetting?
    /// What was asked for; nil for the feed's end.
    let words: FeedWords?
    let request: Request
    let deadline: ContinuousClock.Instant
  }

  /// What the client plays; nil if it does not.
  var inForce: FeedSetting?
  /// Crossfades that the callback has not ended yet.
  package private(set) var fades: [Ticket: Fade] = [:]
  /// The newest setting that comes into force even with another engine, because somebody was told so or because it restores
  /// one, and the ticket of its change; nil once it has.
  private(set) var promised: (ticket: Ticket, setting: Setting)?
  private(set) var step = Step.steady
  /// What the step leads to.
  private(set) var goal: FeedSetting?
  private(set) var deadline: ContinuousClock.Instant?
  /// The server does not answer. The step goes on when it does, and nobody waits for it.
  private(set) var isOverdue = false
  var waiting: [Waiting] = []
  /// The feed of an earlier engine, whose ports may still be there.
  var leftOver: FeedSetting?
  /// Why the feed is not as it is wanted: nothing is tried again until something else is wanted, or another engine runs.
  var obstacle: (wanted: FeedSetting?, failure: Failure)?
  /// What it plays while it follows a pose or a talker.
  var turn = Turn()

  /// Whether the callback or a job owes a result.
  var isBusy: Bool { !fades.isEmpty || !waiting.isEmpty || !isSteady && !isOverdue }
  var isSteady: Bool { if case .steady = step { true } else { false } }
  /// Whether its ports and its place in the engine are just changing.
  var isAddingOrRemoving: Bool {
    switch step {
    case .adding, .removing: true
    case .steady, .designing: false
    }
  }

  private var newest: Ticket? { fades.filter { $0.value.setting != nil }.keys.max() }
  /// The setting that the newest change on its way leads to; nil if none is on its way.
  var coming: Setting? { newest.flatMap { fades[$0]?.setting } }
  /// Whether a change is on its way.
  package var isChanging: Bool { newest != nil }
  /// Whether a change is on its way for which nobody waits any more, because no period runs.
  var isStalled: Bool { fades.values.contains { $0.setting != nil && $0.deadline == nil } }
  /// Whether nothing is there, or to be done.
  var isNothing: Bool { inForce == nil && leftOver == nil && isSteady && !isBusy }
  /// Whether other filters are on their way.
  var isSubstituting: Bool { fades.values.contains { $0.setting == nil } }

  // MARK: Steps

  mutating func begin(_ new: Step, to feed: FeedSetting, until deadline: ContinuousClock.Instant) {
    (step, goal, self.deadline, isOverdue) = (new, feed, deadline, false)
  }

  mutating func endStep() { (step, goal, deadline, isOverdue) = (.steady, nil, nil, false) }

  mutating func becomeOverdue() { isOverdue = true }

  /// Another engine runs from now on, without feeds.
  mutating func reset() {
    switch step {
    case .steady, .designing: break
    case .adding(let job): job.abandon()
    case .removing(let job): job.abandon()
    }
    endStep()
    leftOver = inForce ?? leftOver
    (inForce, fades, promised, obstacle, turn) = (nil, [:], nil, nil, Turn())
  }

  // MARK: Crossfades

  /// The callback has been sent one.
  mutating func posted(_ ticket: Ticket, _ fade: Fade, isPromised: Bool = false) {
    fades[ticket] = fade
    if isPromised { promise(ticket) }
  }

  private mutating func promise(_ ticket: Ticket) {
    guard let setting = fades[ticket]?.setting, promised.map({ $0.ticket < ticket }) ?? true else { return }
    promised = (ticket, setting)
  }

  /// Removes a fade that the callback has ended. A superseded one keeps its promise: the newer fade contains it.
  mutating func removeFade(_ ticket: Ticket, _ end: Fade.End) -> Fade? {
    let fade = fades.removeValue(forKey: ticket)
    if fade?.setting != nil, end != .superseded, let last = promised?.ticket, last <= ticket {
      promised = nil
    }
    return fade
  }

  /// Who waited for a change that was dropped in favour of a newer one; nil if that contains all that was asked for, so that
  /// its answer is for both.
  mutating func dropped(_ fade: Fade, _ ticket: Ticket) -> Request? {
    guard let request = fade.request else { return nil }
    guard let newest, newest > ticket, let newer = fades[newest],
      newer.standsIn || fade.changes.map({ newer.setting?.contains($0) == true }) ?? false
    else { return request }
    let other = newer.request
    fades[newest]?.changes =
      other == nil ? fade.changes : newer.changes.flatMap { all in fade.changes.map { all + $0 } }
    fades[newest]?.request = Request { outcome in
      request.answer(outcome)
      other?.answer(outcome)
    }
    return nil
  }

  /// Takes the requests of changes whose time is over. The changes stay on their way, and take effect when they may.
  mutating func removeExpiredRequests(where hasPassed: (ContinuousClock.Instant) -> Bool) -> [Request] {
    var expired: [Request] = []
    for (ticket, fade) in fades where fade.deadline.map(hasPassed) ?? false {
      if let request = fade.request {
        expired.append(request)
        promise(ticket)
      }
      fades[ticket]?.request = nil
      fades[ticket]?.deadline = nil
      // Nobody waits for what this delays, either.
      expired += waiting.map(\.request)
      waiting = []
    }
    return expired
  }

  /// Forgets all: the callback that received them will not report again.
  /// - Returns: who waits for them, in the order of the changes.
  mutating func forgetFades() -> [Request] {
    defer { fades = [:] }
    return fades.sorted { $0.key < $1.key }.compactMap(\.value.request)
  }
}

extension FeedMachine {
  /// What a feed that follows a pose or a talker plays.
  struct Turn {
    /// What was sent last to the callback; nil if the feed does not follow.
    var sent: Selection?
    /// What `sent` was chosen for: the pose, and the version of the filters.
    var resolved: (wanted: Selection, version: Int)?
    /// What it played, from which frame of the engine on: since its last change.
    private var history: [(frame: Int, selection: Selection)] = []
    private static let historyLimit = 16_384

    /// The callback has taken nothing of what was sent.
    mutating func forgetSent() { (sent, resolved) = (nil, nil) }

    /// The fade to another pose begins.
    mutating func began(at frame: Int, _ selection: Selection) {
      history.append((frame, selection))
      guard history.count > Self.historyLimit else { return }
      history.removeFirst(Self.historyLimit / 2)
      history[0].frame = .min
    }

    /// A change is in force, which plays `selection`; nil if the feed does not follow.
    mutating func changed(_ selection: Selection?) { history = selection.map { [(.min, $0)] } ?? [] }

    /// What was played from `start` on, with frames from 0 at `start`.
    func history(from start: Int) -> [(frame: Int, selection: Selection)] {
      let first = history.last { $0.frame <= start }.map { [(0, $0.selection)] } ?? []
      return first + history.filter { $0.frame > start }.map { ($0.frame - start, $0.selection) }
    }
  }
}
