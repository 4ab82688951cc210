import Foundation
import Synchronization
import Threads

/// A session's ear at a running Pinna: opens the session there, hears its events, and opens it again where another
/// Pinna takes the first one's place.
///
/// Threads: a thread of its own calls `onEvent`; it ends with the listener.
public final class ControlListener: Sendable {
  private let state: State

  /// Where a session's events come.
  private struct Ear {
    let socket: ClientSocket
    let number: String

    /// The next event of this session's; nil where none comes in time, or something else does.
    func event(within patience: Duration) -> EngineEvent? {
      guard let heard = socket.receive(within: patience), heard.number == number else { return nil }
      return EngineEvent(heard.message)
    }
  }

  /// What the thread and the listener share; the thread must not keep the listener alive.
  private final class State: Sendable {
    let client: ControlClient
    let program: String
    let token = Mutex<String?>(nil)
    /// The socket at which the session was opened.
    let identity = Mutex<[Int]?>(nil)
    /// Why it could not be opened, and at which socket.
    let refusal = Mutex<(identity: [Int]?, failure: Failure)?>(nil)
    /// The thread that listens.
    let ear = Atomic<UInt>(0)
    let ended = Atomic<Bool>(false)

    init(client: ControlClient, program: String) {
      self.client = client
      self.program = program
    }

    /// Opens the session; its events come to the socket that is returned, and end with the number.
    func open() throws(Failure) -> Ear {
      let found = client.identity
      do throws(Failure) {
        let ear = Ear(socket: try client.open(), number: OSCMessage.newNumber())
        let answer = try client.request(
          OSCMessage("/pinna/session/open", [.string(program)]), through: ear.socket, number: ear.number,
          seconds: 5)
        let session = try answer.document(SessionAnswer.self).session
        token.withLock { $0 = session }
        identity.withLock { $0 = found }
        refusal.withLock { $0 = nil }
        return ear
      } catch {
        refusal.withLock { $0 = (found, error) }
        throw error
      }
    }

    /// Whether the Pinna at which the session was opened still runs, and not another one in its place.
    var isThere: Bool { client.isThere && client.identity == identity.withLock { $0 } }

    /// Why the Pinna that runs now did not open the session; nil where it has not been asked yet.
    var failure: Failure? {
      let running = client.identity
      return refusal.withLock { $0.flatMap { $0.identity == running ? $0.failure : nil } }
    }
  }

  /// Opens a session.
  /// - Parameter program: what others read of who controls the route.
  public init(client: ControlClient, program: String, onEvent: @escaping @Sendable (EngineEvent) -> Void)
    throws(Failure)
  {
    let state = State(client: client, program: program)
    self.state = state
    let ear = try state.open()
    do { try BackgroundThread.start("pinna events") { Self.listen(ear, state, onEvent) } } catch {
      throw Failure(error)
    }
  }

  /// The session is closed by its socket's end, within a second.
  deinit { state.ended.store(true, ordering: .releasing) }

  /// The session's name at the running Pinna, where it is open there; never waits.
  public var openToken: String? { state.isThere ? state.token.withLock { $0 } : nil }

  /// Names the session to the running Pinna; nil while there is none.
  ///
  /// Where another Pinna has just taken the first one's place, this waits until the session is open there, which takes
  /// half a second: the other one knows nothing of the first one's token. In `onEvent`, on whose thread it is opened,
  /// it never waits.
  /// - Throws: why the other one did not open it.
  public func currentToken() throws(Failure) -> String? {
    let isEar = state.ear.load(ordering: .acquiring) == pthread_self()
    let deadline = ContinuousClock.now + (isEar ? .zero : .seconds(2))
    while state.client.isThere {
      if let token = openToken { return token }
      if let failure = state.failure { throw failure }
      guard .now < deadline else {
        throw Failure(
          .failed, "the session is not open yet at the Pinna that has taken the first one's place; ask again")
      }
      usleep(10_000)
    }
    return nil
  }

  private static func listen(
    _ first: Ear, _ state: State, _ onEvent: @escaping @Sendable (EngineEvent) -> Void
  ) {
    state.ear.store(pthread_self(), ordering: .releasing)
    var ear: Ear? = first
    func lose() {
      ear = nil
      state.token.withLock { $0 = nil }
      onEvent(EngineEvent(.engineGone, "Pinna has stopped"))
    }
    while !state.ended.load(ordering: .acquiring) {
      guard let open = ear else {
        usleep(200_000)
        guard let again = try? state.open() else { continue }
        ear = again
        onEvent(EngineEvent(.engineBack, "Pinna is running again"))
        continue
      }
      if let event = open.event(within: .milliseconds(250)) {
        if event.kind == .engineGone { lose() } else { onEvent(event) }
      } else if !state.isThere {
        lose()
      }
    }
  }
}
