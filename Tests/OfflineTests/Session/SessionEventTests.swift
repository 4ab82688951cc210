import Control
import Foundation
import LiveSupport
import Messages
import PinnaSession
import Synchronization
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Notifications of a session") struct SessionEventTests {
    /// Collects what a session tells, until the tasks are cancelled.
    private func hear(_ session: AudioSession) -> (heard: HeardEvents, tasks: [Task<Void, Never>]) {
      let (routes, interruptions, heard) = (session.routeChanges, session.interruptions, HeardEvents())
      return (
        heard,
        [
          Task { for await change in routes { heard.routes.withLock { $0.append(change) } } },
          Task { for await event in interruptions { heard.interruptions.withLock { $0.append(event) } } },
        ]
      )
    }

    @Test("S22: a new period, a lost port, another input and another selection are notified")
    func routeChanges() throws {
      let graph = try OfflineGraph(preset: "handset", home: try Handset.home(), captures: 1)
      let session = graph.session()
      let (heard, tasks) = hear(session)
      defer { for task in tasks { task.cancel() } }
      func hears(_ reason: RouteChange.Reason, _ words: String = " ") -> Bool {
        waitUntil(seconds: 3) {
          heard.routes.withLock { $0.contains { $0.reason == reason && $0.text.contains(words) } }
        }
      }
      try session.setCategory(.playAndRecord)
      try session.setActive(true)
      #expect(hears(.controlChanged))
      try graph.requestPeriod(256)
      #expect(hears(.periodChanged, "256") && session.ioBufferDuration == 256.0 / 48000)

      try graph.command("add", "source:out_1", "output")
      try graph.command("connect", "source:out_1", "pinna:front")
      // Each request is answered after Pinna has looked at the connections.
      try session.overrideOutputAudioPort(.speaker)
      try session.overrideOutputAudioPort(.none)
      try graph.command("remove", "source:out_1")
      #expect(hears(.portGone, "front has lost source:out_1"))

      try session.activeInput?.setPreferredDataSource(session.source("Front"))
      #expect(hears(.selectionChanged, "Front"))
      let line = try #require(session.availableInputs?.first { $0.portType == .lineIn })
      try session.setPreferredInput(line)
      #expect(hears(.inputChanged, line.uid) && session.activeInput == line)
    }

    @Test("S22: a lost server interrupts the session; its return restores the preferences and the sound")
    func interruption() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 5)
      let session = graph.session()
      let (heard, tasks) = hear(session)
      defer { for task in tasks { task.cancel() } }
      func hears(_ phase: Interruption.Phase) -> Bool {
        waitUntil(seconds: 5) {
          heard.interruptions.withLock { $0.contains { $0.phase == phase && $0.isServer } }
        }
      }
      try session.setCategory(.playAndRecord, mode: .videoRecording)
      try session.setActive(true)
      try session.source("Front").setPreferredPolarPattern(.stereo)
      try session.activeInput?.setPreferredDataSource(session.source("Front"))
      try session.setPreferredInputOrientation(.landscapeRight)
      let layout = session.stereoLayout
      /// The levels left and right while noise feeds all microphones.
      func loudness() throws -> [Double] {
        try graph.play(SeededNoise.loop(channels: 5))
        // Twice the averaging time of the meters.
        try graph.wait(frames: 28_800)
        let levels = try #require(AudioRecorder(session).levels)
        return [levels.left.rms, levels.right.rms]
      }
      let before = try loudness()
      try #require(before.allSatisfy { $0 > -40 })
      try graph.killServer()
      #expect(hears(.began))
      let error = #expect(throws: SessionError.self) { try session.setPreferredInputOrientation(.portrait) }
      guard case .noServer = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(session.preferredInputOrientation == .landscapeRight)
      graph.restartServer()
      #expect(hears(.ended))
      #expect(session.stereoLayout == layout && session.inputOrientation == .landscapeRight)
      let after = try loudness()
      #expect(zip(before, after).allSatisfy { abs($0 - $1) < 1 }, "\(before), then \(after)")
      #expect(try session.setPreferredInputOrientation(.portrait).kept == nil)
    }

    @Test("a take's beginning and end are events")
    func takes() throws {
      let graph = try OfflineGraph(preset: "phone2")
      let kinds = EngineEvents()
      let listener = try ControlListener(
        client: ControlClient(name: "pinna", environment: graph.home.environment), program: "test"
      ) { kinds.add($0.kind) }
      try #require(try graph.pinna("record", "start").status == 0)
      #expect(waitUntil(seconds: 2) { kinds.all.contains(.takeBegan) } && !kinds.all.contains(.takeEnded))
      #expect(try graph.pinna("record", "stop").status == 0)
      #expect(waitUntil(seconds: 2) { kinds.all.contains(.takeEnded) })
      withExtendedLifetime(listener) {}
    }

    private final class ListenerHolder: Sendable {
      let listener = Mutex<ControlListener?>(nil)
      /// The answer to a request for the token that is sent as soon as another Pinna runs.
      let requestedToken = Mutex<String?>(nil)
      var token: String? { try? listener.withLock { $0 }?.currentToken() }
    }

    private final class EngineEvents: Sendable {
      private let kinds = Mutex<[EngineEvent.Kind]>([])
      func add(_ kind: EngineEvent.Kind) { kinds.withLock { $0.append(kind) } }
      var all: [EngineEvent.Kind] { kinds.withLock { $0 } }
    }

    @Test(
      "S22: when another Pinna replaces the first at once, the session notices and opens there with a new token"
    )
    func replaced() throws {
      let home = try PinnaHome()
      let client = ControlClient(name: "pinna", environment: home.environment)
      let (kinds, holder) = (EngineEvents(), ListenerHolder())
      /// Answers the next request to open a session with `token`.
      func serve(_ socket: ControlSocket, _ token: String) {
        #expect(
          waitUntil(seconds: 3) {
            guard let (message, sender) = socket.receive(milliseconds: 50),
              message?.path == "/pinna/session/open"
            else { return false }
            let words: [OSCMessage.Argument] = [.integer(0), .string("{\"session\":\"\(token)\"}")]
            socket.send(OSCMessage("/pinna/reply", words), to: sender)
            return true
          })
      }
      var socket: ControlSocket? = try ControlSocket(name: "pinna", environment: home.environment)
      Thread {
        let listener = try? ControlListener(client: client, program: "test") { kinds.add($0.kind) }
        holder.listener.withLock { $0 = listener }
      }.start()
      serve(try #require(socket), "one")
      #expect(waitUntil(seconds: 2) { holder.token == "one" })
      socket = nil
      socket = try ControlSocket(name: "pinna", environment: home.environment)
      // The token of the previous Pinna is never returned, not even for a moment.
      Thread { holder.requestedToken.withLock { $0 = holder.token } }.start()
      serve(try #require(socket), "two")
      #expect(waitUntil(seconds: 2) { holder.token == "two" })
      #expect(holder.requestedToken.withLock { $0 } == "two")
      #expect(waitUntil(seconds: 2) { kinds.all == [.engineGone, .engineBack] })
    }

    @Test("S22: a killed Pinna interrupts the session, and its successor is given the session's preferences")
    func anotherPinna() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let session = try graph.activeSession()
      try session.source("Back").setPreferredPolarPattern(.stereo)
      try session.activeInput?.setPreferredDataSource(session.source("Back"))
      try session.setPreferredInputOrientation(.landscapeLeft)
      let heard = HeardEvents()
      let interruptions = session.interruptions
      let task = Task {
        for await event in interruptions { heard.interruptions.withLock { $0.append(event) } }
      }
      graph.program.signal(SIGKILL)
      #expect(waitUntil(seconds: 3) { heard.interruptions.withLock { $0.last?.phase == .began } })
      #expect(session.sampleRate == 0 && session.availableInputs == nil)
      try graph.restart()
      #expect(
        waitUntil(seconds: 5) { session.inputOrientation == .landscapeLeft && session.stereoLayout != nil })
      #expect(waitUntil(seconds: 3) { heard.interruptions.withLock { $0.last?.phase == .ended } })
      task.cancel()
    }
  }
}
