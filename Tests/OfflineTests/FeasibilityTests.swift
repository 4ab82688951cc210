import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Selections that cannot work are not offered") struct FeasibilityTests {
    /// A vertical line in the free field, so that its design takes a second.
    static let device = """
      title: Microphones above one another
      body: free
      microphones:
        lowest: [0, -75, 0]
        low: [0, -25, 0]
        high: [0, 25, 0]
        highest: [0, 75, 0]
      dataSources:
        Front:
          forward: +z
          microphones: [high]
          polarPatterns: [omnidirectional, stereo]
          stereoOrientations: [portrait, landscapeLeft]
      """

    static func preset(_ orientation: String) -> String {
      """
      title: Stereo of a column
      device: column
      dataSource: Front
      polarPattern: stereo
      inputOrientation: \(orientation)
      """
    }

    func home() throws -> PinnaHome {
      let home = try PinnaHome()
      try home.folder.write(Self.device, to: "config/pinna/devices/column.yaml")
      try home.folder.write(Self.preset("portrait"), to: "config/pinna/upright.yaml")
      try home.folder.write(Self.preset("landscapeLeft"), to: "config/pinna/lying.yaml")
      return home
    }

    func expectRefused(_ outcome: Program.Outcome, at location: SourceLocation = #_sourceLocation) {
      #expect(outcome.status == 6, "\(outcome)", sourceLocation: location)
      for words in [
        "Front", "stereo in portrait", "a voice from a side is heard only 0° towards it",
        "0.0 dB in every octave",
        "it offers omnidirectional, stereo in landscapeLeft",
      ] {
        #expect(outcome.error.contains(words), "\(outcome)", sourceLocation: location)
      }
    }

    @Test(
      "render and run refuse a preset that is not offered, with status 6 and the reason, and write nothing")
    func ownSelection() throws {
      let home = try home()
      let input = home.folder.path + "/mics.wav"
      try AudioClip(sampleRate: 48_000, channels: [[Float]](repeating: [0.5, 0.25], count: 4)).write(
        wav: input)
      expectRefused(try home.pinna("render", "--preset", "upright", input, home.folder.path + "/out.wav"))
      #expect(!FileManager.default.fileExists(atPath: home.folder.path + "/out.wav"))
      #expect(
        try home.pinna("render", "--preset", "lying", input, home.folder.path + "/out.wav").status == 0)
      let server = try OfflineServer(home: home)
      let program = try home.start(["--preset", "upright", "--server", server.name], server.environment)
      expectRefused(try #require(program.wait(seconds: 60)))
    }

    @Test(
      "a running Pinna lists what is offered, gives a reason for the rest, and keeps its state on a refusal")
    func running() throws {
      let graph = try OfflineGraph(preset: "lying", home: try home())
      let inputs = try #require(try graph.pinna("inputs", "--json").json()["inputs"] as? [[String: Any]])
      let source = try #require((inputs.first?["dataSources"] as? [[String: Any]])?.first)
      #expect(source["supportedPolarPatterns"] as? [String] == ["omnidirectional", "stereo"])
      #expect(source["stereoOrientations"] as? [String] == ["landscapeLeft"])
      let refusal = try #require((source["notOffered"] as? [[String: Any]])?.first)
      #expect(Set(refusal.keys) == ["polarPattern", "inputOrientation", "reason"])
      #expect(refusal["polarPattern"] as? String == "stereo")
      #expect(refusal["inputOrientation"] as? String == "portrait")
      #expect((refusal["reason"] as? String)?.contains("0.0 dB in every octave") == true)
      #expect(try graph.pinna("inputs").output.contains("no stereo in portrait: a voice from a side"))

      let before = try graph.status()["inputOrientation"] as? String
      expectRefused(try graph.pinna("set", "--orientation", "portrait"))
      expectRefused(try graph.pinna("preset", "use", "upright"))
      #expect(try graph.status()["inputOrientation"] as? String == before)
      #expect(try graph.status()["preset"] as? String == "lying")

      // The same from another device, and before its microphones are replaced.
      try #require(try graph.pinna("preset", "use", "phone5").status == 0)
      let microphones = try graph.microphones()
      expectRefused(try graph.pinna("preset", "use", "upright"))
      #expect(try graph.microphones() == microphones)
      #expect(try graph.status()["preset"] as? String == "phone5")
    }
  }
}
