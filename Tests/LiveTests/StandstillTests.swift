import Foundation
import LiveSupport
import Messages
import TestSupport
import Testing

extension LiveTests {
  @Suite("Servers that stall or die at the worst moment") struct StandstillTests {
    @Test(
      "R28: every request sent while jackd stalls is answered once, and nothing is locked, reverted or busy afterwards"
    )
    func everyRequest() throws {
      let home = try PinnaHome()
      try home.addPair()
      let graph = try LiveGraph(preset: "phone5", home: home)
      let sender = try graph.sender()
      kill(graph.server.pid, SIGSTOP)
      defer { kill(graph.server.pid, SIGCONT) }
      // More changes than the queue to the callback holds, then every other method, each with a number of its
      // own.
      var requested: Set<String> = []
      var answers: [String: [Int32]] = [:]
      func receiveAnswer(_ seconds: Double) {
        guard let message = sender.message(seconds: seconds), message.path == "/pinna/reply" else { return }
        guard case .integer(let status)? = message.arguments.first,
          case .string(let number)? = message.arguments.last
        else { return }
        answers[number, default: []].append(status)
      }
      func request(_ method: String, _ words: String...) {
        let number = "#\(requested.count)"
        requested.insert(number)
        sender.send(OSCMessage(method, (words + [number]).map { .string($0) }).packet)
        receiveAnswer(0.001)
      }
      for n in 0..<300 { request("/pinna/set/gain", "\(-Double(n) / 10)") }
      request("/pinna/record/start", home.takesFolder)
      request("/pinna/set/pattern", "cardioid")
      request("/pinna/record/stop")
      for method in OSCMethod.all where !method.path.contains("stop") && !method.path.contains("session") {
        request(method.path, "pair")
      }
      request("/pinna/preset/use", "pair")
      request("/pinna/preset/cancel")
      request("/pinna/play/stop")
      request("/pinna/record/stop")
      request("/pinna/set", "mute", "off", "gain", "-3")
      let end = ContinuousClock.now + .seconds(20)
      while answers.count < requested.count, .now < end { receiveAnswer(0.1) }
      #expect(Set(answers.keys) == requested, "not answered: \(requested.subtracting(answers.keys).sorted())")
      #expect(try graph.status()["server"] as? String == "stalled")
      kill(graph.server.pid, SIGCONT)
      try #require(try waitUntil(seconds: 5) { try graph.status()["server"] as? String == "running" })
      // No request is answered twice, however late.
      for _ in 0..<10 { receiveAnswer(0.1) }
      let twice = answers.filter { $0.value.count != 1 }
      #expect(twice.isEmpty, "\(twice)")
      // The status is true, and everything works again.
      #expect(try graph.status()["state"] as? String == "stopped")
      for words in [["set", "--pattern", "cardioid", "--gain", "-6"], ["set", "--mute", "off"]] {
        let outcome = try graph.home.pinna(words)
        #expect(outcome.status == 0, "\(words): \(outcome)")
      }
      let path = try graph.startTake()
      try graph.waitForTake(frames: 4800)
      let stop = try graph.pinna("record", "stop")
      #expect([0, 7].contains(stop.status) && FileManager.default.fileExists(atPath: path), "\(stop)")
      #expect(try graph.pinna("preset", "use", "pair").status == 0)
      let status = try graph.status()
      #expect(status["device"] as? String == "pair" && status["gainDB"] as? Double == 0)
      #expect(try graph.microphones() == ["left-end", "right-end"])
      Faults.report(
        "R28", done: "jackd stopped, \(requested.count) requests: answered once",
        measured: "\(answers.count - twice.count)",
        limit: "\(requested.count)", kept: answers.count == requested.count && twice.isEmpty)
    }

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
        usleep(UInt32(delay * 1000))
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
