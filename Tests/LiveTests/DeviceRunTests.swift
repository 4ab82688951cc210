import Foundation
import JackTools
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("pinna run --device") struct DeviceRunTests {
    /// The tree of `/proc/asound` with a ReSpeaker USB v2 that sends its microphones.
    static var environment: [String: String] {
      let folder = try! SoundCards.folder("respeaker-6")
      return ["PINNA_PROC_ASOUND": folder + "/asound", "PINNA_SYSFS": folder + "/sysfs"]
    }

    func sources(_ server: PrivateServer, _ microphone: String) throws -> [String] {
      let outcome = try Program.run("/usr/bin/jack_lsp", ["-s", server.name, "-c", "pinna:\(microphone)"])
      return outcome.output.split(separator: "\n").filter { $0.hasPrefix(" ") }.map {
        $0.trimmingCharacters(in: .whitespaces)
      }
    }

    @Test("auto runs the array that is plugged in, in stereo, on the capture channels of the product")
    func auto() throws {
      let server = try PrivateServer(
        name: LiveGraph.uniqueName(), sampleRate: 16000, period: 128, synchronous: false, captures: 6,
        playbacks: 2)
      defer { server.stop() }
      let home = try PinnaHome()
      let program = try home.start(
        ["--server", server.name, "--device", "auto", "--connect"], Self.environment)
      defer { program.stop() }
      let isUp = waitUntil(seconds: 120) {
        !program.isRunning || (try? home.pinna("set", "--gain", "0"))?.status == 0
      }
      try #require(isUp && program.isRunning, "\(program.errorText)")
      let status = try home.pinna("status", "--json").json()
      #expect(status["device"] as? String == "respeaker-usb-v2", "\(status)")
      #expect(status["preset"] as? String == "respeaker-usb-v2")
      #expect(status["polarPattern"] as? String == "stereo" && status["dataSource"] as? String == "Front")
      for n in 1...4 { #expect(try sources(server, "mic-\(n)") == ["system:capture_\(n + 1)"]) }
    }

    @Test("a preset of a product is connected by its capture channels, others in order")
    func presets() throws {
      let graph = try LiveGraph(preset: "phone5", options: ["--connect"], captures: 6, playbacks: 2)
      #expect(try graph.pinna("preset", "use", "respeaker-usb-v2").status == 0)
      let ports = try graph.ports("-c")
      for n in 1...4 { #expect(ports["pinna:mic-\(n)"] == ["system:capture_\(n + 1)"]) }
      #expect(try graph.pinna("preset", "use", "phone5").status == 0)
      #expect(try graph.ports("-c")["pinna:bottom-left"] == ["system:capture_1"])
    }
  }
}
