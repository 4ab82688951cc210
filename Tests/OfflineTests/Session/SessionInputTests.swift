import Foundation
import LiveSupport
import PinnaSession
import Synchronization
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Inputs of a session") struct SessionInputTests {
    @Test(
      "S1: setup without a running Pinna or with unsuitable options fails in words and changes nothing"
    )
    func settingUp() throws {
      let session = AudioSession(SocketEngine(environment: try PinnaHome().environment))
      try session.setCategory(.record)
      let error = #expect(throws: SessionError.self) { try session.setActive(true) }
      guard case .notRunning(let text) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(text.contains("pinna run"))
      #expect(!session.isActive && session.availableInputs == nil)
      let misfit = #expect(throws: SessionError.self) {
        try session.setCategory(.playback, options: .defaultToSpeaker)
      }
      #expect(misfit?.description.contains("playAndRecord") == true)
      #expect(session.category == .record && session.categoryOptions == [])
    }

    @Test("S1: capturing needs record or playAndRecord; with playback there are no available inputs")
    func categories() throws {
      let graph = try OfflineGraph(preset: "phone3", captures: 1)
      let session = graph.session()
      #expect(session.availableInputs == [])
      for category in [AudioSession.Category.record, .playAndRecord] {
        try session.setCategory(category)
        #expect(session.availableInputs?.map(\.portType) == [.builtInMic, .lineIn])
      }
      let input = try #require(session.availableInputs?.first)
      try session.setCategory(.playback)
      try session.setActive(true)
      #expect(session.availableInputs == [] && session.currentRoute.inputs == [])
      #expect(session.inputNumberOfChannels == 0)
      let error = try graph.expectUnchanged(session) { try session.setPreferredInput(input) }
      #expect(error == .category(.playback, needed: [.record, .playAndRecord]))
    }

    @Test(
      "S2: inputs have port type, name and uid, and a script or a program can prefer the built-in one")
    func available() throws {
      let graph = try OfflineGraph(preset: "handset", home: try Handset.home(), captures: 2)
      let session = graph.session()
      try session.setCategory(.playAndRecord, options: [.allowBluetooth, .mixWithOthers])
      let inputs = try #require(session.availableInputs)
      #expect(inputs.map(\.portType) == [.builtInMic, .headsetMic, .bluetoothHFP, .lineIn, .lineIn])
      #expect(inputs.map(\.portName).prefix(3) == ["Handset", "Wired headset", "Hands-free"])
      #expect(
        inputs.map(\.uid) == [
          "handset", "handset.wired", "handset.hands-free", "system:capture_1", "system:capture_2",
        ])
      try session.setCategory(.playAndRecord, options: .mixWithOthers)
      #expect(session.availableInputs?.contains { $0.portType == .bluetoothHFP } == false)

      try session.setActive(true)
      try session.setPreferredInput(session.availableInputs?.first { $0.portType == .headsetMic })
      #expect(session.activeInput?.uid == "handset.wired")
      let listed = try #require(try graph.pinna("inputs", "--json").json()["inputs"] as? [[String: Any]])
      let builtIn = try #require(
        listed.first { $0["portType"] as? String == "builtInMic" }?["uid"] as? String)
      #expect(try graph.pinna("set", "--input", builtIn).status == 0)
      #expect(try graph.status()["device"] as? String == "handset")
      let unknown = try graph.pinna("set", "--input", "nosuch")
      #expect(unknown.status == 2 && unknown.isOneSentence && unknown.error.contains("system:capture_2"))
    }

    @Test(
      "S3: preferring the input in use changes nothing; preferring another changes the route")
    func preferredInput() throws {
      let graph = try OfflineGraph(preset: "handset", home: try Handset.home(), captures: 1)
      let session = try graph.activeSession()
      let builtIn = try #require(session.availableInputs?.first { $0.portType == .builtInMic })
      let heard = HeardEvents()
      let changes = session.routeChanges
      let task = Task { for await change in changes { heard.routes.withLock { $0.append(change) } } }
      defer { task.cancel() }
      let before = try graph.stableStatus()
      // Not even a fade: a change is answered once it is audible, and this server plays nothing.
      try graph.freeze(true)
      let outcome = Result { try session.setPreferredInput(builtIn) }
      try graph.freeze(false)
      #expect(try outcome.get().kept == nil)
      #expect(try graph.stableStatus() == before)
      let line = try #require(session.availableInputs?.first { $0.portType == .lineIn })
      try session.setPreferredInput(line)
      #expect(session.currentRoute.inputs == [line] && session.preferredInput == line)
      #expect(try graph.peers(of: "pinna:line") == ["system:capture_1"])
      // The first route change that was reported is the second request's.
      #expect(waitUntil(seconds: 3) { heard.routes.withLock { !$0.isEmpty } })
      let change = heard.routes.withLock { $0.first }
      #expect(change?.reason == .inputChanged && change?.text.contains(line.uid) == true)
      try session.setPreferredInput(builtIn)
      #expect(session.currentRoute.inputs == [builtIn])
      #expect(try graph.stableStatus() == before)
    }

    @Test("S3: microphone ports that return are connected as before")
    func connectionsComeBack() throws {
      let graph = try OfflineGraph(preset: "handset", home: try Handset.home(), captures: 3)
      let session = try graph.activeSession()
      try graph.play(SeededNoise.loop(channels: 3))
      // Each request is answered after Pinna has looked at the connections.
      try session.overrideOutputAudioPort(.speaker)
      try session.overrideOutputAudioPort(.none)
      let before = try graph.connections()
      try #require(before.count == 3)
      try session.setPreferredInput(session.availableInputs?.first { $0.portType == .lineIn })
      #expect(try !graph.hasPort("pinna:front"))
      try session.setPreferredInput(session.availableInputs?.first { $0.portType == .builtInMic })
      #expect(try waitUntil(seconds: 2) { try graph.connections() == before })
    }

    @Test(
      "S4: data sources have id, name, location and orientation, and are nil where there is no choice"
    )
    func dataSources() throws {
      let graph = try OfflineGraph(preset: "phone3", captures: 1)
      let session = graph.session()
      try session.setCategory(.record)
      let inputs = try #require(session.availableInputs)
      let sources = try #require(inputs[0].dataSources)
      #expect(sources.map(\.dataSourceID) == [1_835_216_945, 1_835_216_946, 1_835_216_947])
      #expect(sources.map(\.dataSourceName) == ["Bottom", "Front", "Back"])
      #expect(sources.map(\.location) == [.lower, .upper, .upper])
      #expect(sources.map(\.orientation) == [.bottom, .front, .back])
      #expect(inputs[1].portType == .lineIn && inputs[1].dataSources == nil)
      #expect(inputs[1].selectedDataSource == nil)
    }

    @Test(
      "S5: supported patterns are nil where there is no choice; the error for an unsupported one lists them"
    )
    func polarPatterns() throws {
      let graph = try OfflineGraph(preset: "phone3")
      let session = try graph.activeSession()
      let (bottom, front, back) = (
        try session.source("Bottom"), try session.source("Front"), try session.source("Back")
      )
      #expect(bottom.supportedPolarPatterns == nil)
      #expect(front.supportedPolarPatterns == [.omnidirectional, .cardioid])
      #expect(back.supportedPolarPatterns == [.omnidirectional, .subcardioid])
      let error = try graph.expectUnchanged(session) { try front.setPreferredPolarPattern(.stereo) }
      #expect(
        error
          == .unsupportedPolarPattern(.stereo, dataSource: "Front", supported: [.omnidirectional, .cardioid]))
      #expect(error?.description.contains("omnidirectional, cardioid") == true)
      let nothing = try graph.expectUnchanged(session) { try bottom.setPreferredPolarPattern(.cardioid) }
      #expect(nothing == .unsupportedPolarPattern(.cardioid, dataSource: "Bottom", supported: []))

      // Preferred is not selected: another data source is in use.
      try front.setPreferredPolarPattern(.cardioid)
      #expect(front.preferredPolarPattern == .cardioid && front.selectedPolarPattern == nil)
      #expect(session.activeInput?.selectedDataSource == bottom && bottom.selectedPolarPattern == nil)
      try session.activeInput?.setPreferredDataSource(front)
      #expect(front.selectedPolarPattern == .cardioid)
    }

    @Test(
      "S6: a data source of another port is an error; a change on an inactive port applies once it is active"
    )
    func inactivePort() throws {
      let graph = try OfflineGraph(preset: "handset", home: try Handset.home(), captures: 1)
      let session = try graph.activeSession()
      let builtIn = try #require(session.activeInput)
      let line = try #require(session.availableInputs?.first { $0.portType == .lineIn })
      let front = try session.source("Front")
      let error = try graph.expectUnchanged(session) { try line.setPreferredDataSource(front) }
      #expect(error == .foreignDataSource("Front", port: line.portName, possible: []))

      try session.setPreferredInput(line)
      let before = try graph.stableStatus()
      try front.setPreferredPolarPattern(.cardioid)
      try builtIn.setPreferredDataSource(front)
      #expect(try graph.stableStatus() == before)
      #expect(session.currentRoute.inputs == [line] && builtIn.preferredDataSource == front)
      try session.setPreferredInput(builtIn)
      #expect(builtIn.selectedDataSource == front && front.selectedPolarPattern == .cardioid)
      // The port is in the route now, so changes apply at once.
      try front.setPreferredPolarPattern(.omnidirectional)
      #expect(try graph.status()["polarPattern"] as? String == "omnidirectional")
    }
  }
}
