import Acoustics
import Messages
import Realtime
import Recording
import Rendering
import Settings

/// The states of `Processor`. The Architecture page shows the transitions.
///
/// Thread: control thread, as for the other types in this file.
package enum ProcessorState {
  // Outside a graph.
  /// No server is running; the processor retries.
  case absent
  case opening(Job<any AudioClient>)
  /// The client is open, and filters for the server's sample rate are being designed.
  case joining(any AudioClient, Job<FilterSets>)
  /// Ports are being registered.
  case preparing(any AudioClient, FilterSets, Job<any PreparedEngine>)
  /// The server is running but cannot be used.
  case unusable(any AudioClient)
  /// The client of a server that has gone is being closed.
  case leaving(Job<Bool>)
  /// That client could not be closed, so no other can be opened: Pinna must be restarted.
  case stranded

  // In a graph.
  case live
  /// The outputs fade out before another device takes over.
  case fadingOut(DeviceChange, any PreparedEngine, FilterSets, Ticket)
  /// The disk thread creates a take's files.
  case openingTake(Recording)
  /// The callback has been asked to begin a take.
  case startingTake(Recording, Ticket)
  /// The callback begins the take when the transport rolls.
  case armed(Recording)
  case recording(Recording)
  /// The callback has been asked to end a take.
  case endingTake(Recording, Ticket)
  /// The disk thread opens the take to play.
  case openingPlayback(any TakePlayback, Request)
  case playing(Playing)
  /// A playback fades out.
  case endingPlayback(Playing)

  // Stopping.
  case stopping(Stopping)
  case stopped

  package enum Kind: String, CaseIterable, Sendable {
    case absent, opening, joining, preparing, unusable, leaving, stranded
    case live, fadingOut, openingTake, startingTake, armed, recording, endingTake
    case openingPlayback, playing, endingPlayback
    case stopping, stopped

    /// Longest stay in this state without a result; nil for states that wait for nothing.
    package var limit: Duration? {
      switch self {
      case .absent, .unusable, .stranded, .live, .armed, .recording, .playing, .stopped: nil
      case .opening, .preparing: .seconds(10)
      case .joining: .seconds(600)
      case .leaving, .fadingOut, .startingTake, .endingTake, .endingPlayback: .seconds(3)
      case .openingTake, .openingPlayback: .seconds(5)
      case .stopping: .seconds(60)
      }
    }
  }

  package var kind: Kind {
    switch self {
    case .absent: .absent
    case .opening: .opening
    case .joining: .joining
    case .preparing: .preparing
    case .unusable: .unusable
    case .leaving: .leaving
    case .stranded: .stranded
    case .live: .live
    case .fadingOut: .fadingOut
    case .openingTake: .openingTake
    case .startingTake: .startingTake
    case .armed: .armed
    case .recording: .recording
    case .endingTake: .endingTake
    case .openingPlayback: .openingPlayback
    case .playing: .playing
    case .endingPlayback: .endingPlayback
    case .stopping: .stopping
    case .stopped: .stopped
    }
  }

  /// The take that is running, or armed. It locks the setting, and `status` shows it.
  package var take: Recording? {
    switch self {
    case .openingTake(let take), .startingTake(let take, _), .armed(let take), .recording(let take),
      .endingTake(let take, _):
      take
    default: nil
    }
  }

  package var playback: Playing? {
    switch self {
    case .playing(let playing), .endingPlayback(let playing): playing
    default: nil
    }
  }

  /// Whether the client's callback runs an engine.
  package var isInGraph: Bool {
    switch kind {
    case .absent, .opening, .joining, .preparing, .unusable, .leaving, .stranded, .stopped: false
    case .live, .fadingOut, .openingTake, .startingTake, .armed, .recording, .endingTake, .openingPlayback,
      .playing, .endingPlayback, .stopping:
      true
    }
  }
}

/// A take between `record start` and its end in the callback.
package struct Recording {
  package let take: any TakeRecording
  /// Whether it begins and ends with the transport.
  let followsTransport: Bool
  /// The ticket under which the callback was asked to begin it.
  var beginTicket: Ticket?
  /// The unanswered `record start`; nil once the callback has begun the take.
  var startRequest: Request?
  /// The unanswered `record stop` requests.
  var stopRequests: [Request] = []
  /// Why it ends, if nobody requests its end.
  var endCause: EndCause?
  /// Whether the callback has begun it. A take that has not begun leaves no file.
  var hasBegun = false
  /// Counts takes in the order in which they began, from 1; 0 before.
  var number = 0
}

/// Why a take ended without a request.
enum EndCause: Equatable {
  /// The transport that began it has stopped.
  case transport
  /// It was to end by itself.
  case length
  /// A clause such as "the JACK server has gone".
  case fault(String)

  var text: String {
    switch self {
    case .transport: "the transport stopped"
    case .length: "it has the length that was asked for"
    case .fault(let text): text
    }
  }
}

/// A take that the callback has ended and that the disk thread is still writing or converting.
package struct ClosingTake {
  package let take: any TakeRecording
  /// Whether it was armed and never began: the disk thread removes its files.
  var isDiscarded = false
  let number: Int
  /// Why it ended, if nobody requested its end.
  let cause: EndCause?
  /// Microphones that lost their source during the take and did not regain it.
  let microphonesWithoutSource: [String]
  package var stopRequests: [Request]
}

/// A take that is on disk.
struct EndedTake {
  let result: TakeWriter.Result
  /// Why it ended, if nobody requested its end.
  let cause: EndCause?
  /// Microphones that lost their source during the take and did not regain it.
  let microphonesWithoutSource: [String]

  /// The answer to `record stop`.
  var outcome: Outcome {
    guard case .fault(let cause) = cause else {
      guard result.fault == nil else { return .failed(Failure(.incompleteTake, result.sentence + rest)) }
      let end = cause.map { "it has ended because \($0.text)" }
      return .done(TakeAnswer(result, notes: [end, loss].compactMap { $0 }))
    }
    let end = "the take \(result.path) has ended already, after \(result.frames) frames, because \(cause)"
    return .failed(
      result.fault.map { Failure(.incompleteTake, "\(end); it is incomplete: \($0)\(rest)") }
        ?? Failure(.noServer, "\(end); it is complete\(rest)"))
  }

  private var rest: String { loss.map { "; " + $0 } ?? "" }

  private var loss: String? {
    guard !microphonesWithoutSource.isEmpty else { return nil }
    let what =
      microphonesWithoutSource.count == 1 ? "microphone lost its source" : "microphones lost their source"
    return
      "\(microphonesWithoutSource.count) \(what) during the take: \(microphonesWithoutSource.joined(separator: ", ")); "
      + "see \(result.sidecarName)"
  }
}

/// A take that is played through the outputs, replacing the microphones' signal.
package struct Playing {
  package let player: any TakePlayback
  let ticket: Ticket
  /// The unanswered `play --stop` requests.
  var stopRequests: [Request] = []
}

/// The shutdown of the processor.
package struct Stopping {
  let since: ContinuousClock.Instant
  let request: Request?
  /// A take that the callback has not ended yet.
  var take: Recording?
  /// The ticket under which the callback was asked to end `take`.
  var ticket: Ticket?
}

/// A change to another device that has not taken over yet.
package struct DeviceChange {
  package enum Phase {
    case designing(Job<FilterSets>)
    /// Filters are ready; waits until no take or playback is running.
    case designed(FilterSets)
    /// Ports are being registered.
    case preparing(FilterSets, Job<any PreparedEngine>, deadline: ContinuousClock.Instant)
    /// Ports are ready; waits until earlier changes have ended. From here on, new gain and mute values join this
    /// change.
    case prepared(FilterSets, any PreparedEngine, deadline: ContinuousClock.Instant)
  }

  var setting: Setting
  /// The unanswered requests for this change, and for gain or mute values that joined it.
  var requests: [Request]
  /// A change that was announced as coming after the running take. It goes ahead even if nobody waits for it.
  struct Promise {
    var setting: Setting
    let filters: FilterSets
  }
  var promised: Promise?
  /// The promise that this change replaced. It is resumed if this change fails.
  var displaced: Promise?
  package var phase: Phase
  package var isPromised: Bool { promised != nil }
  var isPrepared: Bool { if case .prepared = phase { true } else { false } }
  /// Whether nothing depends yet on the ports that there are.
  var isDesigning: Bool {
    switch phase {
    case .designing, .designed: true
    case .preparing, .prepared: false
    }
  }
  let began: ContinuousClock.Instant

  /// Other feeds are wanted from now on.
  mutating func want(_ feeds: [FeedSetting]) {
    setting.want(feeds)
    promised?.setting.want(feeds)
    displaced?.setting.want(feeds)
  }

  /// Applies `changes` made to the current device to this change, too, and to the promises that may replace it.
  mutating func add(inForce changes: [Change]) {
    try? setting.apply(changes)
    try? promised?.setting.apply(changes)
    try? displaced?.setting.apply(changes)
  }
}
