import AudioFiles
import Foundation
import LiveSupport
import PinnaSession
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Control of the route by sessions") struct SessionControlTests {
    @Test(
      "S11: the session that does not mix controls the route; other sessions' preferences are kept until it ends"
    )
    func claims() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let first = try graph.activeSession()
      #expect(try first.setPreferredInputOrientation(.landscapeLeft).kept == nil)
      #expect(first.inputOrientation == .landscapeLeft)

      let second = try graph.activeSession()
      let before = try graph.stableStatus()
      let outcome = try second.setPreferredInputOrientation(.landscapeRight)
      #expect(outcome.kept?.contains("controls the route") == true)
      #expect(outcome.inputOrientation == .landscapeLeft)
      #expect(
        second.preferredInputOrientation == .landscapeRight && second.inputOrientation == .landscapeLeft)
      // The command line counts as another session.
      let commandLine = try graph.pinna("set", "--orientation", "portraitUpsideDown", "--json")
      #expect(commandLine.status == 0)
      #expect(try (commandLine.json()["kept"] as? String)?.contains("controls the route") == true)
      let preferred = try graph.status()["preferred"] as? [String: Any]
      #expect(preferred?["inputOrientation"] as? String == "portraitUpsideDown")
      #expect(try graph.status()["inputOrientation"] as? String == "landscapeLeft")
      #expect(before["inputOrientation"] == "\"landscapeLeft\"")
      // An unknown word is refused now, not kept.
      #expect(try graph.pinna("set", "--orientation", "sideways").status == 2)

      try first.setActive(false)
      #expect(waitUntil(seconds: 2) { second.inputOrientation == .landscapeRight })
      try second.setActive(false)
      #expect(waitUntil(seconds: 2) { second.inputOrientation == .portraitUpsideDown })
    }

    @Test(
      "S11: a claim ends with its session, within two seconds even if the program was killed")
    func endOfSession() throws {
      let graph = try OfflineGraph(preset: "phone5")
      var first: AudioSession? = try graph.activeSession()
      #expect(try graph.status()["controller"] as? String != nil)
      var sender: ControlSender? = try graph.sender()
      sender?.send("/pinna/session/open", "gone program")
      let token = try #require(
        sender?.reply(seconds: 2)?.text.split(separator: "\"").last { $0.hasPrefix("session-") })
      sender?.send("/pinna/session/claim", String(token), "on")
      #expect(sender?.reply(seconds: 2)?.text.contains("controls the route") == true)
      withExtendedLifetime(first) {}
      first = nil
      // The first session has ended, so the claim passes on.
      #expect(try graph.status()["controller"] as? String == "goneprogram")
      // The connection ends without an announcement.
      sender = nil
      #expect(try waitUntil(seconds: 2) { try graph.status()["controller"] as? String == nil })
    }

    @Test(
      "S11: kept preferences of sessions and the command line apply one by one; an impossible one spoils no other"
    )
    func wishes() throws {
      let graph = try OfflineGraph(preset: "linear8")
      let first = try graph.activeSession()
      try first.source("Front").setPreferredPolarPattern(.omnidirectional)
      try first.activeInput?.setPreferredDataSource(first.source("Front"))
      try first.setPreferredInputOrientation(.portrait)
      try #require(try graph.pinna("set", "--orientation", "landscapeLeft").status == 0)
      let sender = try graph.sender()
      sender.send("/pinna/session/open", "second")
      let token = try #require(
        sender.reply(seconds: 2)?.text.split(separator: "\"").last { $0.hasPrefix("session-") })
      // Possible in the current orientation, but not in landscapeLeft.
      sender.send("/pinna/session/set", String(token), "pattern", "stereo")
      #expect(sender.reply(seconds: 2)?.text.contains("controls the route") == true)
      try first.setActive(false)
      #expect(
        try waitUntil(seconds: 2) { try graph.status()["inputOrientation"] as? String == "landscapeLeft" })
      #expect(graph.says("a deferred change cannot", seconds: 2))
      #expect(try graph.status()["polarPattern"] as? String == "omnidirectional")
    }

    @Test("S11: HUP reloads the preset once the session that controls the route ends")
    func reload() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let before = try graph.status()["inputOrientation"] as? String
      let session = try graph.activeSession()
      try session.setPreferredInputOrientation(.landscapeLeft)
      try #require(before != "landscapeLeft")
      graph.program.signal(SIGHUP)
      try #require(
        graph.says("phone5 is not reloaded yet"))
      #expect(session.inputOrientation == .landscapeLeft)
      try session.setActive(false)
      #expect(try waitUntil(seconds: 2) { try graph.status()["inputOrientation"] as? String == before })
      try #require(try graph.pinna("stop").status == 0)
      let outcome = try #require(graph.program.wait(seconds: 5))
      #expect(outcome.error.contains("pinna: preset phone5 is not reloaded yet"), "\(outcome)")
    }

    enum Obstacle: CaseIterable { case take, noServer }

    @Test(
      "S1, S13: a session cannot become active during a take or without a server, and claims nothing",
      arguments: Obstacle.allCases)
    func activation(obstacle: Obstacle) throws {
      let graph = try OfflineGraph(preset: "phone2")
      let witness = graph.session()
      let (heard, changes) = (HeardEvents(), witness.routeChanges)
      let task = Task { for await change in changes { heard.routes.withLock { $0.append(change) } } }
      defer { task.cancel() }
      try witness.listen()
      switch obstacle {
      case .take: try #require(try graph.pinna("record", "start").status == 0)
      case .noServer:
        try graph.killServer()
        try #require(try waitUntil(seconds: 3) { try graph.status()["server"] as? String == "gone" })
      }
      let session = graph.session()
      try session.setCategory(.playAndRecord)
      let error = try graph.expectUnchanged(session) { try session.setActive(true) }
      #expect(
        error?.description.contains(obstacle == .take ? "nothing may change" : "JACK server has gone") == true
      )
      // Not even for a moment: the first event is a later session's claim of the route.
      let stranger = try graph.sender()
      let token = try #require(stranger.openSession("stranger", claims: true))
      func claims() -> [String] {
        heard.routes.withLock { $0.filter { $0.reason == .controlChanged }.map(\.text) }
      }
      try #require(waitUntil(seconds: 5) { !claims().isEmpty })
      #expect(claims() == ["the session stranger controls the route"])
      stranger.send("/pinna/session/close", token)
      try #require(stranger.reply(seconds: 5)?.status == 0)
      if obstacle == .take {
        #expect(try graph.pinna("record", "stop").status == 0)
        #expect(try session.setActive(true).kept == nil)
      }
    }

    @Test("an engine serves one session; a second is refused until the first has ended")
    func oneEngine() throws {
      let graph = try OfflineGraph(preset: "phone2")
      let engine = SocketEngine(environment: graph.home.environment)
      var first: AudioSession? = AudioSession(engine)
      let second = AudioSession(engine)
      try first?.setActive(true)
      let error = try graph.expectUnchanged(second) { try second.setActive(true) }
      #expect(error?.description.contains("an engine of its own") == true)
      #expect(first?.isActive == true)
      first = nil
      #expect(try AudioSession(engine).setActive(true).kept == nil)
    }

    @Test("S11: a session that mixes claims nothing, and others may change its route")
    func mixing() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let session = try graph.activeSession(options: .mixWithOthers)
      try session.setPreferredInputOrientation(.landscapeLeft)
      #expect(try graph.pinna("set", "--orientation", "landscapeRight").status == 0)
      #expect(
        session.preferredInputOrientation == .landscapeLeft && session.inputOrientation == .landscapeRight)
    }

    @Test("S12: a device without stereo does not offer it and has one channel and no layout")
    func noStereo() throws {
      for preset in ["phone2", "phone3"] {
        let graph = try OfflineGraph(preset: preset)
        let session = try graph.activeSession()
        for source in try #require(session.activeInput?.dataSources) {
          #expect(source.supportedPolarPatterns?.contains(.stereo) != true)
          let error = try graph.expectUnchanged(session) { try source.setPreferredPolarPattern(.stereo) }
          #expect(error?.description.contains("does not offer stereo") == true)
        }
        let outcome = try session.setPreferredInputOrientation(.landscapeLeft)
        #expect(outcome.layout == nil && outcome.inputNumberOfChannels == 1)
        #expect(session.inputNumberOfChannels == 1 && session.stereoLayout == nil)
        let start = try graph.pinna("record", "start", "--json")
        #expect(try start.json()["channels"] as? Int == 1)
        let stop = try graph.pinna("record", "stop", "--json")
        try #require(stop.status == 0, "\(stop)")
        #expect(try AudioClip(path: try #require(stop.json()["take"] as? String)).channels.count == 1)
      }
    }

    @Test(
      "S12: stereo is offered if any orientation supports it; an orientation without it is refused"
    )
    func someOrientations() throws {
      let graph = try OfflineGraph(preset: "linear8")
      let session = try graph.activeSession()
      let front = try session.source("Front")
      #expect(front.supportedPolarPatterns?.contains(.stereo) == true)
      try front.setPreferredPolarPattern(.stereo)
      try session.setPreferredInputOrientation(.portrait)
      try session.activeInput?.setPreferredDataSource(front)
      #expect(session.inputNumberOfChannels == 2 && session.stereoLayout != nil)
      let error = try graph.expectUnchanged(session) {
        try session.setPreferredInputOrientation(.landscapeLeft)
      }
      guard case .unsupported(let text) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(text.contains("landscapeLeft") && text.contains("portrait"))
    }

    @Test(
      "S13: while recording, every change is refused with the reason, and sound and reports stay unchanged")
    func recording() throws {
      let graph = try OfflineGraph(preset: "handset", home: try Handset.home(), captures: 3)
      let session = try graph.activeSession()
      try graph.playNoise()
      let front = try session.source("Front")
      let input = try #require(session.activeInput)
      try input.setPreferredDataSource(front)
      let line = try #require(session.availableInputs?.first { $0.portType == .lineIn })
      // After the fade of the previous changes.
      try graph.wait(frames: 9600)
      let path = try #require(try graph.pinna("record", "start", "--json").json()["take"] as? String)
      let attempts: [() throws -> Void] = [
        { try session.setPreferredInputOrientation(.landscapeLeft) },
        { try front.setPreferredPolarPattern(.cardioid) },
        { try input.setPreferredDataSource(session.source("Bottom")) },
        { try session.setPreferredInput(line) },
        { try session.setMode(.videoRecording) },
        { try session.setCategory(.record) },
      ]
      for attempt in attempts {
        let error = try graph.expectUnchanged(session, attempt)
        guard case .refused(let text) = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(text.contains("recording \(path)"))
      }
      try graph.waitForTake(frames: 14_400)
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 0, "\(stop)")
      // One microphone's pattern: no other source was mixed in, and nothing faded.
      let take = try AudioClip(path: path)
      #expect(take.channels.count == 1 && silences(in: take.channels[0], shortest: 64).isEmpty)
      try session.setPreferredInputOrientation(.landscapeLeft)
    }
  }
}
