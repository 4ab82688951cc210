import Control
import Foundation
import JackTools
import LiveSupport
import Messages
import PinnaSession
import Synchronization
import TestSupport
import Testing

extension LiveTests {
  enum EngineKind: String, CaseIterable, Sendable { case socket, local }

  /// A session with either kind of engine, in a graph of its own.
  final class SessionBench {
    let session: AudioSession
    let serverName: String
    private let home: PinnaHome
    private let graph: LiveGraph?
    /// The local engine's server. A separate process, because libjack in this one must not see two servers of
    /// one name.
    private var server: Program?
    private let heard = Heard()

    final class Heard: Sendable {
      let routes = Mutex<[RouteChange]>([])
      let interruptions = Mutex<[Interruption]>([])
    }

    init(_ kind: EngineKind, preset: String, home: PinnaHome? = nil, captures: Int = 0) throws {
      self.home = try home ?? PinnaHome()
      if kind == .socket {
        let graph = try LiveGraph(preset: preset, home: self.home, captures: captures)
        (self.graph, serverName) = (graph, graph.server.name)
        session = graph.session()
      } else {
        graph = nil
        serverName = LiveGraph.uniqueName()
        server = try Self.startServer(serverName, captures)
        session = AudioSession(
          try LocalEngine(
            name: "local", server: serverName, preset: preset, environment: self.home.environment))
      }
      let (routes, interruptions, heard) = (session.routeChanges, session.interruptions, heard)
      Task { for await change in routes { heard.routes.withLock { $0.append(change) } } }
      Task { for await event in interruptions { heard.interruptions.withLock { $0.append(event) } } }
    }

    private static func startServer(_ name: String, _ captures: Int) throws -> Program {
      let server = try Program(
        "/usr/bin/jackd",
        [
          "-n", name, "-r", "-p", "128", "-d", "dummy", "-C", "\(captures)", "-P", "0", "-r", "48000", "-p",
          "128",
        ])
      try #require(
        try waitUntil(seconds: 10) {
          try Program.run("/usr/bin/jack_lsp", ["-s", name], seconds: 5).status == 0
        })
      return server
    }

    func hears(_ reason: RouteChange.Reason, _ words: String = " ") -> Bool {
      waitUntil(seconds: 3) {
        heard.routes.withLock { $0.contains { $0.reason == reason && $0.text.contains(words) } }
      }
    }

    func hears(_ phase: Interruption.Phase, seconds: Double = 5) -> Bool {
      waitUntil(seconds: seconds) {
        heard.interruptions.withLock { $0.contains { $0.phase == phase && $0.isServer } }
      }
    }

    func requestPeriod(_ frames: Int) throws -> Bool {
      try Program.run(
        "/usr/bin/jack_bufsize", ["\(frames)"],
        environment: home.environment.merging(["JACK_DEFAULT_SERVER": serverName]) { $1 }
      ).status == 0
    }

    func killServer() {
      if let graph { graph.killServer() } else { server?.signal(SIGKILL) }
    }

    func restartServer() throws {
      if let graph {
        try graph.restartServer()
      } else {
        server = nil
        server = try Self.startServer(serverName, 0)
      }
    }

    /// The levels left and right while noise feeds all microphones. Closes the source before it returns: no
    /// client of this process may outlive a server.
    func loudness(microphones: [String]) throws -> [Double] {
      let source = try SignalPlayer(
        name: "source", server: serverName, channels: SeededNoise.loop(channels: microphones.count),
        repeats: true)
      try #require(source.connect(to: microphones.map { "\(clientName):\($0)" }))
      source.start()
      // Twice the averaging time of the meters.
      try source.wait(frames: 28_800)
      let levels = try #require(AudioRecorder(session).levels)
      withExtendedLifetime(source) {}
      return [levels.left.rms, levels.right.rms]
    }

    var clientName: String { graph == nil ? "local" : "pinna" }
  }

  @Suite("Notifications of a session") struct SessionEventTests {
    @Test(
      "S22: a new period, a lost port, another input and another selection are notified",
      arguments: EngineKind.allCases)
    func routeChanges(kind: EngineKind) throws {
      let bench = try SessionBench(kind, preset: "handset", home: try Handset.home(), captures: 1)
      let session = bench.session
      try session.setCategory(.playAndRecord)
      try session.setActive(true)
      #expect(bench.hears(.controlChanged))
      #expect(try bench.requestPeriod(256))
      #expect(bench.hears(.periodChanged, "256") && session.ioBufferDuration == 256.0 / 48000)

      var source: SignalPlayer? = try SignalPlayer(name: "source", server: bench.serverName, channels: [[0]])
      try #require(source?.connect(to: ["\(bench.clientName):front"]) == true)
      // Each request is answered after Pinna has looked at the connections.
      try session.overrideOutputAudioPort(.speaker)
      try session.overrideOutputAudioPort(.none)
      source = nil
      #expect(bench.hears(.portGone, "front has lost source:out_1"))

      try session.activeInput?.setPreferredDataSource(session.source("Front"))
      #expect(bench.hears(.selectionChanged, "Front"))
      let line = try #require(session.availableInputs?.first { $0.portType == .lineIn })
      try session.setPreferredInput(line)
      #expect(bench.hears(.inputChanged, line.uid) && session.activeInput == line)
      withExtendedLifetime(source) {}
    }

    @Test(
      "S22: a lost server interrupts the session; its return restores the preferences and the sound",
      arguments: EngineKind.allCases)
    func interruption(kind: EngineKind) throws {
      let bench = try SessionBench(kind, preset: "phone5")
      let session = bench.session
      try session.setCategory(.playAndRecord, mode: .videoRecording)
      try session.setActive(true)
      try session.source("Front").setPreferredPolarPattern(.stereo)
      try session.activeInput?.setPreferredDataSource(session.source("Front"))
      try session.setPreferredInputOrientation(.landscapeRight)
      let layout = session.stereoLayout
      let microphones = ["bottom-left", "bottom-right", "front", "back", "top"]
      let before = try bench.loudness(microphones: microphones)
      try #require(before.allSatisfy { $0 > -40 })
      bench.killServer()
      #expect(bench.hears(.began))
      let error = #expect(throws: SessionError.self) { try session.setPreferredInputOrientation(.portrait) }
      guard case .noServer = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(session.preferredInputOrientation == .landscapeRight)
      try bench.restartServer()
      #expect(bench.hears(.ended))
      #expect(session.stereoLayout == layout && session.inputOrientation == .landscapeRight)
      let after = try bench.loudness(microphones: microphones)
      #expect(zip(before, after).allSatisfy { abs($0 - $1) < 1 }, "\(before), then \(after)")
      #expect(try session.setPreferredInputOrientation(.portrait).kept == nil)
    }

    @Test("a take's beginning and end are events")
    func takes() throws {
      let graph = try LiveGraph(preset: "phone2", synchronous: true)
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
      let graph = try LiveGraph(preset: "phone5")
      let session = try graph.activeSession()
      try session.source("Back").setPreferredPolarPattern(.stereo)
      try session.activeInput?.setPreferredDataSource(session.source("Back"))
      try session.setPreferredInputOrientation(.landscapeLeft)
      let heard = SessionBench.Heard()
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
