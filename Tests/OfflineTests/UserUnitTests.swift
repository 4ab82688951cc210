import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  /// The commands of the user units, started as systemd starts them.
  @Suite("The user units") struct UserUnitTests {
    @Test(
      "a Pinna that the unit for JACK starts waits for a server, and begins with the last setting, even after a crash"
    )
    func jack() throws {
      let home = try PinnaHome()
      let server = try OfflineServer(home: home, isRunning: false)
      let unit = try UserUnit(
        "pinna.service", home: home,
        environment: server.environment.merging(["JACK_DEFAULT_SERVER": server.name]) { $1 })
      let program = try unit.start()
      // It waits.
      try #require(try waitUntil(seconds: 30) { try unit.status() != nil }, "\(program.errorText)")
      #expect(try !unit.runs())
      server.start()
      try unit.expectLastSetting(program)
    }
  }
}
