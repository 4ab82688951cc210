import Foundation
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("Servers that die at the worst moment") struct StandstillTests {
    enum Moment: String, CaseIterable { case device, takeStart, takeEnd, reconnect }

    @Test(
      "R42: Pinna recovers from jackd killed in any millisecond of a device change, take start or end, or reconnect",
      arguments: Moment.allCases)
    func killed(_ moment: Moment) throws {
      let delays = Faults.areHeavy ? Array(stride(from: 0, through: 96, by: 4)) : [6, 30]
      let home = try PinnaHome()
      try home.addPair()
      let graph = try LiveGraph(preset: "phone5", home: home)
      let devices = [["bottom-left", "bottom-right", "front", "back", "top"], ["left-end", "right-end"]]
      var back = 0
      for delay in delays {
        try #require(try waitUntil(seconds: 5) { try graph.status()["server"] as? String == "running" })
        let sender = try graph.sender()
        let before = try graph.status()["device"] as? String
        switch moment {
        case .device: sender.send("/pinna/preset/use", before == "pair" ? "phone5" : "pair")
        case .takeStart: sender.send("/pinna/record/start", home.takesFolder)
        case .takeEnd:
          _ = try graph.startTake()
          sender.send("/pinna/record/stop")
        case .reconnect:
          graph.killServer()
          try graph.restartServer()
        }
        // The moment at which the server is killed.
        _ = waitUntil(seconds: Double(delay) / 1000, every: 1) { false }
        graph.killServer()
        if moment != .reconnect {
          let answer = sender.reply(seconds: 5)
          #expect(answer.map { [0, 1, 3, 7].contains($0.status) } ?? false, "\(delay) ms: \(answer as Any)")
        }
        try #require(
          try waitUntil(seconds: 5) { try graph.status()["server"] as? String == "gone" }, "\(delay) ms")
        try graph.restartServer()
        let isBack = try waitUntil(seconds: 5) { try graph.status()["server"] as? String == "running" }
        #expect(isBack, "\(delay) ms")
        let status = try graph.status()
        #expect(status["state"] as? String == "stopped", "\(delay) ms")
        let names = try graph.microphones()
        #expect(devices.contains(names), "\(delay) ms: \(names)")
        #expect(names.allSatisfy { graph.hasPort("pinna:\($0)") }, "\(delay) ms")
        let change = try graph.pinna("set", "--gain", "-\(delay % 60)")
        #expect(change.status == 0, "\(delay) ms: \(change)")
        if isBack, change.status == 0 { back += 1 }
      }
      Faults.report(
        "R42", done: "jackd killed in the middle of \(moment): back", measured: "\(back)",
        limit: "\(delays.count)", kept: back == delays.count, isWhole: Faults.areHeavy)
    }
  }
}
