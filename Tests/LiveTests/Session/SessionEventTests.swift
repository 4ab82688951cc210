import Foundation
import JackTools
import LiveSupport
import PinnaSession
import Synchronization
import TestSupport
import Testing

extension LiveTests {
  /// With an engine in this process. A session with the engine of a `pinna run` needs no server: `OfflineTests`.
  @Suite("Notifications of a session with an engine of its own") struct SessionEventTests {
    /// A session, and its server: a separate process, because libjack in this one must not see two servers of one name.
    final class Bench {
      let session: AudioSession
      let serverName: String
      private let home: PinnaHome
      private let captures: Int
      private var server: Program?
      private let routes = Log<RouteChange>()
      private let interruptions = Log<Interruption>()

      private final class Log<Event: Sendable>: Sendable {
        let events = Mutex<[Event]>([])
        func follow(_ stream: AsyncStream<Event>) {
          Task { for await event in stream { events.withLock { $0.append(event) } } }
        }
      }

      init(preset: String, home: PinnaHome? = nil, captures: Int = 0) throws {
        self.home = try home ?? PinnaHome()
        self.captures = captures
        serverName = LiveGraph.uniqueName()
        server = try Self.startServer(serverName, captures)
        session = AudioSession(
          try LocalEngine(
            name: "local", server: serverName, preset: preset, environment: self.home.environment))
        routes.follow(session.routeChanges)
        interruptions.follow(session.interruptions)
      }

      private static func startServer(_ name: String, _ captures: Int) throws -> Program {
        let server = try Program(
          "/usr/bin/jackd",
          [
            "-n", name, "-r", "-S", "-p", "128", "-d", "dummy", "-C", "\(captures)", "-P", "0", "-r", "48000",
            "-p",
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
          routes.events.withLock { $0.contains { $0.reason == reason && $0.text.contains(words) } }
        }
      }

      func hears(_ phase: Interruption.Phase) -> Bool {
        waitUntil(seconds: 5) {
          interruptions.events.withLock { $0.contains { $0.phase == phase && $0.isServer } }
        }
      }

      func requestPeriod(_ frames: Int) throws -> Bool {
        try Program.run(
          "/usr/bin/jack_bufsize", ["\(frames)"],
          environment: home.environment.merging(["JACK_DEFAULT_SERVER": serverName]) { $1 }
        ).status == 0
      }

      func killServer() { server?.signal(SIGKILL) }

      func restartServer() throws {
        server = nil
        server = try Self.startServer(serverName, captures)
      }

      /// The levels left and right while noise feeds all microphones. Closes the source before it returns: no
      /// client of this process may outlive a server.
      func loudness(microphones: [String]) throws -> [Double] {
        let source = try SignalPlayer(
          name: "source", server: serverName, channels: SeededNoise.loop(channels: microphones.count),
          repeats: true)
        try #require(source.connect(to: microphones.map { "local:\($0)" }))
        source.start()
        // Twice the averaging time of the meters.
        try source.wait(frames: 28_800)
        let levels = try #require(AudioRecorder(session).levels)
        withExtendedLifetime(source) {}
        return [levels.left.rms, levels.right.rms]
      }
    }

    @Test(
      "S22: a new period, a lost port, another input and another selection are notified")
    func routeChanges() throws {
      let bench = try Bench(preset: "handset", home: try Handset.home(), captures: 1)
      let session = bench.session
      try session.setCategory(.playAndRecord)
      try session.setActive(true)
      #expect(bench.hears(.controlChanged))
      #expect(try bench.requestPeriod(256))
      #expect(bench.hears(.periodChanged, "256") && session.ioBufferDuration == 256.0 / 48000)

      var source: SignalPlayer? = try SignalPlayer(name: "source", server: bench.serverName, channels: [[0]])
      try #require(source?.connect(to: ["local:front"]) == true)
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
    }

    @Test(
      "S22: a lost server interrupts the session; its return restores the preferences and the sound")
    func interruption() throws {
      let bench = try Bench(preset: "phone5")
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
  }
}
