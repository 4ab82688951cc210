import FoundationEssentials
import Glibc
import Messages
import Settings
import Synchronization

/// The Pinna that a session uses: in another process (`SocketEngine`) or in this one (`LocalEngine`). Both are
/// controlled through their control socket, and behave alike.
public protocol SessionEngine: Sendable {
  var socket: SocketEngine { get }
}

/// A Pinna in another process, controlled through its control socket.
public final class SocketEngine: SessionEngine, Sendable {
  /// The name of its JACK client and control socket.
  public let name: String
  private let client: ControlClient
  private let listener = Mutex<ControlListener?>(nil)
  /// Event handler of the session that uses this engine; nil if none does.
  private let handler = Mutex<(@Sendable (EngineEvent) -> Void)?>(nil)

  /// - Parameters:
  ///   - name: the name given to `pinna run --name`.
  ///   - environment: environment variables that locate control sockets (`XDG_RUNTIME_DIR`).
  public init(
    name: String = "pinna", environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    self.name = name
    client = ControlClient(name: name, environment: environment)
  }

  public var socket: SocketEngine { self }

  /// Assigns a session to this engine.
  ///
  /// An engine serves one session only. Two would share the claim of the route, and closing one would close both.
  /// - Parameter handler: called for each event, on a separate thread.
  /// - Returns: false if the engine already has a session.
  func adopt(_ handler: @escaping @Sendable (EngineEvent) -> Void) -> Bool {
    self.handler.withLock {
      guard $0 == nil else { return false }
      $0 = handler
      return true
    }
  }

  /// Opens the session at the running Pinna, unless it is open already. Call it in the session's `inTurn` only.
  func open() throws(SessionError) {
    guard listener.withLock({ $0 == nil }) else { return }
    let program = URL(filePath: CommandLine.arguments.first ?? "").lastPathComponent
    let opened = try SessionError.wrapping { () throws(Failure) in
      try ControlListener(client: client, program: program.isEmpty ? "program" : program) {
        [weak self] event in
        let handler = self?.handler.withLock { $0 }
        handler?(event)
      }
    }
    listener.withLock { $0 = opened }
  }

  /// Closes the session at the running Pinna, which releases its claim. The engine can then be assigned to another
  /// session. If Pinna does not answer within a second, it detects the end of the session by itself.
  func close() {
    handler.withLock { $0 = nil }
    let open = listener.withLock { listener in
      defer { listener = nil }
      return listener
    }
    if let token = open?.openToken {
      _ = try? client.request(OSCMessage("/pinna/session/close", [.string(token)]), seconds: 1)
    }
  }

  /// Sends a request on behalf of the session, with its token as the first argument.
  /// - Returns: the answer, whose status is `done`.
  /// - Throws: `.notRunning` if the session is not open, or why Pinna refused.
  @discardableResult
  func sessionRequest(_ method: String, _ arguments: [String]) throws(SessionError) -> Answer {
    let listener = listener.withLock { $0 }
    let token = try SessionError.wrapping { () throws(Failure) in
      guard let token = try listener?.currentToken() else { throw client.notRunning }
      return token
    }
    return try request(method, [token] + arguments)
  }

  /// Sends a request.
  /// - Returns: the answer, whose status is `done`.
  /// - Throws: `.notRunning` if no Pinna answers, or why Pinna refused.
  @discardableResult
  func request(_ method: String, _ arguments: [String] = []) throws(SessionError) -> Answer {
    try SessionError.wrapping { () throws(Failure) in
      let answer = try client.request(OSCMessage(method, arguments.map { .string($0) }))
      guard answer.status == .done else { throw Failure(answer.status, answer.text) }
      return answer
    }
  }

  func status() throws(SessionError) -> StatusReport { try request("/pinna/status").decoded() }

  func inputs() throws(SessionError) -> [InputsReport.Input] {
    try request("/pinna/inputs").decoded(InputsReport.self).inputs
  }
}

extension Answer {
  func decoded<Document: Decodable>(_ type: Document.Type = Document.self) throws(SessionError) -> Document {
    try SessionError.wrapping { () throws(Failure) in try document(type) }
  }
}
