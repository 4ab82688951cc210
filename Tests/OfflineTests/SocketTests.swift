import Foundation
import LiveSupport
import Messages
import TestSupport
import Testing

extension OfflineTests {
  @Suite("The control socket in a live graph") struct SocketTests {
    @Test("a folder that others can enter and a path that is too long are refused for the socket")
    func refusedPlaces() throws {
      let home = try PinnaHome()
      let folder = home.runtimeFolder + "/pinna"
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
      chmod(folder, 0o755)
      let open = try home.pinna("run", "--server", LiveGraph.uniqueName())
      #expect(open.status == 1 && open.isOneSentence && open.error.contains(folder), "\(open)")

      let deep = try PinnaHome(
        runtimeFolder: "a-runtime-folder-with-a-name-that-is-much-too-long-for-sockets")
      for verb in ["run", "status"] {
        let outcome = try deep.pinna(verb, "--name", "a-client-with-quite-a-long-name")
        #expect(outcome.status == 1 && outcome.isOneSentence, "\(outcome)")
        #expect(outcome.error.contains("XDG_RUNTIME_DIR"), "\(outcome)")
      }
    }

    @Test("R21: a stale socket of a killed Pinna is reclaimed")
    func stale() throws {
      let graph = try OfflineGraph(preset: "phone5")
      graph.program.signal(SIGKILL)
      #expect(graph.program.wait(seconds: 5)?.status == -SIGKILL)
      #expect(FileManager.default.fileExists(atPath: graph.home.runtimeFolder + "/pinna/pinna.sock"))
      #expect(try graph.pinna("status").status == 4)
      try graph.restart()
      #expect(try graph.status()["state"] as? String == "stopped")
    }

    @Test("R17: 20 000 hostile packets neither kill nor change Pinna, and it still answers")
    func hostilePackets() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let before = try graph.stableStatus()
      let mute = try ControlSender(runtimeFolder: graph.home.runtimeFolder, drains: true)
      var noise = SeededNoise(seed: 17)
      let sent = (0..<20_000).count { _ in mute.send(Self.hostilePacket(&noise)) }
      #expect(sent == 20_000)
      let sender = try graph.sender()
      let start = ContinuousClock.now
      sender.send("/pinna/status")
      let reply = sender.reply(seconds: 5)
      let answered = ContinuousClock.now - start
      #expect(reply?.status == 0)
      #expect(answered < Faults.patience(.milliseconds(100)), "\(answered)")
      #expect(try graph.changes(since: before) == [])
      #expect(graph.program.isRunning)
      Faults.report(
        "R17", done: "20 000 hostile packets over the Unix socket: status answers", took: answered,
        limit: .milliseconds(100))
      withExtendedLifetime(mute) {}
    }

    @Test("a client that is killed in the middle of a request ends its session at once")
    func killedInRequest() throws {
      let graph = try OfflineGraph(preset: "phone5")
      var program: ControlSender? = try graph.sender()
      try #require(program?.openSession("program", claims: true) != nil)
      program?.send("/pinna/midi/learn")
      let start = ContinuousClock.now
      program = nil
      #expect(try waitUntil(seconds: 2) { try graph.status()["controller"] as? String == nil })
      #expect(ContinuousClock.now - start < Faults.patience(.milliseconds(500)))
    }

    @Test("a slow reader receives its answers in the order of its questions")
    func order() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let sender = try graph.sender()
      // More requests than the reader's queue holds are answered before it reads; the rest are asked while it
      // reads.
      for n in 0..<30 { sender.send("/pinna/question/\(n)") }
      // Connections are served in turn.
      let other = try graph.sender()
      for _ in 0..<30 {
        other.send("/pinna/status")
        try #require(other.reply(seconds: 5) != nil)
      }
      var heard: [Int] = []
      for n in 30..<60 {
        sender.send("/pinna/question/\(n)")
        if let reply = sender.reply(seconds: 1) { heard.append(question(reply)) }
      }
      while heard.count < 60, let reply = sender.reply(seconds: 1) { heard.append(question(reply)) }
      #expect(heard == Array(0..<60))
    }

    /// The number in: unknown method "/pinna/question/7"; use one of: …
    func question(_ reply: ControlSender.Reply) -> Int {
      reply.text.split(separator: "\"").first { $0.hasPrefix("/pinna/question/") }
        .flatMap { Int($0.dropFirst("/pinna/question/".count)) } ?? -1
    }

    @Test(
      "all waiting requests are answered when Pinna is stopped",
      arguments: ["/pinna/record/stop", "/pinna/set/mute"])
    func stoppedWhileOthersWait(method: String) throws {
      let graph = try OfflineGraph(preset: "phone5", period: 1024)
      let sender = try graph.sender()
      if method == "/pinna/record/stop" {
        sender.send("/pinna/record/start", graph.home.takesFolder)
        #expect(sender.reply(seconds: 2)?.status == 0)
        sender.send(method)
      } else {
        sender.send(method, "on")
      }
      sender.send("/pinna/stop")
      let replies = (0..<2).compactMap { _ in sender.reply(seconds: 5) }
      #expect(replies.count == 2, "\(replies)")
      #expect(replies.contains { $0.text.contains("\"stopped\":true") }, "\(replies)")
      #expect(graph.program.wait(seconds: 5)?.status == 0)
    }

    @Test("all waiting requests are answered when the server dies")
    func serverDiesWhileOthersWait() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let sender = try graph.sender()
      try graph.freeze(true)
      sender.send("/pinna/set/pattern", "cardioid")
      // Connections are served in turn.
      _ = try graph.status()
      try graph.killServer()
      let reply = sender.reply(seconds: 2)
      #expect(reply?.status == 3, "\(String(describing: reply))")
      #expect(try graph.status()["server"] as? String == "gone")
    }

    /// Noise, truncated messages, messages with flipped bits, wrong types, packets beyond every limit. None
    /// of them is a valid message.
    static func hostilePacket(_ noise: inout SeededNoise) -> [UInt8] {
      func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &noise) }
      }
      let message = [
        OSCMessage("/pinna/set/pattern", [.string("\u{0}\u{7F}")]),
        OSCMessage("/pinna/set", [.string("pattern"), .integer(.min), .float(.nan)]),
        OSCMessage("/pinna/status", [.float(.infinity)]),
        OSCMessage("/pinna/preset/use", [.string(String(repeating: "../", count: 400))]),
        OSCMessage("/pinna/set/gain", [.float(.nan)]),
      ].randomElement(using: &noise)!.packet
      switch Int.random(in: 0..<6, using: &noise) {
      case 0: return bytes(Int.random(in: 0...200, using: &noise))
      case 1: return Array(message.dropLast(Int.random(in: 1..<message.count, using: &noise)))
      case 2:
        var flipped = message
        for _ in 0..<4 {
          let at = flipped.indices.randomElement(using: &noise)!
          flipped[at] ^= 1 << UInt8.random(in: 0..<8, using: &noise)
        }
        return flipped
      case 3: return message + bytes(4)
      case 4:
        // A type tag string that claims more arguments than there are.
        let tags = "," + String(repeating: "sifbhtdTFNI[]".randomElement(using: &noise)!, count: 63)
        return Array("/pinna/set\0\0".utf8) + Array(tags.utf8)
          + bytes(4 * Int.random(in: 0...20, using: &noise))
      default: return Int.random(in: 0..<50, using: &noise) == 0 ? bytes(100_000) : message
      }
    }
  }
}
