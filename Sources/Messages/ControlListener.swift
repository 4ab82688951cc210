import Glibc
import Settings
import Synchronization
import Threads

/// Opens a session at a running Pinna, receives its events, and reopens it when another Pinna replaces the first.
///
/// Thread: any. A thread of its own, the listener thread, calls `onEvent`; it ends with the listener.
public final class ControlListener: Sendable {
  private let state: State

  /// The state shared with the listener thread. Separate, because the thread must not keep the listener alive.
  private final class State: Sendable {
    let client: ControlClient
    let program: String
    /// The latest connection, with the token of the session that was opened through it, or why none was opened. It is
    /// true as long as that connection is open.
    let session = Mutex<(connection: ControlConnection, token: Result<String, Failure>)?>(nil)
    /// The listener thread; 0 before it runs.
    let listenerThread = Atomic<UInt>(0)
    let ended = Atomic<Bool>(false)

    init(client: ControlClient, program: String) {
      self.client = client
      self.program = program
    }

    /// Opens the session.
    /// - Returns: the connection through which its events arrive.
    func open() throws(Failure) -> ControlConnection {
      let connection = try client.connect(seconds: 5)
      let token = Result { () throws(Failure) in
        try client.request(
          OSCMessage("/pinna/session/open", [.string(program)]), through: connection, seconds: 5
        ).document(SessionAnswer.self).session
      }
      session.withLock { $0 = (connection, token) }
      if ended.load(ordering: .acquiring) { connection.shutDown() }
      _ = try token.get()
      return connection
    }

    func close() {
      ended.store(true, ordering: .releasing)
      session.withLock { $0?.connection.shutDown() }
    }

    /// The session at the running Pinna, or why it did not open one; nil if it has not been asked yet.
    var token: Result<String, Failure>? {
      session.withLock { $0.flatMap { $0.connection.isOpen ? $0.token : nil } }
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
    let connection = try state.open()
    do { try BackgroundThread.start("pinna events") { Self.listen(connection, state, onEvent) } } catch {
      throw Failure(error)
    }
  }

  /// Ends the connection; Pinna then closes the session.
  deinit { state.close() }

  /// The session's token, if the session is open at the running Pinna. Never waits.
  public var openToken: String? { try? state.token?.get() }

  /// The session's token at the running Pinna; nil if none is running.
  ///
  /// If another Pinna has just replaced the first, this waits until the session is open there, about half a second: the
  /// old token is unknown to the new process. On the listener thread, which opens the session, it never waits.
  /// - Throws: the reason if the new Pinna did not open the session.
  public func currentToken() throws(Failure) -> String? {
    let isListenerThread = state.listenerThread.load(ordering: .acquiring) == pthread_self()
    let deadline = ContinuousClock.now + (isListenerThread ? .zero : .seconds(2))
    while state.client.isThere {
      if let token = state.token { return try token.get() }
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
    _ first: ControlConnection, _ state: State, _ onEvent: @escaping @Sendable (EngineEvent) -> Void
  ) {
    state.listenerThread.store(pthread_self(), ordering: .releasing)
    var connection: ControlConnection? = first
    while !state.ended.load(ordering: .acquiring) {
      guard let open = connection else {
        usleep(200_000)
        guard let again = try? state.open() else { continue }
        connection = again
        onEvent(EngineEvent(.engineBack, "Pinna is running again"))
        continue
      }
      switch open.receive(until: nil) {
      case .message(let message, _):
        guard let event = EngineEvent(message) else { continue }
        if event.kind != .engineGone {
          onEvent(event)
          continue
        }
        open.shutDown()
      case .nothing: continue
      case .ended: break
      }
      connection = nil
      if !state.ended.load(ordering: .acquiring) {
        onEvent(EngineEvent(.engineGone, "Pinna has stopped"))
      }
    }
  }
}
