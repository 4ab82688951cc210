import Foundation
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("The wall clock") struct ClockTests {
    @Test(
      "R22: wall clock jumps of an hour affect neither takes, file names, timers nor reconnecting",
      .enabled(if: Preload.compiler != nil, "there is no C compiler for the jumping clock"))
    func jumps() throws {
      let home = try PinnaHome()
      let clock = try JumpingClock(home: home)
      let graph = try LiveGraph(
        preset: "phone5", synchronous: true, home: home, environment: clock.environment)
      var names = Set<String>()
      var worst = 0.0
      for jump in [3600, -3600, 0] {
        let start = try graph.pinna("record", "start", "--json")
        let began = ContinuousClock.now
        try #require(start.status == 0, "\(start)")
        try graph.waitForTake(frames: 9600)
        try clock.set(seconds: jump)
        try graph.waitForTake(frames: 24_000)
        let asked = ContinuousClock.now
        #expect(try graph.status()["state"] as? String == "recording")
        let stop = try graph.pinna("record", "stop", "--json")
        #expect(ContinuousClock.now - asked < Faults.patience(.milliseconds(500)))
        let frames = try #require(try stop.json()["frames"] as? Int)
        worst = max(worst, abs(Double(frames) / 48_000 - (asked - began) / .seconds(1)))
        names.insert(try #require(try stop.json()["take"] as? String))
        #expect(try graph.pinna("set", "--gain", "-3").status == 0)
      }
      // Starting the command line takes part of this on a busy machine.
      #expect(worst < 0.25, "\(worst) s")
      #expect(names.count == 3 && names.allSatisfy { FileManager.default.fileExists(atPath: $0) })
      try clock.set(seconds: -3600)
      graph.killServer()
      #expect(try waitUntil(seconds: 2) { try graph.status()["server"] as? String == "gone" })
      try clock.set(seconds: 3600)
      try graph.restartServer()
      #expect(try waitUntil(seconds: 2) { try graph.status()["server"] as? String == "running" })
      Faults.report(
        "R22", done: "wall clock an hour on and back during takes: lengths against the monotonic clock",
        measured: String(format: "%.0f ms apart", 1000 * worst), limit: "< 250 ms", kept: worst < 0.25)
    }
  }
}
