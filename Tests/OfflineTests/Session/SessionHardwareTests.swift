import Foundation
import LiveSupport
import PinnaSession
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Modes and hardware values of a session") struct SessionHardwareTests {
    /// PipeWire reports success before it changes the period, and all ports as gone and back.
    @Test(
      "S15: preferred values take effect on activation, can be read back, and may differ from the actual ones",
      arguments: [false, true])
    func preferredValues(isLazy: Bool) throws {
      let graph = try OfflineGraph(preset: "phone2", period: 128)
      if isLazy { try graph.command("lazy", "1") }
      try graph.server.add(input: "others:in_1")
      try graph.server.connect("pinna:out_left", "others:in_1")
      try graph.waitForLook()
      let session = graph.session()
      try session.setCategory(.record, mode: .default)
      try session.setPreferredSampleRate(44_100)
      try session.setPreferredIOBufferDuration(0.005)
      #expect(session.ioBufferDuration == 128.0 / 48000)
      try session.setActive(true)
      #expect(session.preferredSampleRate == 44_100 && session.sampleRate == 48_000)
      #expect(session.preferredIOBufferDuration == 0.005 && session.ioBufferDuration == 256.0 / 48000)
      #expect(try graph.status()["period"] as? Int == 256)
      for wrong in [-1, 0.00001, 2, .nan, .infinity] {
        let error = try graph.expectUnchanged(session) { try session.setPreferredIOBufferDuration(wrong) }
        #expect(error?.description.contains("0.0001 to 1") == true)
      }
      let error = try graph.expectUnchanged(session) { try session.setPreferredSampleRate(-8000) }
      #expect(error?.description.contains("8000 to 192000") == true)
      try session.setActive(false)
      try graph.waitForLook()
      #expect(try graph.peers(of: "pinna:out_left") == ["others:in_1"])
      #expect(!graph.program.errorText.contains("others:in_1"), "\(graph.program.errorText)")
    }

    @Test("S15: a session that does not control the route gets the current period")
    func periodOfAnother() throws {
      let graph = try OfflineGraph(preset: "phone2", period: 128)
      let first = try graph.activeSession()
      let second = graph.session()
      try second.setCategory(.record)
      try second.setPreferredIOBufferDuration(0.02)
      #expect(try second.setActive(true).kept != nil)
      #expect(second.ioBufferDuration == 128.0 / 48000)
      withExtendedLifetime(first) {}
    }

    @Test("S15: a session becomes active although the server does not answer for the preferred period")
    func periodWithoutAnswer() throws {
      let graph = try OfflineGraph(preset: "phone2", period: 128)
      let session = graph.session()
      try session.setCategory(.record, mode: .default)
      // All that it wants is in force, for which no period is needed.
      try session.setActive(true)
      try session.setActive(false)
      try #require(try graph.pinna("set", "--output", "none").status == 0)
      try session.setPreferredIOBufferDuration(0.005)
      try graph.freeze(true)
      try session.setActive(true)
      try graph.freeze(false)
      #expect(session.isActive)
    }

    @Test(
      "S16: the mode selects the microphone, and a manual selection overrides it",
      arguments: [
        ("phone2", "Bottom", "Top", "omnidirectional"), ("phone3", "Bottom", "Back", "subcardioid"),
        ("phone5", "Bottom", "Back", "cardioid"),
      ])
    func modes(preset: String, plain: String, camera: String, pattern: String) throws {
      let graph = try OfflineGraph(preset: preset)
      func selected() throws -> [String?] {
        let status = try graph.status()
        return [status["dataSource"] as? String, status["polarPattern"] as? String]
      }
      let session = try graph.activeSession(mode: .default)
      #expect(try selected() == [plain, "omnidirectional"])
      try session.setMode(.videoRecording)
      #expect(try selected() == [camera, pattern])
      try session.activeInput?.setPreferredDataSource(session.source(plain))
      #expect(try selected() == [plain, "omnidirectional"])
      try session.setMode(.default)
      try session.setMode(.videoRecording)
      #expect(try selected() == [plain, "omnidirectional"])
      try session.activeInput?.setPreferredDataSource(nil)
      #expect(try selected() == [camera, pattern])
    }

    @Test("S17: inputs and status print the seeds' console report, and descriptions read as theirs")
    func consoleReport() throws {
      let graph = try OfflineGraph(preset: "phone3")
      let inputs = try graph.pinna("inputs").output
      #expect(
        inputs == """
          There are 3 data sources for port "Phone with three microphones" (MicrophoneBuiltIn, UID phone3)
            ID 1835216945  Bottom   omnidirectional
          * ID 1835216946  Front    omnidirectional, [cardioid]
            ID 1835216947  Back     omnidirectional, subcardioid
          Currently selected source is "Front" for port "Phone with three microphones"

          """)
      let status = try graph.pinna("status").output
      #expect(
        status.hasSuffix("Port: MicrophoneBuiltIn\nName: Front\nPolar Pattern: Cardioid\n"), "\(status)")
      let session = graph.session()
      try session.setCategory(.record)
      let port = try #require(session.availableInputs?.first)
      let hex = /0x[0-9a-f]+/
      #expect(
        port.description.replacing(hex, with: "0x")
          == "<PortDescription: 0x, type = MicrophoneBuiltIn; name = Phone with three microphones; UID = phone3; "
          + "selectedDataSource = Front>")
      #expect(
        port.dataSources?.last?.description.replacing(hex, with: "0x")
          == "<DataSourceDescription: 0x, ID = 1835216947; name = Back>")
    }
  }
}
