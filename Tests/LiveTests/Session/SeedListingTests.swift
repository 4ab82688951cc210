import Foundation
import LiveSupport
import TestSupport
import Testing

private let seeds = repositoryFolder + "/../shared/seeds"

extension LiveTests {
  @Suite("S24: the seeds' listings") struct SeedListingTests {
    /// Runs a listing as a separate program and returns its output with masked addresses.
    func run(_ listing: String, _ graph: LiveGraph) throws -> String {
      let program = try URL(filePath: PinnaHome.binary()).deletingLastPathComponent()
        .appending(path: "SeedListings").path
      let outcome = try Program.run(program, [listing], environment: graph.home.environment)
      try #require(outcome.status == 0, "\(outcome)")
      return outcome.output.replacing(/0x[0-9a-f]+/, with: "0x")
    }

    /// The seeds' iPhone 5, with the names that their console shows.
    func iPhone() throws -> PinnaHome {
      let home = try PinnaHome()
      let phone = try String(
        contentsOfFile: repositoryFolder + "/Presets/devices/phone3.yaml", encoding: .utf8)
      try home.folder.write(
        phone.replacing(/title: .*/, with: "title: iPhone Microphone\nuid: Built-In Microphone"),
        to: "config/pinna/devices/iphone5.yaml")
      let preset = try String(contentsOfFile: repositoryFolder + "/Presets/phone3.yaml", encoding: .utf8)
      try home.folder.write(
        preset.replacing("device: phone3", with: "device: iphone5"), to: "config/pinna/iphone5.yaml")
      return home
    }

    @Test("003: microphone selection prints what the seed prints, and the front microphone is in use")
    func microphoneSelection() throws {
      let graph = try LiveGraph(preset: "iphone5", home: try iPhone())
      let expected = """
        There are 3 data sources for port :"<PortDescription: 0x, type = MicrophoneBuiltIn; name = iPhone Microphone; UID = Built-In Microphone; selectedDataSource = Bottom>"
        (
            "<DataSourceDescription: 0x, ID = 1835216945; name = Bottom>",
            "<DataSourceDescription: 0x, ID = 1835216946; name = Front>",
            "<DataSourceDescription: 0x, ID = 1835216947; name = Back>"
        )
        Currently selected source is "Bottom" for port "iPhone Microphone"
        Attempting to select source "<DataSourceDescription: 0x, ID = 1835216946; name = Front>" on port "iPhone Microphone"

        """
      #expect(try run("input-selection", graph) == expected)
      #expect(try graph.status()["dataSource"] as? String == "Front")
      // The expectation is the seed's own console output.
      if let seed = try? String(contentsOfFile: seeds + "/003_cdd0bf4fdae388ea.txt", encoding: .utf8) {
        let start = try #require(seed.range(of: "There are 3 data sources"))
        let end = try #require(seed.range(of: "To change the output side"))
        let console = seed[start.lowerBound..<end.lowerBound].replacing("AVAudioSession", with: "")
          .replacing(/0x[0-9a-f]+/, with: "0x").trimmingCharacters(in: .whitespacesAndNewlines)
        // The page's last quotation mark is a garbled typographic one.
        #expect(
          console.dropLast(3).hasPrefix(expected.dropLast(2)) || expected.hasPrefix(console.dropLast(3)))
      }
    }

    @Test(
      "002: selecting the front microphone with a cardioid prints port, name and pattern as the seed does")
    func frontCardioid() throws {
      let graph = try LiveGraph(preset: "phone3")
      let output = try run("front-cardioid", graph)
      #expect(
        output.hasSuffix("Port: MicrophoneBuiltIn\nName: Front\nPolar Pattern: Cardioid\n"), "\(output)")
      let status = try graph.status()
      #expect(status["dataSource"] as? String == "Front" && status["polarPattern"] as? String == "cardioid")
    }

    @Test(
      "002: preferred hardware values are set and read back, and the block for other hardware is left out")
    func hardwareValues() throws {
      let graph = try LiveGraph(preset: "phone3", period: 128)
      #expect(
        try run("hardware-values", graph)
          == "Audio Session ioBufferDuration: \(256.0 / 48000), sampleRate: 48000.0\n")
      #expect(try run("conditional", graph) == "simulator\n")
    }

    @Test("000, 004: every recording option and orientation answers with its layout")
    func capturingStereo() throws {
      let graph = try LiveGraph(preset: "phone5")
      let (upright, lying) = (["left", "right"], ["top", "bottom"])
      func line(_ name: String, _ orientation: String, _ edges: [String], swapped: Bool) -> String {
        let (left, right) = swapped ? (edges[1], edges[0]) : (edges[0], edges[1])
        return "\(name), \(orientation): left \(left), right \(right); stereo: true\n"
      }
      var expected = ""
      for name in ["Front", "Back"] {
        let isFront = name == "Front"
        expected += line(name, "portrait", upright, swapped: isFront)
        expected += line(name, "portraitUpsideDown", upright, swapped: !isFront)
        expected += line(name, "landscapeLeft", lying, swapped: !isFront)
        expected += line(name, "landscapeRight", lying, swapped: isFront)
      }
      // Bottom has no choice of patterns, and Nosuch does not exist.
      for name in ["Bottom", "Nosuch"] {
        for orientation in ["portrait", "portraitUpsideDown", "landscapeLeft", "landscapeRight"] {
          expected += "\(name), \(orientation): none; stereo: true\n"
        }
      }
      #expect(try run("capturing-stereo", graph) == expected)
      let phone3 = try run("capturing-stereo", LiveGraph(preset: "phone3"))
      #expect(phone3.split(separator: "\n").allSatisfy { $0.hasSuffix(": none; stereo: false") }, "\(phone3)")
    }

    @Test("001: the view follows every orientation, but not while recording")
    func recordStereo() throws {
      let graph = try LiveGraph(preset: "phone5", synchronous: true)
      let lines = try run("record-stereo", graph).split(separator: "\n")
      // Activated with the default mode: the bottom microphone.
      #expect(lines.first == "channels: 1")
      #expect(lines.count == 10 && Set(lines.dropFirst().dropLast()).count == 8)
      #expect(lines.contains("Back, landscapeRight: left top, right bottom"))
      #expect(lines.last == "recording: left top, right bottom")
    }

    @Test(
      "000, 004: the listings are transcribed line by line",
      .enabled(if: FileManager.default.isReadableFile(atPath: seeds), "\(seeds) is not there"))
    func transcription() throws {
      func dense(_ text: some StringProtocol) -> String { String(text.filter { !$0.isWhitespace }) }
      let ours = dense(
        try String(
          contentsOfFile: repositoryFolder + "/Tests/SeedListings/CapturingStereo.swift", encoding: .utf8))
      for (file, fence) in [("000_cc302bf6b77bfc50.txt", "```"), ("004_edc024ce24578a12.txt", "``` swift")] {
        let parts = try String(contentsOfFile: "\(seeds)/\(file)", encoding: .utf8)
          .components(separatedBy: fence + "\n")
        let listings = parts.dropFirst().compactMap { $0.components(separatedBy: "```").first }
          .filter { $0.contains("func ") }
        #expect(listings.count == 3)
        for listing in listings {
          #expect(
            ours.contains(dense(listing.replacing("AVAudioSession", with: "AudioSession"))), "\(listing)")
        }
      }
    }
  }
}
