import Control
import Foundation
import Synchronization

/// The route is another one, or works otherwise (S22).
public struct RouteChange: Hashable, Sendable {
  public enum Reason: String, Sendable {
    /// Another input is in the route.
    case inputChanged
    /// Another data source, polar pattern or input orientation is in force.
    case selectionChanged
    /// The server runs another period.
    case periodChanged
    /// Inputs came or went.
    case availableInputsChanged
    /// The other end of a connection has gone, or is back.
    case portGone, portBack
    /// Sound goes out elsewhere.
    case outputChanged
    /// Another session controls the route, or none.
    case controlChanged
  }

  public let reason: Reason
  /// What happened, as a sentence.
  public let text: String
}

/// Sound has stopped, or goes on (S22).
public struct Interruption: Hashable, Sendable {
  public enum Phase: String, Sendable { case began, ended }

  public let phase: Phase
  /// Whether the JACK server went or came; otherwise Pinna itself did.
  public let isServer: Bool
  /// What happened, as a sentence.
  public let text: String
}

/// Everybody who listens to one kind of event of a session.
final class Broadcast<Event: Sendable>: Sendable {
  private let listeners = Mutex<[UUID: AsyncStream<Event>.Continuation]>([:])

  /// Events from now on; of a listener that is slow the newest 64.
  func stream() -> AsyncStream<Event> {
    AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
      let id = UUID()
      listeners.withLock { $0[id] = continuation }
      continuation.onTermination = { [weak self] _ in self?.listeners.withLock { $0[id] = nil } }
    }
  }

  func tell(_ event: Event) {
    for each in listeners.withLock({ Array($0.values) }) { each.yield(event) }
  }

  deinit {
    for each in listeners.withLock({ Array($0.values) }) { each.finish() }
  }
}

extension AudioSession {
  /// Changes of the route from now on, whoever made them. They come while the session is open at a running Pinna:
  /// from its first activation on, or from `listen`.
  public var routeChanges: AsyncStream<RouteChange> { routeListeners.stream() }

  /// Interruptions from now on. When one ends, an active session's preferences are in force again.
  public var interruptions: AsyncStream<Interruption> { interruptionListeners.stream() }

  /// Opens the session at the running Pinna without activating it, so that its notifications come.
  public func listen() throws(SessionError) { try inTurn { () throws(SessionError) in try open() } }

  func hear(_ event: EngineEvent) {
    if event.kind == .engineBack { reactivate() }
    if let reason = RouteChange.Reason(event.kind) {
      routeListeners.tell(RouteChange(reason: reason, text: event.text))
    } else if let interruption = Interruption(event) {
      interruptionListeners.tell(interruption)
    }
  }
}

extension RouteChange.Reason {
  init?(_ kind: EngineEvent.Kind) {
    switch kind {
    case .inputChanged: self = .inputChanged
    case .selectionChanged: self = .selectionChanged
    case .periodChanged: self = .periodChanged
    case .inputsChanged: self = .availableInputsChanged
    case .portGone: self = .portGone
    case .portBack: self = .portBack
    case .outputChanged: self = .outputChanged
    case .controlChanged: self = .controlChanged
    default: return nil
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
