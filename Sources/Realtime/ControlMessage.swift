import Synchronization

/// Names one request to an engine, so that its sender can be told how it ended. No two requests of a process have the
/// same, whichever engine they are for.
public struct Ticket: Hashable, Sendable, Comparable, BitwiseCopyable {
  private static let last = Atomic<UInt64>(0)

  public let number: UInt64

  /// Any thread but the callback's.
  public static func next() -> Ticket {
    Ticket(number: last.wrappingAdd(1, ordering: .relaxed).newValue)
  }

  public static func < (a: Ticket, b: Ticket) -> Bool { a.number < b.number }
}

/// What the controller asks of the callback. Trivial and of a fixed size.
enum ControlMessage: BitwiseCopyable {
  /// Crossfade to a filter set at an amplitude; zero is silence.
  case change(Ticket, Unmanaged<FilterSet>, gain: Float)
  /// Start writing into the ring once everything accepted before has been applied.
  case beginTake(Ticket, Unmanaged<TakeRing>)
  case endTake(Ticket)
  /// Put what comes through the ring over the outputs.
  case beginPlayback(Ticket, Unmanaged<PlaybackRing>)
  case endPlayback
}

/// How a request ended, in the words of the callback. Every change ends as exactly one of applied, superseded
/// and refused.
public enum Report: BitwiseCopyable, Sendable, Hashable {
  /// The crossfade is complete; `frame` is the first one that holds nothing but the new sound.
  case applied(Ticket, frame: Int)
  /// A newer change took its place before it began.
  case superseded(Ticket)
  /// A take is running: `take` is the ticket it began with.
  case refused(Ticket, take: Ticket)
  /// `frame` is the first one in the take.
  case takeBegan(Ticket, frame: Int)
  /// `frame` is the first one after the take.
  case takeEnded(Ticket, take: Ticket, frame: Int)
  /// There was no take to end.
  case noTake(Ticket)
  /// The playback of this ticket has faded out, or found another one playing; the callback no longer reads its ring.
  case playbackEnded(Ticket)
  /// The callback no longer reads the filter set of this change.
  case released(Ticket)
  /// The callback no longer uses this convolver.
  case convolverReplaced(serial: Int)
}

/// Controller to callback.
struct ControlQueue: ~Copyable, @unchecked Sendable {
  // Unchecked: one producer (the control side, under the engine's control lock), one consumer (the callback).
  static let capacity = 256
  /// Places kept for what ends or takes back something that was asked for before, so that it is never refused: the end of
  /// a take or a playback, and the sound from before a change of device. Each of these follows a request for which there
  /// was more room than this.
  static let reserve = 8
  private let cursor = RingCursor(capacity: capacity)
  private let messages: UnsafeMutablePointer<ControlMessage>

  init() { messages = .allocate(capacity: Self.capacity) }
  deinit { messages.deallocate() }

  func push(_ message: ControlMessage, fromReserve: Bool = false) -> Bool {
    guard cursor.free() > (fromReserve ? 0 : Self.reserve) else { return false }
    messages[cursor.writeIndex()] = message
    cursor.produced(1)
    return true
  }

  @_noLocks @_noAllocation
  func pop() -> ControlMessage? {
    guard cursor.waiting() > 0 else { return nil }
    let message = messages[cursor.readIndex()]
    cursor.consumed(1)
    return message
  }
}

/// Callback to controller.
struct ReportQueue: ~Copyable, @unchecked Sendable {
  // Unchecked: one producer (the callback), one consumer (the control side, under the engine's control lock).
  static let capacity = 1024
  private let cursor = RingCursor(capacity: capacity)
  private let reports: UnsafeMutablePointer<Report>

  init() { reports = .allocate(capacity: Self.capacity) }
  deinit { reports.deallocate() }

  @_noLocks @_noAllocation
  func room() -> Int { cursor.free() }

  @_noLocks @_noAllocation
  func push(_ report: Report) {
    guard cursor.free() > 0 else { return }
    reports[cursor.writeIndex()] = report
    cursor.produced(1)
  }

  func pop() -> Report? {
    guard cursor.waiting() > 0 else { return nil }
    let report = reports[cursor.readIndex()]
    cursor.consumed(1)
    return report
  }
}
