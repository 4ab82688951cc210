import Realtime
import Recording

/// What the processor is doing. The Architecture page draws how one state follows another.
package enum ProcessorState {
  // Without a graph.
  /// There is no server; it is looked for again and again.
  case absent
  case opening(Job<any AudioClient>)
  /// In a graph whose sample rate needs other filters.
  case joining(any AudioClient, Job<any DeviceFilters>)
  /// Ports are being registered.
  case preparing(any AudioClient, any DeviceFilters, Job<any PreparedEngine>)
  /// There is a server, and it cannot be used.
  case unusable(any AudioClient)
  /// The client of a server that has gone is being closed.
  case leaving(Job<Bool>)
  /// That client could not be closed: there is no way back.
  case stranded

  // In a graph.
  case live
  /// Another device is about to take over.
  case fadingOut(DeviceChange, any PreparedEngine, any DeviceFilters, Ticket)
  /// The disk thread makes a take's files.
  case openingTake(Recording)
  /// The callback is to begin a take.
  case startingTake(Recording, Ticket)
  case recording(Recording)
  /// The callback is to end a take.
  case endingTake(Recording, Ticket)
  /// The disk thread opens what is to be played.
  case openingPlayback(any TakePlayback, Request)
  case playing(Playing)
  /// A playback fades out.
  case endingPlayback(Playing)

  // At the end.
  case stopping(Stopping)
  case stopped

  package enum Kind: String, CaseIterable, Sendable {
    case absent, opening, joining, preparing, unusable, leaving, stranded
    case live, fadingOut, openingTake, startingTake, recording, endingTake
    case openingPlayback, playing, endingPlayback
    case stopping, stopped

    /// How long the processor stays here without an answer; nil where it waits for nothing.
    package var limit: Duration? {
      switch self {
      case .absent, .unusable, .stranded, .live, .recording, .playing, .stopped: nil
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
    case .recording: .recording
    case .endingTake: .endingTake
    case .openingPlayback: .openingPlayback
    case .playing: .playing
    case .endingPlayback: .endingPlayback
    case .stopping: .stopping
    case .stopped: .stopped
    }
  }

  /// The take that nothing may change for, and that `status` shows.
  package var take: Recording? {
    switch self {
    case .openingTake(let take), .startingTake(let take, _), .recording(let take), .endingTake(let take, _):
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

  /// The client whose callback runs our engine.
  package var isInGraph: Bool {
    switch kind {
    case .absent, .opening, .joining, .preparing, .unusable, .leaving, .stranded, .stopped: false
    case .live, .fadingOut, .openingTake, .startingTake, .recording, .endingTake, .openingPlayback, .playing,
      .endingPlayback, .stopping:
      true
    }
  }
}

/// A take from `record start` until the callback has ended it.
package struct Recording {
  package let take: any TakeRecording
  /// Of the request to the callback to begin it.
  var beginning: Ticket?
  /// Who asked for it, until the callback has begun it.
  var starter: Request?
  /// Who asked for its end.
  var stoppers: [Request] = []
  /// Whether the callback has begun it. One that has not leaves no file.
  var hasBegun = false
  /// In the order in which takes began, from 1.
  var number = 0
}

/// A take that the callback has ended, while the disk thread still writes or converts it.
package struct ClosingTake {
  package let take: any TakeRecording
  let number: Int
  /// What ended it where nobody had asked for its end.
  let cause: String?
  /// Microphones that lost their source while it ran, and did not get it back.
  let bereft: [String]
  var stoppers: [Request]
}

/// A take that is on disk.
struct EndedTake {
  let result: TakeWriter.Result
  /// What ended it where nobody had asked for its end.
  let cause: String?
  /// Microphones that lost their source while it ran, and did not get it back.
  let bereft: [String]

  /// For whoever asks for its end.
  var outcome: Outcome {
    guard let cause else {
      guard result.fault == nil else { return .failed(Failure(.incompleteTake, result.sentence + rest)) }
      return .done(TakeAnswer(result, notes: [loss].compactMap { $0 }))
    }
    let end = "the take \(result.path) has ended already, after \(result.frames) frames, because \(cause)"
    return .failed(
      result.fault.map { Failure(.incompleteTake, "\(end); it is incomplete: \($0)\(rest)") }
        ?? Failure(.noServer, "\(end); it is complete\(rest)"))
  }

  private var rest: String { loss.map { "; " + $0 } ?? "" }

  private var loss: String? {
    guard !bereft.isEmpty else { return nil }
    let what = bereft.count == 1 ? "microphone lost its source" : "microphones lost their source"
    return "\(bereft.count) \(what) during the take: \(bereft.joined(separator: ", ")); "
      + "see \(result.sidecarName)"
  }
}

/// A take that is played back through the outputs, in place of what the microphones give.
package struct Playing {
  package let player: any TakePlayback
  let ticket: Ticket
  /// Who waits for its end.
  var stoppers: [Request] = []
}

/// The end of the processor.
package struct Stopping {
  let since: ContinuousClock.Instant
  let request: Request?
  /// A take that the callback has not ended yet.
  var take: Recording?
  var ticket: Ticket?
}

/// Another device on its way in.
package struct DeviceChange {
  enum Phase {
    case designing(Job<any DeviceFilters>)
    /// Waits until nothing is recorded or played.
    case designed(any DeviceFilters)
    /// Ports are being registered.
    case preparing(any DeviceFilters, Job<any PreparedEngine>, deadline: ContinuousClock.Instant)
    /// Waits until the changes before it have ended; gain and mute come with it from here on.
    case prepared(any DeviceFilters, any PreparedEngine, deadline: ContinuousClock.Instant)
  }

  var setting: Setting
  /// Who waits for it, or for a gain or mute that comes with it.
  var requests: [Request]
  /// Whoever asked was told that this comes after the take: it comes, whoever waits.
  struct Promise {
    var setting: Setting
    let filters: any DeviceFilters
  }
  var promised: Promise?
  /// What had been promised when this change took its place: it comes after all where this one fails.
  var displaced: Promise?
  var phase: Phase
  package var isPromised: Bool { promised != nil }
  var isPrepared: Bool { if case .prepared = phase { true } else { false } }
  let began: ContinuousClock.Instant

  /// What is in force already comes with it, and with what may come in its place.
  mutating func add(inForce changes: [Change]) {
    try? setting.apply(changes)
    try? promised?.setting.apply(changes)
    try? displaced?.setting.apply(changes)
  }
}
