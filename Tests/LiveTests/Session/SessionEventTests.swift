import Foundation
import JackClient
import LiveSupport
import PinnaSession
import Synchronization
import TestSupport
import Testing

extension LiveTests {
  enum EngineKind: String, CaseIterable, Sendable { case socket, local }

  /// A session with an engine of either kind in a graph of its own.
  final class SessionBench {
    let session: AudioSession
    let serverName: String
    private let home: PinnaHome
    private let graph: LiveGraph?
    /// Of the local engine; a process of its own, since libjack in this one must not know two servers of a name.
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

    var clientName: String { graph == nil ? "local" : "pinna" }
  }

  @Suite("A session's notifications") struct SessionEventTests {
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
      usleep(300_000)
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
      "S22: a server that goes interrupts, and when it is back what was preferred is in force",
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
      #expect(try session.setPreferredInputOrientation(.portrait).kept == nil)
    }

    @Test("S22: a Pinna that is killed interrupts, and another in its place is given the session's wishes")
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
