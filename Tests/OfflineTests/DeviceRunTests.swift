import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  @Suite("pinna run --device") struct DeviceRunTests {
    /// The tree of `/proc/asound` with a ReSpeaker USB v2 that sends its microphones.
    static var environment: [String: String] {
      let folder = try! SoundCards.folder("respeaker-6")
      return ["PINNA_PROC_ASOUND": folder + "/asound", "PINNA_SYSFS": folder + "/sysfs"]
    }

    @Test("auto runs the array that is plugged in, in stereo, on the capture channels of the product")
    func auto() throws {
      let home = try PinnaHome()
      let server = try OfflineServer(home: home, sampleRate: 16000, captures: 6, playbacks: 2)
      let program = try home.start(
        ["--server", server.name, "--device", "auto", "--connect"],
        server.environment.merging(Self.environment) { $1 })
      defer { program.stop() }
      let isUp = waitUntil(seconds: 120) {
        !program.isRunning || (try? home.pinna("set", "--gain", "0"))?.status == 0
      }
      try #require(isUp && program.isRunning, "\(program.errorText)")
      let status = try home.pinna("status", "--json").json()
      #expect(status["device"] as? String == "respeaker-usb-v2", "\(status)")
      #expect(status["preset"] as? String == "respeaker-usb-v2")
      #expect(status["polarPattern"] as? String == "stereo" && status["dataSource"] as? String == "Front")
      for n in 1...4 { #expect(try server.peers(of: "pinna:mic-\(n)") == ["system:capture_\(n + 1)"]) }
    }

    @Test("a preset of a product is connected by its capture channels, others in order")
    func presets() throws {
      let graph = try OfflineGraph(preset: "phone5", options: ["--connect"], captures: 6, playbacks: 2)
      #expect(try graph.pinna("preset", "use", "respeaker-usb-v2").status == 0)
      for n in 1...4 { #expect(try graph.peers(of: "pinna:mic-\(n)") == ["system:capture_\(n + 1)"]) }
      #expect(try graph.pinna("preset", "use", "phone5").status == 0)
      #expect(try graph.peers(of: "pinna:bottom-left") == ["system:capture_1"])
    }
  }
}
