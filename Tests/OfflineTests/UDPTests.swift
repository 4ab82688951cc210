import Foundation
import LiveSupport
import Messages
import Processor
import Recording
import Settings
import TestSupport
import Testing

extension OfflineTests {
  /// OSC over UDP as programs and control surfaces use it.
  @Suite("OSC over UDP") struct UDPTests {
    static func graph(preset: String = "phone5", period: Int = 128) throws -> OfflineGraph {
      try OfflineGraph(preset: preset, period: period, options: ["--osc-port", "0"])
    }

    @Test("a subscriber gets the whole state, then what the command line changes, and nothing else")
    func feedback() throws {
      let graph = try Self.graph()
      let sender = try graph.udpSender()
      var state: [String: [String]] = [:]
      while state.count < SettingKey.allCases.count + 6, let message = sender.message(seconds: 2) {
        state[message.path] = message.words
      }
      #expect(state["/pinna/set/gain"] == ["0.0"] && state["/pinna/set/pattern"] == ["stereo"])
      #expect(state["/pinna/preset/use"] == ["phone5"] && state["/pinna/set/high-pass"] == ["off"])
      #expect(state["/pinna/record"] == ["0"] && state["/pinna/server"] == ["running"])
      #expect(try graph.pinna("set", "--gain", "-3", "--pattern", "cardioid", "--mute", "on").status == 0)
      var changes: [String: [String]] = [:]
      while changes.count < 3, let message = sender.message(seconds: 2) {
        changes[message.path] = message.words
      }
      #expect(
        changes == [
          "/pinna/set/gain": ["-3.0"], "/pinna/set/pattern": ["cardioid"], "/pinna/set/mute": ["1"],
        ])
      #expect(sender.message(seconds: 0.5) == nil)
    }

    @Test("takes are started and ended by a toggle, announced, and listed newest first")
    func takes() throws {
      let graph = try Self.graph()
      let (sender, other) = (try graph.udpSender(), try graph.udpSender())
      var names: [String] = []
      for _ in 0..<2 {
        #expect(sender.ask("/pinna/record", [.integer(1)])?.status == .done)
        let take = other.message(seconds: 2) { $0.path == "/pinna/record/take" && $0.words != [""] }
        names.append(try #require(take?.words.first))
        // Nothing may change during a take.
        #expect(sender.ask("/pinna/set/gain", [.float(1)])?.status == .refused)
        // Long enough to be seen while it plays.
        try graph.waitForTake(frames: 96_000)
        #expect(sender.ask("/pinna/record", [.float(0)], seconds: 20)?.status == .done)
      }
      let listed = try #require(sender.ask("/pinna/takes")?.text)
      #expect(listed == #"{"format":1,"takes":["\#(names[1])","\#(names[0])"]}"#)
      #expect(sender.ask("/pinna/takes", [.integer(1)])?.text == #"{"format":1,"takes":["\#(names[1])"]}"#)
      #expect(sender.ask("/pinna/play", [.string(names[0])])?.status == .done)
      #expect(try graph.status()["state"] as? String == "playing")
    }

    @Test(
      "R53: push buttons act once when pressed and not when released: one take, one marker, and Pinna goes on"
    )
    func buttons() throws {
      let graph = try Self.graph()
      let sender = try graph.udpSender()
      func press(_ path: String, _ arguments: OSCMessage.Argument...) -> [Settings.ExitStatus?] {
        [1, 0].map { sender.ask(path, arguments + [.float($0)], seconds: 20)?.status }
      }
      #expect(press("/pinna/record/start") == [.done, .done])
      #expect(press("/pinna/record/marker") == [.done, .done])
      #expect(press("/pinna/record/marker", .string("clap")) == [.done, .done])
      #expect(press("/pinna/record/stop") == [.done, .done])
      let folder = graph.home.takesFolder
      let sidecars = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
        $0.hasSuffix(".json")
      }
      let markers = try sidecars.flatMap { try Sidecar.read(folder + "/" + $0).markers ?? [] }.map(\.label)
      #expect(sidecars.count == 1 && markers == ["1", "clap"])
      // Nothing is there to end or cancel, which a press is told and a release is not.
      for path in ["/pinna/record/stop", "/pinna/preset/cancel", "/pinna/play/stop"] {
        #expect(press(path) == [.failed, .done], "\(path)")
      }
      #expect(press("/pinna/forget") == [.done, .done])
      #expect(sender.ask("/pinna/stop", [.flag(false)])?.status == .done)
      #expect(try graph.status()["state"] as? String == "stopped")
      #expect(sender.ask("/pinna/stop", [.flag(true)], seconds: 10)?.status == .done)
      #expect(graph.program.wait(seconds: 10)?.status == 0)
      Faults.report(
        "R53", done: "OSC buttons pressed and released: takes, markers",
        measured: "\(sidecars.count), \(markers.count)", limit: "1, 2",
        kept: sidecars.count == 1 && markers.count == 2)
    }

    @Test(
      "a tablet gets the state at another port than it sends from, and is heard; ports of services are refused"
    )
    func otherPort() throws {
      let graph = try Self.graph()
      let sender = try graph.udpSender(feedback: nil)
      let tablet = try graph.udpSender(feedback: nil)
      let token = OSCMessage.Argument.string(try graph.oscToken())
      let port = OSCMessage.Argument.float(Float(tablet.ownPort))
      #expect(sender.ask("/pinna/subscribe", [token, .string("state"), port])?.status == .done)
      #expect(tablet.message(seconds: 2) { $0.path == "/pinna/server" }?.words == ["running"])
      #expect(sender.ask("/pinna/set/gain", [.float(-3)])?.status == .done)
      #expect(tablet.message(seconds: 2) { $0.path == "/pinna/set/gain" && $0.words == ["-3.0"] } != nil)
      for number in [80, 70_000, -1] as [Int32] {
        let answer = sender.ask("/pinna/subscribe", [token, .string("both"), .integer(10), .integer(number)])
        #expect(
          answer?.status == .usage && answer?.text.contains("from 1024 to 65535") == true, "\(answer as Any)")
      }
      // A number as small as a rate is one.
      for number in [30, 31] as [Int32] {
        let answer = sender.ask("/pinna/subscribe", [token, .string("state"), .integer(number)])
        #expect(answer?.status == (number == 30 ? .done : .usage), "\(answer as Any)")
      }
      let own = OSCMessage.Argument.integer(Int32(try #require(graph.oscPort)))
      #expect(sender.ask("/pinna/subscribe", [token, .string("state"), own])?.status == .usage)
    }

    @Test("levels come at the requested rate: microphones in channel order, then left and right")
    func levels() throws {
      let graph = try Self.graph()
      let microphones = try graph.microphones().count
      let sender = try graph.udpSender(feedback: nil)
      let token = OSCMessage.Argument.string(try graph.oscToken())
      #expect(sender.ask("/pinna/subscribe", [token, .string("levels"), .float(30)])?.status == .done)
      let end = ContinuousClock.now + .seconds(3)
      var count = 0
      while .now < end, let message = sender.message(seconds: 1) {
        #expect(message.path == "/pinna/levels" && message.arguments.count == microphones + 2)
        count += 1
      }
      // A busy machine may delay the control thread.
      #expect((60...92).contains(count), "\(count)")
      #expect(sender.ask("/pinna/subscribe", [token, .string("levels"), .integer(31)])?.status == .usage)
    }

    @Test("a set method without an argument answers the value in force, over both sockets")
    func values() throws {
      let graph = try Self.graph()
      let sender = try graph.udpSender()
      #expect(sender.ask("/pinna/set/high-pass", [.integer(80)])?.status == .done)
      let local = try graph.sender()
      for (key, value) in [
        ("gain", "0"), ("pattern", #""stereo""#), ("high-pass", "80"), ("mute", #""off""#),
        ("input", #""phone5""#), ("data-source", #""Back""#), ("orientation", #""portrait""#),
        ("output", #""standard""#),
      ] {
        #expect(sender.ask("/pinna/set/" + key)?.text == #"{"\#(key)":\#(value)}"#)
        local.send("/pinna/set/" + key)
        #expect(local.reply(seconds: 2)?.text == #"{"\#(key)":\#(value)}"#)
      }
      let whole = try #require(sender.ask("/pinna/set"))
      #expect(whole.status == .done && whole.text.contains(#""highPassHz":80"#))
    }

    @Test("presets and devices are listed by name, and a bundle is served over both sockets")
    func listsAndBundles() throws {
      let graph = try Self.graph()
      let sender = try graph.udpSender()
      for list in ["presets", "devices"] {
        let answer = try #require(sender.ask("/pinna/" + list))
        #expect(answer.status == .done && answer.text.contains(#""format":1"#), "\(answer)")
        #expect(answer.text.contains(#""\#(list)":["#) && answer.text.contains(#""phone5""#))
      }
      let parts = [-6, -7].map { OSCMessage("/pinna/set/gain", [.float(Float($0))]).packet }
      let sized = parts.flatMap { withUnsafeBytes(of: UInt32($0.count).bigEndian) { Array($0) } + $0 }
      let bundle = Array("#bundle\0\0\0\0\0\0\0\0\u{1}".utf8) + sized
      sender.send(bundle)
      #expect(sender.message(seconds: 2) { $0.path == "/pinna/set/gain" && $0.words == ["-7.0"] } != nil)
      #expect(try graph.pinna("set", "--gain", "0").status == 0)
      let local = try graph.sender()
      local.send(bundle)
      #expect((0..<2).allSatisfy { _ in local.reply(seconds: 2) != nil })
      #expect(try graph.status()["gainDB"] as? Double == -7)
    }

    @Test(
      "an answer that is too long for UDP says where to ask; status and sidecars have version 1 of their formats"
    )
    func formats() throws {
      let graph = try Self.graph(preset: "uma16")
      let sender = try graph.udpSender()
      let answer = try #require(sender.ask("/pinna/status"))
      #expect(
        answer.status == .failed && answer.text.contains(graph.home.runtimeFolder + "/pinna/pinna.sock"))
      #expect(try graph.status()["format"] as? Int == 1)
      #expect(sender.ask("/pinna/record", [.integer(1)])?.status == .done)
      #expect(sender.ask("/pinna/record", [.integer(0)], seconds: 20)?.status == .done)
      let sidecars = try FileManager.default.contentsOfDirectory(atPath: graph.home.takesFolder)
        .filter { $0.hasSuffix(".json") }
      let path = graph.home.takesFolder + "/" + (try #require(sidecars.first))
      #expect(try Sidecar.read(path).formatVersion == 1)
    }

    @Test("stop is allowed; subscribers hear of it, and the token file goes")
    func stop() throws {
      let graph = try Self.graph()
      let (sender, other) = (try graph.udpSender(), try graph.udpSender())
      #expect(sender.ask("/pinna/stop", seconds: 10)?.status == .done)
      #expect(other.message(seconds: 5) { $0.path == "/pinna/server" && $0.words == ["stopped"] } != nil)
      #expect(graph.program.wait(seconds: 10)?.status == 0)
      #expect(access(graph.home.runtimeFolder + "/pinna/pinna.token", F_OK) != 0)
    }

    @Test("without --osc-port there is neither port nor token; an address that is not loopback is warned of")
    func options() throws {
      let graph = try OfflineGraph(preset: "phone5")
      #expect(graph.oscPort == nil && access(graph.home.runtimeFolder + "/pinna/pinna.token", F_OK) != 0)
      let alone = try graph.home.pinna("run", "--name", "b", "--osc-address", "0.0.0.0")
      #expect(alone.status == 2 && alone.isOneSentence && alone.error.contains("--osc-port"), "\(alone)")
      let open = try graph.home.pinna(
        "run", "--name", "c", "--server", LiveGraph.uniqueName(), "--osc-port", "0", "--osc-address",
        "0.0.0.0")
      #expect(open.error.contains("everyone who sees its packets"), "\(open)")
    }
  }
}
