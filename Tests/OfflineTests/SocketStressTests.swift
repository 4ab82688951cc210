import Foundation
import LiveSupport
import Messages
import Settings
import TestSupport
import Testing
import Threads

extension OfflineTests {
  /// Many clients, long answers, and clients that have exited.
  @Suite("The control socket under load") struct SocketStressTests {
    @Test("R33: of 200 parallel requests from 200 processes, every answer belongs to its request")
    func processes() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let programs = try (0..<200).map { n in
        try Program(
          PinnaHome.binary(), ["set", "--pattern", "word-\(n)-"], environment: graph.home.environment)
      }
      let outcomes = programs.map { $0.wait(seconds: 60) }
      let right = outcomes.enumerated().count { n, outcome in
        outcome?.status == 2 && outcome?.error.contains("\"word-\(n)-\"") == true
      }
      #expect(right == 200, "\(outcomes.compactMap { $0 }.first { $0.status != 2 } as Any)")
      Faults.report(
        "R33", done: "200 requests from 200 processes: right answers", measured: "\(right)", limit: "200",
        kept: right == 200)
    }

    @Test(
      "a client that waits for a stop learns within a second that Pinna was killed",
      arguments: [["record", "stop"], ["stop"]])
    func killed(words: [String]) throws {
      let graph = try OfflineGraph(preset: "phone5")
      try #require(try graph.pinna("record", "start").status == 0)
      // Its connection has an end in Pinna that is closed a moment later.
      try #require(try waitUntil(seconds: 5) { try graph.controlConnections() == 1 })
      graph.program.signal(SIGSTOP)
      let before = try graph.controlConnections()
      let client = try Program(PinnaHome.binary(), words, environment: graph.home.environment)
      try #require(try waitUntil(seconds: 5) { try graph.controlConnections() > before })
      graph.program.signal(SIGKILL)
      let outcome = try #require(client.wait(seconds: 1), "it still waits")
      #expect(outcome.status == 4 && outcome.isOneSentence, "\(outcome)")
    }

    @Test("inputs answers with 740 physical ports")
    func manyPorts() throws {
      let graph = try OfflineGraph(preset: "phone5", period: 1024, captures: 740)
      let inputs = try graph.pinna("inputs", "--json")
      try #require(inputs.status == 0, "\(inputs)")
      #expect(try inputs.json()["inputs"].map { ($0 as? [Any])?.count ?? 0 } ?? 0 > 740)
      #expect(inputs.output.utf8.count > 65_536)
    }

    @Test("a stopped Pinna with a full queue of connections blocks no client beyond its deadline")
    func fullQueue() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let client = ControlClient(name: "pinna", environment: graph.home.environment)
      graph.program.signal(SIGSTOP)
      defer { graph.program.signal(SIGCONT) }
      var senders: [ControlSender] = []
      // Linux queues one more than the limit.
      for _ in 0...256 { senders.append(try graph.sender()) }
      let start = ContinuousClock.now
      let failure = #expect(throws: Failure.self) {
        try client.request(OSCMessage("/pinna/status"), seconds: 1)
      }
      #expect(failure?.description.contains("did not answer within 1 s") == true)
      #expect(ContinuousClock.now - start < .seconds(2))
      graph.program.signal(SIGCONT)
      #expect(try client.request(OSCMessage("/pinna/status")).status == .done)
      withExtendedLifetime(senders) {}
    }

    @Test(
      "300 clients that connect and send nothing delay others by a second, until their connections may be closed"
    )
    func silentClients() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let program = try graph.sender()
      try #require(program.openSession("program", claims: true) != nil)
      let senders = try (0..<300).map { _ in try graph.sender() }
      let start = ContinuousClock.now
      #expect(try graph.status()["controller"] as? String == "program")
      let took = ContinuousClock.now - start
      #expect(took < Faults.patience(.milliseconds(1500)), "\(took)")
      #expect(try graph.pinna("status").status == 0)
      withExtendedLifetime((program, senders)) {}
    }

    /// Open descriptors, resident memory in kB, and files in the socket folder.
    func footprint(_ graph: OfflineGraph) throws -> (descriptors: Int, memory: Int, files: Int) {
      let files = FileManager.default.subpaths(atPath: graph.home.runtimeFolder + "/pinna") ?? []
      return (try graph.program.openDescriptors(), try graph.program.residentMemory(), files.count)
    }

    /// As soon as it stays the same for 300 ms: Pinna closes a connection when it next looks at it, which may be after
    /// the client has gone.
    func settledFootprint(_ graph: OfflineGraph) throws -> (descriptors: Int, memory: Int, files: Int) {
      var last: (descriptors: Int, memory: Int, files: Int)?
      _ = try waitUntil(seconds: 5, every: 300) {
        let now = try footprint(graph)
        defer { last = now }
        return now.descriptors == last?.descriptors
      }
      return try #require(last)
    }

    @Test(
      "R45: 10 000 clients with their own connections, a tenth of them killed, leave nothing behind", .nightly
    )
    func oneTimeClients() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let client = ControlClient(name: "pinna", environment: graph.home.environment)
      func askOften(_ count: Int) throws {
        for n in 0..<count {
          if n % 10 == 0 {
            // Gone before it has read its answer.
            try graph.sender().send("/pinna/status")
          } else {
            #expect(try client.request(OSCMessage("/pinna/status")).status == .done)
          }
        }
      }
      try askOften(1000)
      let before = try settledFootprint(graph)
      try askOften(9000)
      let start = ContinuousClock.now
      #expect(try client.request(OSCMessage("/pinna/status")).status == .done)
      let answered = ContinuousClock.now - start
      let after = try settledFootprint(graph)
      #expect(after.descriptors == before.descriptors)
      #expect(after.files <= 2, "\(after)")
      #expect(after.memory - before.memory <= 1024, "\(before) to \(after)")
      #expect(answered < Faults.patience(.milliseconds(100)), "\(answered)")
      Faults.report(
        "R45", done: "10000 control clients, a tenth killed: descriptors, files, memory more",
        measured:
          "\(after.descriptors - before.descriptors), \(after.files - 2), \(after.memory - before.memory) kB",
        limit: "0, ≤ 0, ≤ 1024 kB",
        kept: after.descriptors == before.descriptors && after.files <= 2
          && after.memory - before.memory <= 1024)
      Faults.report(
        "R45", done: "status after 10000 control clients", took: answered, limit: .milliseconds(100))
    }
  }
}

extension OfflineGraph {
  /// Entries of the kernel for the control socket: the one that listens, and one for each connection.
  func controlConnections() throws -> Int {
    // Foundation takes a part of it for all.
    try #require(SmallFile.text("/proc/net/unix")).split(separator: "\n")
      .count { $0.hasSuffix(home.runtimeFolder + "/pinna/pinna.sock") }
  }
}
