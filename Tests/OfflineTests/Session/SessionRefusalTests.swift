import Foundation
import LiveSupport
import PinnaSession
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Requests refused to a session leave sound and status unchanged") struct SessionRefusalTests {
    @Test("every session error that a running Pinna can cause is reached in every way")
    func errors() throws {
      let graph = try OfflineGraph(preset: "handset", home: try Handset.home(), captures: 3)
      try graph.playNoise()
      let idle = graph.session()
      try idle.setCategory(.record)
      let session = try graph.activeSession(options: .allowBluetooth)
      let builtIn = try #require(session.activeInput)
      let line = try #require(session.availableInputs?.first { $0.portType == .lineIn })
      let handsFree = try #require(session.availableInputs?.first { $0.portType == .bluetoothHFP })
      let (bottom, front) = (try session.source("Bottom"), try session.source("Front"))
      try session.setCategory(.playAndRecord)
      let recorder = AudioRecorder(session)

      var kinds: Set<String> = []
      func refused(_ kind: String, _ session: AudioSession, _ body: () throws -> Void) throws {
        let error = try graph.expectUnchanged(session, body)
        #expect(error?.kind == kind, "\(String(describing: error))")
        kinds.insert(kind)
      }
      try graph.expectSameSound {
        try refused("category", idle) { try idle.overrideOutputAudioPort(.speaker) }
        try refused("category", idle) { try AudioRecorder(idle).play("/nosuch.wav") }
        try refused("notActive", idle) { try AudioRecorder(idle).record() }
        try refused("invalidValue", session) { try session.setPreferredSampleRate(7) }
        try refused("invalidValue", session) { try session.setPreferredIOBufferDuration(.nan) }
        try refused("invalidValue", session) { try session.setCategory(.record, options: .defaultToSpeaker) }
        try refused("invalidValue", session) { try session.setCategory(.playback, options: .allowBluetooth) }
        try refused("unsupportedPolarPattern", session) { try front.setPreferredPolarPattern(.stereo) }
        try refused("unsupportedPolarPattern", session) { try bottom.setPreferredPolarPattern(.cardioid) }
        try refused("foreignDataSource", session) { try line.setPreferredDataSource(front) }
        try refused("unknownInput", session) { try session.setPreferredInput(handsFree) }
        try refused("failed", session) { try recorder.play("/nosuch.wav") }
        try refused("failed", session) { try recorder.record(to: "/dev/null/takes") }
        try refused("failed", session) { try recorder.stop() }
      }
      try recorder.record(to: graph.home.takesFolder)
      try graph.expectSameSound {
        try refused("refused", session) { try session.setPreferredInputOrientation(.landscapeLeft) }
        try refused("refused", session) { try front.setPreferredPolarPattern(.cardioid) }
        try refused("refused", session) { try builtIn.setPreferredDataSource(front) }
        try refused("refused", session) { try session.setPreferredInput(line) }
        try refused("refused", session) { try session.setMode(.videoRecording) }
        try refused("refused", session) { try session.setCategory(.record) }
        try refused("refused", session) { try session.overrideOutputAudioPort(.speaker) }
        try refused("refused", session) { try recorder.record(to: graph.home.takesFolder) }
        try refused("refused", session) { try recorder.play("/nosuch.wav") }
        try refused("refused", idle) { try idle.setActive(true) }
      }
      try recorder.stop()
      #expect(kinds.union(["unsupported", "noServer", "notRunning"]) == SessionError.kinds)
    }

    @Test(
      "combinations that do not fit, and requests without a JACK server or without Pinna, are refused, and the route stays free"
    )
    func circumstances() throws {
      let graph = try OfflineGraph(preset: "linear8", captures: 8)
      try graph.playNoise()
      let session = graph.session()
      try session.setCategory(.playAndRecord)
      let front = try session.source("Front")
      try front.setPreferredPolarPattern(.stereo)
      try session.setPreferredInputOrientation(.landscapeLeft)
      try session.activeInput?.setPreferredDataSource(front)
      // Refused after the route was claimed.
      #expect(try graph.expectUnchanged(session) { try session.setActive(true) }?.kind == "unsupported")
      #expect(try graph.status()["controller"] as? String == nil)
      try session.setPreferredInputOrientation(.portrait)
      try session.setActive(true)
      try graph.expectSameSound {
        let error = try graph.expectUnchanged(session) {
          try session.setPreferredInputOrientation(.landscapeLeft)
        }
        #expect(error?.kind == "unsupported")
      }
      try graph.killServer()
      #expect(try waitUntil(seconds: 3) { try graph.status()["server"] as? String == "gone" })
      let recorder = AudioRecorder(session)
      let attempts: [() throws -> Void] = [
        { try session.setPreferredInputOrientation(.portraitUpsideDown) },
        { try front.setPreferredPolarPattern(.omnidirectional) },
        { try session.setMode(.videoRecording) }, { try recorder.record() },
        { try recorder.play("/nosuch.wav") },
      ]
      for attempt in attempts {
        #expect(try graph.expectUnchanged(session, attempt)?.kind == "noServer")
      }
      let preferred = session.preferredInputOrientation
      graph.program.signal(SIGKILL)
      #expect(graph.program.wait(seconds: 5) != nil)
      for attempt in attempts {
        let error = #expect(throws: SessionError.self, performing: attempt)
        #expect(error?.kind == "notRunning" && error?.description.contains("pinna run") == true)
      }
      #expect(session.preferredInputOrientation == preferred && session.isActive)
    }
  }
}

extension SessionError {
  /// The case's name. Add a new case here and to the test above.
  fileprivate var kind: String {
    switch self {
    case .notRunning: "notRunning"
    case .noServer: "noServer"
    case .refused: "refused"
    case .unsupportedPolarPattern: "unsupportedPolarPattern"
    case .unsupported: "unsupported"
    case .foreignDataSource: "foreignDataSource"
    case .unknownInput: "unknownInput"
    case .category: "category"
    case .notActive: "notActive"
    case .invalidValue: "invalidValue"
    case .failed: "failed"
    }
  }

  fileprivate static let kinds: Set = [
    "notRunning", "noServer", "refused", "unsupportedPolarPattern", "unsupported", "foreignDataSource",
    "unknownInput", "category", "notActive", "invalidValue", "failed",
  ]
}
