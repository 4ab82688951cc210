import Control
import Foundation
import Synchronization

/// What a session drives: a Pinna in another process (`SocketEngine`) or in this one (`LocalEngine`). Both are spoken
/// to through their control socket, and behave alike.
public protocol SessionEngine: Sendable {
  var socket: SocketEngine { get }
}

/// A running `pinna`, reached through its control socket.
public final class SocketEngine: SessionEngine, Sendable {
  /// Its client name.
  public let name: String
  private let client: ControlClient
  private let listener = Mutex<ControlListener?>(nil)
  /// Of the one session that it has.
  private let handler = Mutex<(@Sendable (EngineEvent) -> Void)?>(nil)

  /// - Parameters:
  ///   - name: of `pinna run --name`.
  ///   - environment: says where control sockets are (`XDG_RUNTIME_DIR`).
  public init(
    name: String = "pinna", environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    self.name = name
    client = ControlClient(name: name, environment: environment)
  }

  public var socket: SocketEngine { self }

  /// Takes on a session, whose `handler` is called on a thread of its own for everything that happens from now on.
  /// False where there is another session already: they would share what one of them claims, and its end.
  func adopt(_ handler: @escaping @Sendable (EngineEvent) -> Void) -> Bool {
    self.handler.withLock {
      guard $0 == nil else { return false }
      $0 = handler
      return true
    }
  }

  /// Opens the session at the running Pinna, where that has not happened yet. In its session's turn.
  func open() throws(SessionError) {
    guard listener.withLock({ $0 == nil }) else { return }
    let program = URL(filePath: CommandLine.arguments.first ?? "").lastPathComponent
    do throws(Failure) {
      let opened = try ControlListener(client: client, program: program.isEmpty ? "program" : program) {
        [weak self] event in
        let handler = self?.handler.withLock { $0 }
        handler?(event)
      }
      listener.withLock { $0 = opened }
    } catch {
      throw SessionError(error)
    }
  }

  /// Ends the session there: what it claimed is free, and another may be made. A Pinna that does not answer finds out
  /// by itself.
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

  /// Sends a request of this session, whose token comes first.
  /// - Returns: the answer, of status 0.
  @discardableResult
  func sessionRequest(_ method: String, _ words: [String]) throws(SessionError) -> Answer {
    let listener = listener.withLock { $0 }
    let current: String?
    do { current = try listener?.currentToken() } catch { throw SessionError(error) }
    guard let token = current else {
      throw SessionError(client.notRunning)
    }
    return try request(method, [token] + words)
  }

  /// Sends a request.
  /// - Returns: the answer, of status 0.
  @discardableResult
  func request(_ method: String, _ words: [String] = []) throws(SessionError) -> Answer {
    let answer: Answer
    do { answer = try client.request(OSCMessage(method, words.map { .string($0) })) } catch {
      throw SessionError(error)
    }
    guard answer.status == .done else { throw SessionError(answer) }
    return answer
  }

  static func document<Document: Decodable>(_ type: Document.Type, of answer: Answer) throws(SessionError)
    -> Document
  {
    do { return try answer.document(type) } catch { throw SessionError(error) }
  }

  func status() throws(SessionError) -> StatusReport {
    try Self.document(StatusReport.self, of: request("/pinna/status"))
  }

  func inputs() throws(SessionError) -> [InputsReport.Input] {
    try Self.document(InputsReport.self, of: request("/pinna/inputs")).inputs
  }
}
