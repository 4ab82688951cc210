import Foundation
import Synchronization
import Threads

/// Opens a session at a running Pinna, receives its events, and reopens it when another Pinna replaces the first.
///
/// Thread: any. A thread of its own, the listener thread, calls `onEvent`; it ends with the listener.
public final class ControlListener: Sendable {
  private let state: State

  /// The socket through which a session was opened, and which receives its events.
  private struct EventSocket {
    let socket: ClientSocket
    let number: String

    /// The next event of this session; nil if none arrives in time or another message arrives.
    func event(within patience: Duration) -> EngineEvent? {
      guard let received = socket.receive(within: patience), received.number == number else { return nil }
      return EngineEvent(received.message)
    }
  }

  /// The state shared with the listener thread. Separate, because the thread must not keep the listener alive.
  private final class State: Sendable {
    let client: ControlClient
    let program: String
    let token = Mutex<String?>(nil)
    /// Identity of the control socket at which the session is open.
    let identity = Mutex<[Int]?>(nil)
    /// Why the session could not be opened, and at which control socket.
    let refusal = Mutex<(identity: [Int]?, failure: Failure)?>(nil)
    /// The listener thread; 0 before it runs.
    let listenerThread = Atomic<UInt>(0)
    let ended = Atomic<Bool>(false)

    init(client: ControlClient, program: String) {
      self.client = client
      self.program = program
    }

    /// Opens the session.
    /// - Returns: the socket to which its events are sent.
    func open() throws(Failure) -> EventSocket {
      let found = client.identity
      do throws(Failure) {
        let eventSocket = EventSocket(socket: try client.open(), number: OSCMessage.newNumber())
        let answer = try client.request(
          OSCMessage("/pinna/session/open", [.string(program)]), through: eventSocket.socket,
          number: eventSocket.number,
          seconds: 5)
        let session = try answer.document(SessionAnswer.self).session
        token.withLock { $0 = session }
        identity.withLock { $0 = found }
        refusal.withLock { $0 = nil }
        return eventSocket
      } catch {
        refusal.withLock { $0 = (found, error) }
        throw error
      }
    }

    /// Whether the Pinna at which the session was opened is still running.
    var isThere: Bool { client.isThere && client.identity == identity.withLock { $0 } }

    /// Why the Pinna that is running now did not open the session; nil if it has not been asked yet.
    var failure: Failure? {
      let running = client.identity
      return refusal.withLock { $0.flatMap { $0.identity == running ? $0.failure : nil } }
    }
  }

  /// Opens a session.
  /// - Parameters:
  ///   - program: name of the program, shown to others while it controls the route.
  ///   - onEvent: receives events, on the listener thread.
  public init(client: ControlClient, program: String, onEvent: @escaping @Sendable (EngineEvent) -> Void)
    throws(Failure)
  {
    let state = State(client: client, program: program)
    self.state = state
    let eventSocket = try state.open()
    do { try BackgroundThread.start("pinna events") { Self.listen(eventSocket, state, onEvent) } } catch {
      throw Failure(error)
    }
  }

  /// Closes the socket within a second; Pinna then closes the session.
  deinit { state.ended.store(true, ordering: .releasing) }

  /// The session's token, if the session is open at the running Pinna. Never waits.
  public var openToken: String? { state.isThere ? state.token.withLock { $0 } : nil }

  /// The session's token at the running Pinna; nil if none is running.
  ///
  /// If another Pinna has just replaced the first, this waits until the session is open there, about half a second: the
  /// old token is unknown to the new process. On the listener thread, which opens the session, it never waits.
  /// - Throws: the reason if the new Pinna did not open the session.
  public func currentToken() throws(Failure) -> String? {
    let isListenerThread = state.listenerThread.load(ordering: .acquiring) == pthread_self()
    let deadline = ContinuousClock.now + (isListenerThread ? .zero : .seconds(2))
    while state.client.isThere {
      if let token = openToken { return token }
      if let failure = state.failure { throw failure }
      guard .now < deadline else {
        throw Failure(
          .failed, "Pinna was restarted and the session is not open there yet; try again in a moment")
      }
      usleep(10_000)
    }
    return nil
  }

  /// Thread: listener thread.
  private static func listen(
    _ first: EventSocket, _ state: State, _ onEvent: @escaping @Sendable (EngineEvent) -> Void
  ) {
    state.listenerThread.store(pthread_self(), ordering: .releasing)
    var eventSocket: EventSocket? = first
    func reportLoss() {
      eventSocket = nil
      state.token.withLock { $0 = nil }
      onEvent(EngineEvent(.engineGone, "Pinna has stopped"))
    }
    while !state.ended.load(ordering: .acquiring) {
      guard let open = eventSocket else {
        usleep(200_000)
        guard let again = try? state.open() else { continue }
        eventSocket = again
        onEvent(EngineEvent(.engineBack, "Pinna is running again"))
        continue
      }
      if let event = open.event(within: .milliseconds(250)) {
        if event.kind == .engineGone { reportLoss() } else { onEvent(event) }
      } else if !state.isThere {
        reportLoss()
      }
    }
  }
}
