import Foundation
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  /// The commands of the user units, started as systemd starts them. That for JACK is in OfflineTests.
  @Suite("The user units") struct UserUnitTests {
    @Test(
      "a Pinna that the unit for PipeWire starts begins with the last setting, even after a crash",
      .enabled(if: PrivatePipeWire.isInstalled, "PipeWire is not installed"))
    func pipeWire() throws {
      let server = try PrivatePipeWire()
      defer { server.stop() }
      let unit = try UserUnit(
        "pinna-pipewire.service", home: try PinnaHome(), environment: ["PIPEWIRE_REMOTE": server.name])
      try unit.expectLastSetting(unit.start())
    }
  }
}
