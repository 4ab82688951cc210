import Acoustics
import LiveSupport
import TestSupport
import Testing

extension OfflineGraph {
  /// What a program of Tests/SessionPrograms prints in this graph.
  func output(of program: String) throws -> String {
    try output(ofProgramAt: PinnaHome.built("session-programs"), [program])
  }

  /// What a program that uses the session library prints in this graph, with its objects' addresses masked.
  func output(ofProgramAt path: String, _ arguments: [String]) throws -> String {
    let outcome = try Program.run(path, arguments, environment: home.environment)
    try #require(outcome.status == 0, "\(outcome)")
    return outcome.output.replacing(/0x[0-9a-f]+/, with: "0x")
  }
}

extension PinnaHome {
  /// A home with the preset "handheld": phone3 under another name.
  static func handheld(title: String, uid: String) throws -> PinnaHome {
    let home = try PinnaHome()
    let presets = repositoryFolder + "/Presets/"
    let device = try String(contentsOfFile: presets + "devices/phone3.yaml", encoding: .utf8)
    try home.folder.write(
      device.replacing(/title: .*/, with: "title: \(title)\nuid: \(uid)"),
      to: "config/pinna/devices/handheld.yaml")
    let preset = try String(contentsOfFile: presets + "phone3.yaml", encoding: .utf8)
    try home.folder.write(
      preset.replacing("device: phone3", with: "device: handheld"), to: "config/pinna/handheld.yaml")
    return home
  }
}

extension OfflineTests {
  @Suite("S24: Programs that use the session library") struct SessionProgramTests {
    @Test("S24: a program lists the microphones, and the front one that it selects is in use")
    func frontMicrophone() throws {
      let graph = try OfflineGraph(preset: "handheld", home: .handheld(title: "Handheld", uid: "Handheld 1"))
      func source(_ name: String, _ number: Int) -> String {
        "<DataSourceDescription: 0x, ID = \(1_835_216_945 + number); name = \(name)>"
      }
      #expect(
        try graph.output(of: "front-microphone") == """
          choices: 3
          input: <PortDescription: 0x, type = MicrophoneBuiltIn; name = Handheld; UID = Handheld 1; \
          selectedDataSource = Bottom>
          choice: \(source("Bottom", 0))
          choice: \(source("Front", 1))
          choice: \(source("Back", 2))
          before: Bottom of Handheld
          wanted: \(source("Front", 1)) of Handheld

          """)
      #expect(try graph.status()["dataSource"] as? String == "Front")
    }

    @Test("S24: a program reads back the hardware values that it got")
    func hardware() throws {
      let graph = try OfflineGraph(preset: "phone3", period: 128)
      #expect(try graph.output(of: "hardware") == "period: \(256.0 / 48000), rate: 48000.0\n")
    }

    @Test("S24: a program that aims a cardioid with the front microphone finds both in the route")
    func cardioid() throws {
      let graph = try OfflineGraph(preset: "phone3")
      let output = try graph.output(of: "cardioid")
      #expect(output.hasSuffix("\ninput: MicrophoneBuiltIn\nsource: Front\npattern: Cardioid\n"), "\(output)")
      let status = try graph.status()
      #expect(status["dataSource"] as? String == "Front" && status["polarPattern"] as? String == "cardioid")
    }

    @Test("S24: each data source in each orientation answers with its edges, or has none")
    func stereo() throws {
      var expected: [String] = []
      for name in ["Front", "Back", "Bottom", "Elsewhere"] {
        for orientation in InputOrientation.allCases {
          let edges: (String, String)? =
            switch (name, orientation) {
            case ("Back", .portrait), ("Front", .portraitUpsideDown): ("left", "right")
            case ("Front", .portrait), ("Back", .portraitUpsideDown): ("right", "left")
            case ("Back", .landscapeRight), ("Front", .landscapeLeft): ("top", "bottom")
            case ("Front", .landscapeRight), ("Back", .landscapeLeft): ("bottom", "top")
            default: nil
            }
          let text = edges.map { "left \($0), right \($1), stereo: true" } ?? "no edges, stereo: false"
          expected.append("\(name), \(orientation.rawValue): \(text)")
        }
      }
      #expect(try lines("stereo", OfflineGraph(preset: "phone5")) == expected)
      let mono = try lines("stereo", OfflineGraph(preset: "phone3"))
      #expect(mono.count == 16 && mono.allSatisfy { $0.hasSuffix(": no edges, stereo: false") }, "\(mono)")
    }

    @Test("S24: a recorder's left and right follow every orientation, but not during a recording")
    func recorder() throws {
      let lines = try lines("recorder", OfflineGraph(preset: "phone5"))
      // The default mode selects the bottom microphone.
      #expect(lines.first == "channels: 1")
      #expect(lines.count == 10 && Set(lines.dropFirst().dropLast()).count == 8, "\(lines)")
      #expect(lines.contains("Back, landscapeRight: left top, right bottom, stereo: true"))
      #expect(lines.last == "recording: left top, right bottom, stereo: true")
    }

    private func lines(_ program: String, _ graph: OfflineGraph) throws -> [String] {
      try graph.output(of: program).split(separator: "\n").map(String.init)
    }
  }
}
