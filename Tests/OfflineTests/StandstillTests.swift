import Foundation
import LiveSupport
import Messages
import TestSupport
import Testing

extension OfflineTests {
  /// The deaths of real servers are in `LiveTests`.
  @Suite("Servers that stall at the worst moment") struct StandstillTests {
    @Test(
      "R28: every request sent while jackd stalls is answered once, and nothing is locked, reverted or busy afterwards",
      .long
    )
    func everyRequest() throws {
      let home = try PinnaHome()
      try home.addPair()
      let graph = try OfflineGraph(preset: "phone5", home: home)
      let sender = try graph.sender()
      try graph.freeze(true)
      defer { try? graph.freeze(false) }
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
      try graph.freeze(false)
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
      let path = try graph.startTake(frames: 4800)
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 0 && FileManager.default.fileExists(atPath: path), "\(stop)")
      #expect(try graph.pinna("preset", "use", "pair").status == 0)
      let status = try graph.status()
      #expect(status["device"] as? String == "pair" && status["gainDB"] as? Double == 0)
      #expect(try graph.microphones() == ["left-end", "right-end"])
      Faults.report(
        "R28", done: "jackd stopped, \(requested.count) requests: answered once",
        measured: "\(answers.count - twice.count)",
        limit: "\(requested.count)", kept: answers.count == requested.count && twice.isEmpty)
    }
  }
}
