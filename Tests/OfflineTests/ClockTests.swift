import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  @Suite("The wall clock") struct ClockTests {
    @Test(
      "R22: wall clock jumps of an hour affect neither takes, file names, timers nor reconnecting",
      .enabled(if: Preload.compiler != nil, "there is no C compiler for the jumping clock"))
    func jumps() throws {
      let home = try PinnaHome()
      let clock = try JumpingClock(home: home)
      let graph = try OfflineGraph(
        preset: "phone5", home: home, environment: clock.environment)
      var names = Set<String>()
      var worst = 0.0
      for jump in [3600, -3600, 0] {
        let beforeStart = try graph.frame()
        let start = try graph.pinna("record", "start", "--json")
        let afterStart = try graph.frame()
        try #require(start.status == 0, "\(start)")
        try graph.waitForTake(frames: 9600)
        try clock.set(seconds: jump)
        try graph.waitForTake(frames: 24_000)
        #expect(try graph.status()["state"] as? String == "recording")
        let (asked, beforeStop) = (ContinuousClock.now, try graph.frame())
        let stop = try graph.pinna("record", "stop", "--json")
        #expect(ContinuousClock.now - asked < Faults.patience(.milliseconds(500)))
        let frames = try #require(try stop.json()["frames"] as? Int)
        let possible = try beforeStop - afterStart...graph.frame() - beforeStart
        worst = max(worst, Double(max(possible.lowerBound - frames, frames - possible.upperBound)) / 48_000)
        names.insert(try #require(try stop.json()["take"] as? String))
        #expect(try graph.pinna("set", "--gain", "-3").status == 0)
      }
      #expect(worst < 0.25, "\(worst) s")
      #expect(names.count == 3 && names.allSatisfy { FileManager.default.fileExists(atPath: $0) })
      try clock.set(seconds: -3600)
      try graph.killServer()
      #expect(
        try waitUntil(seconds: Faults.patience(.seconds(2)) / .seconds(1)) {
          try graph.status()["server"] as? String == "gone"
        })
      try clock.set(seconds: 3600)
      graph.restartServer()
      #expect(
        try waitUntil(seconds: Faults.patience(.seconds(2)) / .seconds(1)) {
          try graph.status()["server"] as? String == "running"
        })
      Faults.report(
        "R22", done: "wall clock an hour on and back during takes: lengths against the graph's frames",
        measured: String(format: "%.0f ms apart", max(0, 1000 * worst)), limit: "< 250 ms", kept: worst < 0.25
      )
    }
  }
}
