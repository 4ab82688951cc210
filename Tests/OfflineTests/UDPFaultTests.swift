import Foundation
import LiveSupport
import Messages
import Settings
import TestSupport
import Testing

extension OfflineTests {
  /// OSC over UDP from those who have no business there, and what subscribers may not do.
  @Suite("Hostile packets and requests over UDP") struct UDPFaultTests {
    /// Fuzzed packets in all, in thousands.
    static let thousands = Int(Faults.number("PINNA_UDP_PACKETS", quick: 200, heavy: 10_000))

    /// Valid packets, which strangers send unchanged, too.
    static func corpus(_ token: String) -> [[UInt8]] {
      let messages = [
        OSCMessage("/pinna/set/gain", [.float(-6), .string("#1")]),
        OSCMessage("/pinna/set/mute", [.integer(1)]),
        OSCMessage("/pinna/set", [.string("pattern"), .string("cardioid"), .string("gain"), .string("3")]),
        OSCMessage("/pinna/set/high-pass"), OSCMessage("/pinna/levels"),
        OSCMessage("/pinna/takes", [.integer(5)]),
        OSCMessage("/pinna/status"), OSCMessage("/pinna/preset/use", [.string("no preset")]),
        OSCMessage("/pinna/play", [.string("../../etc/passwd")]),
        OSCMessage("/pinna/subscribe", [.string(token), .string("both"), .integer(30)]),
      ]
      let parts = messages.prefix(4).map(\.packet)
      let sized = parts.flatMap { withUnsafeBytes(of: UInt32($0.count).bigEndian) { Array($0) } + $0 }
      return messages.map(\.packet) + [Array("#bundle\0\0\0\0\0\0\0\0\u{1}".utf8) + sized]
    }

    /// Sends mutated packets through `sender`. After each 64 waits until `pilot`, a subscriber, is answered, so that the
    /// kernel drops none.
    /// - Returns: the packets that came back to `sender`, and the longest of them in bytes.
    func flood(
      _ count: Int, through sender: UDPSender, pilot: UDPSender, renew: () -> Void, _ next: () -> [UInt8]
    ) throws -> (heard: Int, longest: Int) {
      var (heard, longest) = (0, 0)
      for n in 0..<count {
        sender.send(next())
        guard n % 64 == 63 else { continue }
        if n % 4096 == 63 { renew() }
        let answer = pilot.ask("/pinna/set/gain", seconds: 10)
        try #require(answer?.status == .done, "after \(n) packets: \(answer as Any)")
        while let packet = sender.packet(seconds: 0) {
          (heard, longest) = (heard + 1, max(longest, packet.count))
        }
      }
      return (heard, longest)
    }

    @Test(
      "R17: fuzzed packets from strangers change nothing and get no answer; from a subscriber they do no harm",
      .long
    )
    func fuzzed() throws {
      let graph = try UDPTests.graph()
      let token = try graph.oscToken()
      let words = ["#bundle\0", "/pinna/subscribe\0", ",s\0\0", ",ssi", "/", "both", "#1"].map {
        Array($0.utf8)
      }
      var mutation = Mutation(seed: 17, corpus: Self.corpus("0123456789abcdef0123456789abcdef"), words: words)
      let pilot = try graph.udpSender()
      func renew() { _ = pilot.ask("/pinna/subscribe", [.string(token)], seconds: 10) }
      let half = Self.thousands * 500
      let before = try graph.stableStatus()
      let stranger = try graph.udpSender(feedback: nil)
      func flood(_ sender: UDPSender, _ count: Int) throws -> (heard: Int, longest: Int) {
        try self.flood(count, through: sender, pilot: pilot, renew: renew) { mutation.next() }
      }
      // The first packets fill caches.
      var fromStranger = try flood(stranger, half / 4)
      let memory = try graph.program.residentMemory()
      let more = try flood(stranger, half * 3 / 4)
      fromStranger.heard += more.heard
      let changed = try graph.changes(since: before)
      #expect(fromStranger.heard == 0 && changed == [])

      let subscriber = try graph.udpSender(feedback: "both")
      mutation = Mutation(seed: 18, corpus: Self.corpus(token), words: words)
      let fromSubscriber = try flood(subscriber, half)
      #expect(fromSubscriber.heard > half / 100 && fromSubscriber.longest <= 1400)
      let growth = try graph.program.residentMemory() - memory
      #expect(growth < 8192, "\(growth) kB")
      #expect(try graph.pinna("set", "--gain", "-7").status == 0)
      #expect(try graph.changes(since: before).contains("gainDB"), "changes are not seen")
      Faults.report(
        "R17",
        done:
          "\(2 * half) fuzzed packets over UDP, half from strangers: answers to those, changes by those, kB of memory",
        measured: "\(fromStranger.heard), \(changed.count), \(growth)", limit: "0, 0, < 8192",
        kept: fromStranger.heard == 0 && changed.isEmpty && growth < 8192)
    }

    @Test("R18: while strangers flood the port, the command line and subscribers are answered")
    func flooded() throws {
      let graph = try UDPTests.graph()
      let subscriber = try graph.udpSender()
      let ended = DispatchSemaphore(value: 0)
      let packet = OSCMessage("/pinna/set/gain", [.float(12)]).packet
      let stranger = try graph.udpSender(feedback: nil)
      let sender = UncheckedSender(stranger)
      let done = DispatchSemaphore(value: 0)
      Thread {
        while ended.wait(timeout: .now()) == .timedOut { for _ in 0..<100 { sender.sender.send(packet) } }
        done.signal()
      }.start()
      defer {
        ended.signal()
        done.wait()
      }
      let local = try graph.sender()
      var slowest = Duration.zero
      for _ in 0..<50 {
        let start = ContinuousClock.now
        local.send("/pinna/set/gain")
        #expect(local.reply(seconds: 10)?.text == #"{"gain":0}"#)
        slowest = max(slowest, .now - start)
      }
      #expect(slowest < Faults.patience(.milliseconds(100)), "\(slowest)")
      // The kernel drops packets that do not fit into the port's queue, this subscriber's, too.
      #expect(waitUntil(seconds: 20) { subscriber.ask("/pinna/set/gain", seconds: 0.2)?.status == .done })
      #expect(stranger.packet(seconds: 0) == nil)
      Faults.report(
        "R18", done: "strangers flood the UDP port: slowest answer at the Unix socket", took: slowest,
        limit: Faults.patience(.milliseconds(100)))
    }

    /// `UDPSender` only calls `sendto` here, which any thread may.
    struct UncheckedSender: @unchecked Sendable {
      let sender: UDPSender
      init(_ sender: UDPSender) { self.sender = sender }
    }

    @Test("R19: over UDP no path may be given, for takes or for playback, and no session opened")
    func paths() throws {
      let graph = try UDPTests.graph()
      let sender = try graph.udpSender()
      let folder = graph.home.folder.path
      try graph.home.folder.write("not a take", to: "music/secret.wav")
      try graph.home.folder.write("", to: "music/pinna/.keep")
      try #require(symlink("../secret.wav", graph.home.takesFolder + "/link.wav") == 0)
      try #require(mkfifo(graph.home.takesFolder + "/fifo.wav", 0o600) == 0)
      var refused = 0
      func expectRefusal(_ path: String, _ words: [String], _ status: Settings.ExitStatus = .refused) {
        let answer = sender.ask(path, words.map { .string($0) })
        #expect(
          answer?.status == status && answer?.text.contains("\n") == false, "\(words): \(answer as Any)")
        if answer?.status == status { refused += 1 }
      }
      for name in ["../secret.wav", folder + "/music/secret.wav", "..", ".", "", "a/b.wav", "/", "pinna/"] {
        expectRefusal("/pinna/play", [name])
      }
      for name in ["link.wav", "fifo.wav", "missing.wav"] { expectRefusal("/pinna/play", [name], .failed) }
      for words in [[folder], ["dir", folder], ["raw", "on", "dir", folder], [""]] {
        expectRefusal("/pinna/record/start", words)
      }
      for (method, words) in [
        ("open", ["x"]), ("claim", ["x", "on"]), ("set", ["x", "gain", "3"]), ("period", ["x", "0.01"]),
        ("close", ["x"]),
      ] { expectRefusal("/pinna/session/" + method, words) }
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasPrefix("graph-") }
          .sorted() == [
            "config", "music", "runtime", "state",
          ])
      #expect(try graph.status()["state"] as? String == "stopped")
      Faults.report(
        "R19", done: "paths, links and sessions asked for over UDP: refused", measured: "\(refused)",
        limit: "20",
        kept: refused == 20)
    }

    @Test(
      "R32: another user's packets change nothing and get no answer, and the token cannot be read",
      .enabled(if: getuid() == 0, "only root can become another user"))
    func otherUser() throws {
      let graph = try UDPTests.graph()
      let before = try graph.stableStatus()
      let port = "\(try #require(graph.oscPort))"
      let outcome = try Program.run(
        try PinnaHome.built("peer"), ["shout", port, graph.home.runtimeFolder + "/pinna/pinna.token"])
      #expect(outcome.output == "heard 0, token not read\n", "\(outcome)")
      let changed = try graph.changes(since: before)
      #expect(changed == [] && graph.program.isRunning)
      Faults.report(
        "R32", done: "another user sends 600 requests over UDP: answers, changes",
        measured: outcome.output.hasPrefix("heard 0,") && changed.isEmpty ? "0, 0" : "\(outcome.output)",
        limit: "0, 0",
        kept: outcome.output == "heard 0, token not read\n" && changed.isEmpty)
    }

    @Test("sixteen addresses may subscribe; a seventeenth with the token is told so, one without is not")
    func limit() throws {
      let graph = try UDPTests.graph()
      let senders = try (0..<16).map { _ in try graph.udpSender() }
      let last = try graph.udpSender(feedback: nil)
      let answer = try #require(last.ask("/pinna/subscribe", [.string(try graph.oscToken())]))
      #expect(answer.status == .failed && answer.text.contains("16 addresses"))
      #expect(last.ask("/pinna/subscribe", [.string("wrong")], seconds: 0.5) == nil)
      #expect(senders[0].ask("/pinna/unsubscribe")?.status == .done)
      #expect(senders[0].ask("/pinna/set/gain", seconds: 0.5) == nil)
      #expect(last.ask("/pinna/subscribe", [.string(try graph.oscToken())])?.status == .done)
    }
  }
}
