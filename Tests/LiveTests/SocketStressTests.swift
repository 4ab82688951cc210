import Foundation
import LiveSupport
import Messages
import TestSupport
import Testing

extension LiveTests {
  /// Many clients, large answers, and clients that have exited.
  @Suite("The control socket under load") struct SocketStressTests {
    @Test("R33: of 200 parallel requests from 200 processes, every answer belongs to its request")
    func processes() throws {
      let graph = try LiveGraph(preset: "phone5")
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
      let graph = try LiveGraph(preset: "phone5")
      try #require(try graph.pinna("record", "start").status == 0)
      graph.program.signal(SIGSTOP)
      let client = try Program(PinnaHome.binary(), words, environment: graph.home.environment)
      let folder = graph.home.runtimeFolder + "/pinna/clients"
      #expect(
        waitUntil(seconds: 5) {
          !((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).isEmpty
        })
      graph.program.signal(SIGKILL)
      let outcome = try #require(client.wait(seconds: 1), "it still waits")
      #expect(outcome.status == 4 && outcome.isOneSentence, "\(outcome)")
    }

    @Test("inputs answers with 740 physical ports")
    func manyPorts() throws {
      let name = LiveGraph.uniqueName()
      let server = try Program(
        "/usr/bin/jackd",
        [
          "-n", name, "-r", "-p", "2048", "-d", "dummy", "-C", "740", "-P", "0", "-r", "48000", "-p", "1024",
        ])
      try #require(
        try waitUntil(seconds: 10) {
          try Program.run("/usr/bin/jack_lsp", ["-s", name], seconds: 5).status == 0
        })
      let home = try PinnaHome()
      let pinna = try home.start(["--server", name, "--preset", "phone5"])
      try #require(try waitUntil(seconds: 60) { try home.pinna("status").status == 0 }, "\(pinna.errorText)")
      let inputs = try home.pinna("inputs", "--json")
      try #require(inputs.status == 0, "\(inputs)")
      #expect(try inputs.json()["inputs"].map { ($0 as? [Any])?.count ?? 0 } ?? 0 > 740)
      #expect(inputs.output.utf8.count > 65_536)
      withExtendedLifetime(server) {}
    }

    /// Open descriptors, resident memory in kB, and files in the socket folder.
    func footprint(_ graph: LiveGraph) throws -> (descriptors: Int, memory: Int, files: Int) {
      let files = FileManager.default.subpaths(atPath: graph.home.runtimeFolder + "/pinna") ?? []
      return (try graph.program.openDescriptors(), try graph.program.residentMemory(), files.count)
    }

    @Test("R45: 10 000 clients with their own sockets, a tenth of them killed, leave nothing behind")
    func oneTimeClients() throws {
      let graph = try LiveGraph(preset: "phone5")
      let client = ControlClient(name: "pinna", environment: graph.home.environment)
      func askOften(_ count: Int) throws {
        for n in 0..<count {
          if n % 10 == 0 {
            // A killed client removes nothing.
            let sender = try ControlSender(runtimeFolder: graph.home.runtimeFolder, tidies: false)
            sender.send("/pinna/status")
            #expect(sender.reply(seconds: 5)?.status == 0)
          } else {
            #expect(try client.request(OSCMessage("/pinna/status")).status == .done)
          }
        }
      }
      /// While the sockets of killed clients are removed, a few more descriptors are open.
      func isTidy() throws -> Bool { try waitUntil(seconds: 20) { try footprint(graph).files <= 3 } }
      try askOften(1000)
      try #require(try isTidy())
      let before = try footprint(graph)
      try askOften(7400)
      let start = ContinuousClock.now
      #expect(try client.request(OSCMessage("/pinna/status")).status == .done)
      let answered = ContinuousClock.now - start
      try #require(try isTidy())
      let after = try footprint(graph)
      #expect(after.descriptors == before.descriptors)
      #expect(after.files <= 3, "\(after)")
      #expect(after.memory - before.memory <= 1024, "\(before) to \(after)")
      #expect(answered < Faults.patience(.milliseconds(100)), "\(answered)")
      Faults.report(
        "R45", done: "10000 control clients, a tenth killed: descriptors, files, memory more",
        measured:
          "\(after.descriptors - before.descriptors), \(after.files - 3), \(after.memory - before.memory) kB",
        limit: "0, ≤ 0, ≤ 1024 kB",
        kept: after.descriptors == before.descriptors && after.files <= 3
          && after.memory - before.memory <= 1024)
      Faults.report(
        "R45", done: "status after 10000 control clients", took: answered, limit: .milliseconds(100))
    }

    @Test(
      "R32: another user who takes over the address of an ended session controls nothing and receives nothing",
      .enabled(if: getuid() == 0, "only root can become another user"))
    func addressTakenOver() throws {
      let graph = try LiveGraph(preset: "phone5", synchronous: true)
      let name = "pinna-test-\(getpid())"
      var program: ControlSender? = try ControlSender(
        runtimeFolder: graph.home.runtimeFolder, abstractName: name)
      program?.send("/pinna/session/open", "program")
      let opened = program?.reply(seconds: 2)
      if opened?.status == 0,
        let token = opened?.text.split(separator: "\"").last(where: { $0.hasPrefix("session-") })
      {
        program?.send("/pinna/session/claim", String(token), "on")
        #expect(try waitUntil(seconds: 2) { try graph.status()["controller"] as? String == "program" })
      }
      program = nil
      let otherUser = try Program(PinnaHome.built("peer"), ["take", "@" + name])
      try #require(waitUntil(seconds: 5) { otherUser.outputText.contains("bound") })
      let isFree = try waitUntil(seconds: 3) { try graph.status()["controller"] as? String == nil }
      #expect(isFree)
      #expect(try graph.pinna("record", "start").status == 0)
      #expect(try graph.pinna("record", "stop").status == 0)
      #expect(otherUser.outputText == "bound\n")
      Faults.report(
        "R32", done: "another user takes over a dead session's address: controls, hears",
        measured: isFree && otherUser.outputText == "bound\n" ? "nothing" : "something", limit: "nothing",
        kept: isFree && otherUser.outputText == "bound\n")
    }
  }
}
