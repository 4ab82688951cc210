import Synchronization

/// Identifies one request to an engine, so that its sender can learn how it ended. Tickets are unique within a process,
/// across all engines.
public struct Ticket: Hashable, Sendable, Comparable, BitwiseCopyable {
  private static let last = Atomic<UInt64>(0)

  public let number: UInt64

  /// Thread: any but the callback's.
  public static func next() -> Ticket {
    Ticket(number: last.wrappingAdd(1, ordering: .relaxed).newValue)
  }

  /// Thread: any.
  public static func < (a: Ticket, b: Ticket) -> Bool { a.number < b.number }
}

/// A request from the control side to the callback. Trivial and of fixed size.
enum ControlMessage: BitwiseCopyable {
  /// Crossfade to a filter set.
  case change(feed: Int, FilterSetting)
  /// Crossfade to other filters for the same setting. During a take, too.
  case substitute(feed: Int, FilterSetting)
  /// Let a feed exist from this period on: silent until its first change.
  case beginFeed(
    Ticket, feed: Int, outputs: Int, firstOutput: Int, preRoll: Unmanaged<PreRoll>?,
    lane: Unmanaged<FilterLane>?)
  /// Forget a feed.
  case endFeed(Ticket, feed: Int)
  /// Start writing into the ring when everything accepted before has been applied; if the take follows the transport,
  /// with the first period after that in which it rolls.
  case beginTake(Ticket, Unmanaged<TakeRing>, followsTransport: Bool)
  case endTake(Ticket)
  /// Play the ring's frames on the outputs.
  case beginPlayback(Ticket, Unmanaged<PlaybackRing>)
  case endPlayback
}

/// How a request ended, as the callback reports it. Every change ends with exactly one of `applied`, `superseded` and
/// `refused`; every substitution with one of the first two.
public enum Report: BitwiseCopyable, Sendable, Hashable {
  /// The crossfade is complete. `frame` is the first one with nothing but the new setting.
  case applied(Ticket, frame: Int)
  /// The crossfade to this substitution begins in this frame. `takeFrame` is the same frame of the running take, its
  /// pre-roll not counted; nil if there is none.
  case substituted(Ticket, frame: Int, takeFrame: Int?)
  /// A newer change or substitution replaced it before it began.
  case superseded(Ticket)
  /// A take is running. `take` is the ticket that it began with.
  case refused(Ticket, take: Ticket)
  /// This take has been armed, and begins when the transport rolls.
  case takeArmed(Ticket)
  /// `frame` is the first one in the take.
  case takeBegan(Ticket, frame: Int)
  /// `frame` is the first one after the take.
  case takeEnded(Ticket, take: Ticket, frame: Int)
  /// The take that began with this ticket has ended, because the transport no longer rolls. `frame` is the first one
  /// after the take.
  case transportStopped(take: Ticket, frame: Int)
  /// There was no take to end.
  case noTake(Ticket)
  /// This playback has faded out, or another one was playing. The callback no longer reads its ring.
  case playbackEnded(Ticket)
  /// The feed of this request exists. The other end of such a request is `refused`.
  case feedBegan(Ticket)
  /// The callback no longer writes to the feed's outputs. The other end of such a request is `refused`.
  case feedEnded(Ticket, feed: Int)
  /// The callback no longer reads the filter set of this change.
  case released(Ticket)
  /// The callback no longer uses this convolver.
  case convolverReplaced(serial: Int)
}

/// Requests from the control side to the callback.
struct ControlQueue: ~Copyable, @unchecked Sendable {
  // Unchecked: single producer (the control side, under the engine's control lock), single consumer (the callback).
  static let capacity = 256
  /// Slots reserved for requests that end or undo an earlier one, so that these are never refused: the end of a take,
  /// the end of a playback, and the setting from before a change of device. The earlier request is accepted only while
  /// more slots than these are free.
  static let reservedSlots = 8
  private let cursor = RingCursor(capacity: capacity)
  private let messages: UnsafeMutablePointer<ControlMessage>

  /// Thread: control side.
  init() { messages = .allocate(capacity: Self.capacity) }
  deinit { messages.deallocate() }

  /// Thread: control side.
  /// - Returns: false if the queue is full.
  @_noLocks @_noAllocation
  func push(_ message: ControlMessage, fromReserve: Bool = false) -> Bool {
    guard cursor.freeCount() > (fromReserve ? 0 : Self.reservedSlots) else { return false }
    messages[cursor.writeIndex()] = message
    cursor.produced(1)
    return true
  }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func pop() -> ControlMessage? {
    guard cursor.filledCount() > 0 else { return nil }
    let message = messages[cursor.readIndex()]
    cursor.consumed(1)
    return message
  }
}

/// Reports from the callback to the control side.
struct ReportQueue: ~Copyable, @unchecked Sendable {
  // Unchecked: single producer (the callback), single consumer (the control side, under the engine's control lock).
  static let capacity = 1024
  private let cursor = RingCursor(capacity: capacity)
  private let reports: UnsafeMutablePointer<Report>

  /// Thread: control side.
  init() { reports = .allocate(capacity: Self.capacity) }
  deinit { reports.deallocate() }

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func freeCount() -> Int { cursor.freeCount() }

  /// Drops the report if the queue is full. The callback checks `freeCount` before it applies requests.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func push(_ report: Report) {
    guard cursor.freeCount() > 0 else { return }
    reports[cursor.writeIndex()] = report
    cursor.produced(1)
  }

  /// Thread: control side.
  func pop() -> Report? {
    guard cursor.filledCount() > 0 else { return nil }
    let report = reports[cursor.readIndex()]
    cursor.consumed(1)
    return report
  }
}
