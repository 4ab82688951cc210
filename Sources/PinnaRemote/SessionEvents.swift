import FoundationEssentials
import Glibc
import Messages
import Synchronization

/// A change of the route or of its settings (S22).
public struct RouteChange: Hashable, Sendable {
  public enum Reason: String, Sendable {
    /// Another input is in the route.
    case inputChanged
    /// Another data source, polar pattern or input orientation is in force.
    case selectionChanged
    /// The JACK server's period has changed.
    case periodChanged
    /// The JACK server's sample rate has changed, and filters for it are in force.
    case sampleRateChanged
    /// Inputs were added or removed.
    case availableInputsChanged
    /// A connected port has disappeared, or is back.
    case portGone, portBack
    /// A microphone no longer works, and filters without it take over; or it works again.
    case microphoneGone, microphoneBack
    /// The output in use has changed.
    case outputChanged
    /// Another session controls the route now, or none does.
    case controlChanged
  }

  public let reason: Reason
  /// What happened, as a sentence.
  public let text: String
}

/// The beginning or the end of an interruption of the sound (S22).
public struct Interruption: Hashable, Sendable {
  public enum Phase: String, Sendable { case began, ended }

  public let phase: Phase
  /// True if the JACK server caused the interruption, false if Pinna itself did.
  public let isServer: Bool
  /// What happened, as a sentence.
  public let text: String
}

/// Distributes one kind of event of a session to all its streams.
final class Broadcast<Event: Sendable>: Sendable {
  private let continuations = Mutex<[UUID: AsyncStream<Event>.Continuation]>([:])

  /// A stream of events from now on. It buffers the newest 64 for a slow consumer.
  func stream() -> AsyncStream<Event> {
    AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
      let id = UUID()
      continuations.withLock { $0[id] = continuation }
      continuation.onTermination = { [weak self] _ in self?.continuations.withLock { $0[id] = nil } }
    }
  }

  func send(_ event: Event) {
    for each in continuations.withLock({ Array($0.values) }) { each.yield(event) }
  }

  deinit {
    for each in continuations.withLock({ Array($0.values) }) { each.finish() }
  }
}

extension AudioSession {
  /// A stream of route changes from now on, whatever their cause. The session receives them from its first activation
  /// or `listen` on.
  public var routeChanges: AsyncStream<RouteChange> { routeBroadcast.stream() }

  /// A stream of interruptions from now on. When one ends, the preferences of an active session are in force again.
  public var interruptions: AsyncStream<Interruption> { interruptionBroadcast.stream() }

  /// Opens the session at the running Pinna without activating it, to receive its events.
  /// - Throws: `.notRunning` if no Pinna is running.
  public func listen() throws(SessionError) { try inTurn { () throws(SessionError) in try open() } }

  func receive(_ event: EngineEvent) {
    if event.kind == .engineBack { reactivate() }
    if let reason = RouteChange.Reason(event.kind) {
      routeBroadcast.send(RouteChange(reason: reason, text: event.text))
    } else if let interruption = Interruption(event) {
      interruptionBroadcast.send(interruption)
    }
  }
}

extension RouteChange.Reason {
  init?(_ kind: EngineEvent.Kind) {
    switch kind {
    case .inputChanged: self = .inputChanged
    case .selectionChanged: self = .selectionChanged
    case .periodChanged: self = .periodChanged
    case .sampleRateChanged: self = .sampleRateChanged
    case .inputsChanged: self = .availableInputsChanged
    case .portGone: self = .portGone
    case .portBack: self = .portBack
    case .microphoneGone: self = .microphoneGone
    case .microphoneBack: self = .microphoneBack
    case .outputChanged: self = .outputChanged
    case .controlChanged: self = .controlChanged
    case .serverGone, .serverBack, .serverStalled, .serverResumed, .engineGone, .engineBack: return nil
    case .inputChangeFailed, .takeBegan, .takeEnded, .takeArmed, .takeDisarmed: return nil
    case .playbackBegan, .playbackEnded: return nil
    }
  }
}

extension Interruption {
  init?(_ event: EngineEvent) {
    switch event.kind {
    case .serverGone, .engineGone: phase = .began
    case .serverBack, .engineBack: phase = .ended
    default: return nil
    }
    isServer = [.serverGone, .serverBack].contains(event.kind)
    text = event.text
  }
}
