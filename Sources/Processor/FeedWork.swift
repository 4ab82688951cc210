import Acoustics
import Messages
import Realtime
import Rendering
import Settings

/// How far the client is with the feeds that `Setting.feeds` wants. What differs is brought about one step after another,
/// for each feed by itself: a change of one never waits for another.
///
/// Thread: control thread; a value.
struct FeedWork {
  enum Step {
    /// Filters that those of the device do not contain.
    case designing(FilterChoice.Key)
    case adding(Job<Ticket>)
    /// The callback fades to other filters.
    case changing(Ticket)
    case removing(Job<Bool>)
  }

  struct Current {
    let feed: FeedSetting
    var step: Step
    var deadline: ContinuousClock.Instant
    /// The server does not answer. The step goes on when it does, and nobody waits for it.
    var isOverdue = false
  }

  /// A request that is answered once its feed is in force, or has gone.
  struct Waiting {
    let name: String
    /// Nil if it asked for the feed's end.
    let feed: FeedSetting?
    let request: Request
    let deadline: ContinuousClock.Instant
  }

  /// What the client plays or fades to, by name.
  var inForce: [String: FeedSetting] = [:]
  /// What is being done, by name.
  var current: [String: Current] = [:]
  var waiting: [Waiting] = []
  /// Feeds of an earlier engine, whose ports may still be there.
  var leftOver: [String: FeedSetting] = [:]
  /// Why a feed is not as it is wanted: nothing is tried again until something else is wanted, or another engine runs.
  var obstacles: [String: (wanted: FeedSetting?, failure: Failure)] = [:]

  /// Whether the callback or a job owes a result.
  var isBusy: Bool { current.values.contains { !$0.isOverdue } || !waiting.isEmpty }

  /// Whether a feed's ports and its place in the engine are just changing.
  var isAddingOrRemoving: Bool {
    current.values.contains {
      switch $0.step {
      case .adding, .removing: true
      case .designing, .changing: false
      }
    }
  }

  /// Another engine runs from now on, without feeds.
  mutating func reset() {
    for work in current.values {
      switch work.step {
      case .designing: break
      case .adding(let job): job.abandon()
      case .removing(let job): job.abandon()
      case .changing: break
      }
    }
    leftOver.merge(inForce) { $1 }
    (inForce, current, obstacles) = ([:], [:], [:])
  }
}
