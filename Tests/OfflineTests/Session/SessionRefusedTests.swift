import Control
import Foundation
import LiveSupport
import Messages
import PinnaSession
import Settings
import Synchronization
import TestSupport
import Testing

extension OfflineTests {
  /// Another Pinna takes the first one's place and does not open the session.
  @Suite("A session that the next Pinna refuses") struct SessionRefusedTests {
    /// A fake Pinna that only answers requests to open a session.
    private final class FakePinna: Sendable {
      private let ended = Atomic<Bool>(false)
      private let (ready, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

      /// - Parameters:
      ///   - status: 0 opens the session, which is named `text`.
      init(_ environment: [String: String], _ status: Settings.ExitStatus, _ text: String) {
        let answer: [OSCMessage.Argument] = [
          .integer(status.rawValue), .string(status == .done ? "{\"session\":\"\(text)\"}" : text),
        ]
        Thread { [self] in
          serve(environment, answer)
          done.signal()
        }.start()
        ready.wait()
      }

      private func serve(_ environment: [String: String], _ answer: [OSCMessage.Argument]) {
        let socket = try? ControlSocket(name: "pinna", environment: environment)
        ready.signal()
        while let socket, !ended.load(ordering: .acquiring) {
          guard let (message, sender) = socket.receive(milliseconds: 20),
            message?.path == "/pinna/session/open"
          else { continue }
          socket.send(OSCMessage("/pinna/reply", answer), to: sender)
        }
      }

      /// Returns when its socket is gone.
      func end() {
        ended.store(true, ordering: .releasing)
        done.wait()
        done.signal()
      }
    }

    private static let refusal = "there are enough sessions; end one"

    @Test("S22: a refused session reports the reason, not a missing Pinna, and has no token without a Pinna")
    func reason() throws {
      let home = try PinnaHome()
      let client = ControlClient(name: "pinna", environment: home.environment)
      var fakePinna = FakePinna(home.environment, .done, "one")
      let listener = try ControlListener(client: client, program: "test") { _ in }
      #expect(try listener.currentToken() == "one")
      fakePinna.end()
      fakePinna = FakePinna(home.environment, .refused, Self.refusal)
      let error = #expect(throws: Failure.self) { try listener.currentToken() }
      #expect(error == Failure(.refused, Self.refusal) && listener.openToken == nil)
      fakePinna.end()
      #expect(try listener.currentToken() == nil)
      // The next Pinna may open a session that the previous one refused.
      fakePinna = FakePinna(home.environment, .done, "two")
      #expect(try listener.currentToken() == "two")
      fakePinna.end()
    }

    @Test("S22: a refused session ends without waiting")
    func end() throws {
      let home = try PinnaHome()
      var fakePinna = FakePinna(home.environment, .done, "one")
      var session: AudioSession? = AudioSession(SocketEngine(environment: home.environment))
      try session?.listen()
      fakePinna.end()
      fakePinna = FakePinna(home.environment, .refused, Self.refusal)
      let start = ContinuousClock.now
      session = nil
      #expect(.now - start < .seconds(1))
      fakePinna.end()
    }

    /// Asks for the token as soon as the session is open again, while Pinna has just been replaced once more.
    private final class HastyClient: Sendable {
      let listener = Mutex<ControlListener?>(nil)
      let fakePinna = Mutex<FakePinna?>(nil)
      let took = Mutex<Duration?>(nil)

      func receive(_ event: EngineEvent, _ environment: [String: String]) {
        guard event.kind == .engineBack else { return }
        fakePinna.withLock {
          $0?.end()
          $0 = FakePinna(environment, .done, "three")
        }
        let start = ContinuousClock.now
        _ = try? listener.withLock { $0 }?.currentToken()
        took.withLock { $0 = .now - start }
      }
    }

    @Test("S22: the thread that reopens a refused session does not wait for it")
    func ownThread() throws {
      let home = try PinnaHome()
      let environment = home.environment
      let client = ControlClient(name: "pinna", environment: environment)
      let hastyClient = HastyClient()
      hastyClient.fakePinna.withLock { $0 = FakePinna(home.environment, .done, "one") }
      let listener = try ControlListener(client: client, program: "test") {
        hastyClient.receive($0, environment)
      }
      hastyClient.listener.withLock { $0 = listener }
      #expect(try listener.currentToken() == "one")
      hastyClient.fakePinna.withLock {
        $0?.end()
        $0 = FakePinna(home.environment, .done, "two")
      }
      #expect(waitUntil(seconds: 5) { hastyClient.took.withLock { $0 != nil } })
      #expect(try #require(hastyClient.took.withLock { $0 }) < .seconds(1))
      hastyClient.listener.withLock { $0 = nil }
      hastyClient.fakePinna.withLock { $0?.end() }
    }
  }
}
