import Foundation
import LiveSupport
import Messages
import TestSupport
import Testing

extension OfflineTests {
  /// A real `pinna`, driven by a session manager that speaks the NSM protocol.
  @Suite("NSM") struct NSMTests {
    @Test(
      "pinna without arguments announces itself, and opens its JACK client only under the ID of its project")
    func start() throws {
      let graph = try NSMGraph()
      let announcement = try graph.manager.welcome()
      #expect(announcement.arguments.last == .integer(graph.program.pid))
      #expect(announcement.arguments.dropFirst(2).first == .string("pinna"))
      let isEarly = waitUntil(seconds: 0.3) { graph.server.isUsed }
      #expect(!isEarly)
      let path = graph.sessions + "/song/pinna.nABCD"
      #expect(try graph.manager.open(path, id: "pinna.nABCD") == nil)
      #expect(try graph.server.ports().contains("pinna.nABCD:out_left"))
      #expect(try graph.status(id: "pinna.nABCD")["preset"] as? String == "phone5")
      #expect(access(path + "/pinna.json", R_OK) == 0)
      // Nothing is kept outside the session.
      #expect(access(graph.home.folder.path + "/state", F_OK) != 0)
      #expect(try graph.pinna("stop", id: "pinna.nABCD").status == 0)
    }

    @Test("a saved setting and its connections are there again after a restart; an unsaved change is not")
    func saveAndReopen() throws {
      let graph = try NSMGraph()
      try graph.begin("song")
      try graph.connect("system:capture_2", "front")
      #expect(try graph.pinna("set", "--pattern", "cardioid", "--gain", "-7").status == 0)
      #expect(graph.manager.message { $0.path == "/nsm/client/is_dirty" } != nil)
      #expect(try graph.manager.save() == nil)
      #expect(graph.manager.message { $0.path == "/nsm/client/is_clean" } != nil)
      #expect(try graph.pinna("set", "--gain", "3").status == 0)
      #expect(graph.manager.message { $0.path == "/nsm/client/is_dirty" } != nil)
      #expect(try graph.restart().status == 0)
      try graph.begin("song")
      let status = try graph.status()
      #expect(status["polarPattern"] as? String == "cardioid" && status["gainDB"] as? Double == -7)
      let isBack = try waitUntil(seconds: 5, every: 50) {
        try graph.server.peers(of: "pinna.nTEST:front") == ["system:capture_2"]
      }
      #expect(isBack)
    }

    @Test("is_dirty and is_clean come once per change of that state, also when a change is taken back")
    func dirty() throws {
      let graph = try NSMGraph()
      try graph.begin("song")
      for gain in ["-3", "-4", "0"] { #expect(try graph.pinna("set", "--gain", gain).status == 0) }
      // Mute is no part of a project.
      #expect(try graph.pinna("set", "--mute", "on").status == 0)
      _ = graph.manager.message(seconds: 0.5) { _ in false }
      let told = graph.manager.messages.map(\.path).filter { $0.contains("/is_") }
      #expect(
        told.drop { $0 == "/nsm/client/is_clean" }.elementsEqual([
          "/nsm/client/is_dirty", "/nsm/client/is_clean",
        ]),
        "\(told)")
    }

    @Test("takes go into the project; --dir says otherwise; a stop of the session finalises one")
    func takes() throws {
      let graph = try NSMGraph()
      try graph.begin("song")
      let folder = graph.sessions + "/song/pinna.nTEST/takes/"
      let first = try graph.pinna("record", "start", "--json").json()["take"] as? String
      #expect(first?.hasPrefix(folder) == true, "\(first ?? "")")
      #expect(try graph.pinna("record", "stop").status == 0)
      let elsewhere = graph.home.folder.path + "/elsewhere"
      let second = try graph.pinna("record", "start", "--dir", elsewhere, "--json").json()["take"] as? String
      #expect(second?.hasPrefix(elsewhere) == true)
      #expect(try graph.pinna("record", "stop").status == 0)
      let third = try #require(try graph.pinna("record", "start", "--json").json()["take"] as? String)
      let outcome = try graph.restart()
      #expect(outcome.status == 0, "\(outcome)")
      #expect(try TakeFiles.sidecar(third).state == .complete)
    }

    @Test("a switch to another project under the same ID loads or makes it, without leaving the graph")
    func switchProjects() throws {
      let graph = try NSMGraph()
      try graph.begin("a")
      try graph.connect("system:capture_1", "front")
      #expect(try graph.pinna("set", "--gain", "-5", "--pattern", "cardioid").status == 0)
      #expect(try graph.manager.save() == nil)
      let ports = try graph.server.ports().filter { $0.hasPrefix("pinna") }
      #expect(ports.count == 8, "five microphones, two outputs and MIDI: \(ports)")
      let opened = try graph.server.command("opened")
      #expect(try graph.manager.open(graph.sessions + "/b/pinna.nTEST", id: "pinna.nTEST") == nil)
      #expect(try graph.status()["gainDB"] as? Double == 0)
      #expect(try graph.status()["polarPattern"] as? String == "stereo")
      // The new project has no connections, as after a restart.
      let isFree = try waitUntil(seconds: 5, every: 50) {
        try graph.server.peers(of: "pinna.nTEST:front") == []
      }
      #expect(isFree)
      try graph.connect("system:capture_2", "front")
      #expect(try graph.manager.open(graph.sessions + "/a/pinna.nTEST", id: "pinna.nTEST") == nil)
      #expect(try graph.status()["gainDB"] as? Double == -5)
      let isBack = try waitUntil(seconds: 5, every: 50) {
        try graph.server.peers(of: "pinna.nTEST:front") == ["system:capture_1"]
      }
      #expect(isBack)
      #expect(try graph.server.ports().filter { $0.hasPrefix("pinna") } == ports)
      #expect(try graph.server.command("opened") == opened, "the client is the same")
      let take = try graph.pinna("record", "start", "--json").json()["take"] as? String
      #expect(take?.hasPrefix(graph.sessions + "/a/") == true)
    }

    @Test("a switch to a project of another device changes the device")
    func switchDevices() throws {
      let graph = try NSMGraph()
      try graph.begin("a")
      #expect(try graph.pinna("preset", "use", "phone2").status == 0)
      #expect(try graph.manager.save() == nil)
      #expect(try graph.manager.open(graph.sessions + "/b/pinna.nTEST", id: "pinna.nTEST") == nil)
      #expect(try graph.status()["device"] as? String == "phone5")
      #expect(try graph.manager.open(graph.sessions + "/a/pinna.nTEST", id: "pinna.nTEST") == nil)
      #expect(try graph.status()["device"] as? String == "phone2")
    }

    @Test("a switch under another ID moves the JACK client and the control socket to that name")
    func rename() throws {
      let graph = try NSMGraph()
      try graph.begin("a")
      try graph.connect("system:capture_1", "front")
      #expect(try graph.pinna("set", "--gain", "-5").status == 0)
      #expect(try graph.manager.open(graph.sessions + "/b/pinna.nNEXT", id: "pinna.nNEXT") == nil)
      let ports = try graph.server.ports()
      #expect(try ports.contains("pinna.nNEXT:front") && graph.server.peers(of: "pinna.nNEXT:front") == [])
      #expect(!ports.contains { $0.hasPrefix("pinna.nTEST") }, "\(ports)")
      #expect(try graph.status(id: "pinna.nNEXT")["gainDB"] as? Double == 0)
      #expect(try graph.pinna("status").status == 4)
      try graph.connect("system:capture_2", "front", id: "pinna.nNEXT")
      #expect(try graph.manager.save() == nil)
      for (project, id) in [("a", "pinna.nTEST"), ("b", "pinna.nNEXT")] {
        #expect(try graph.manager.open("\(graph.sessions)/\(project)/\(id)", id: id) == nil)
      }
      let isBack = try waitUntil(seconds: 5, every: 50) {
        try graph.server.peers(of: "pinna.nNEXT:front") == ["system:capture_2"]
      }
      #expect(isBack)
      let start = try graph.pinna("record", "start", "--json", id: "pinna.nNEXT").json()["take"] as? String
      #expect(start?.hasPrefix(graph.sessions + "/b/") == true)
    }

    @Test("a project whose file is a pipe, or whose folder cannot be written, is refused in plain words")
    func unusableProjects() throws {
      let graph = try NSMGraph()
      try graph.begin("a")
      let pipe = graph.sessions + "/pipe/x"
      try FileManager.default.createDirectory(atPath: pipe, withIntermediateDirectories: true)
      #expect(mkfifo(pipe + "/pinna.json", 0o600) == 0)
      let piped = try graph.manager.open(pipe, id: "pinna.nTEST")
      #expect(
        piped?.code == -9 && piped?.sentence.contains("the project, cannot be used") == true,
        "\(piped as Any)")
      try Data().write(to: URL(filePath: graph.sessions + "/file"))
      let blocked = try graph.manager.open(graph.sessions + "/file/x", id: "pinna.nTEST")
      #expect(
        blocked?.code == -10 && blocked?.sentence.contains("Error Domain") == false, "\(blocked as Any)")
      #expect(try graph.pinna("status").status == 0)
    }

    @Test("an open during a take, or while one is armed, is refused with the reason, and changes nothing")
    func lockedDuringTakes() throws {
      let graph = try NSMGraph()
      try graph.begin("a")
      for option in ["--raw", "--transport"] {
        let take = try graph.pinna("record", "start", option, "--json").json()["take"] as? String
        let error = try graph.manager.open(graph.sessions + "/b/pinna.nNEXT", id: "pinna.nNEXT")
        #expect(error?.code == -8 && error?.sentence.contains(take ?? "?") == true, "\(error as Any)")
        #expect(try graph.server.ports().contains("pinna.nTEST:front"))
        #expect(access(graph.sessions + "/b", F_OK) != 0)
        // Saving is allowed.
        #expect(try graph.manager.save() == nil)
        #expect(try graph.pinna("record", "stop").status == 0)
      }
      #expect(try graph.manager.open(graph.sessions + "/b/pinna.nTEST", id: "pinna.nTEST") == nil)
    }

    @Test("malformed packets, and packets of other ports, have no effect and no answer")
    func strangers() throws {
      let graph = try NSMGraph()
      try graph.begin("a")
      let stranger = UDPSender(port: graph.manager.clientPort)
      stranger.send(
        "/nsm/client/open", .string("\(graph.sessions)/evil"), .string("x"), .string("pinna.nEVIL"))
      stranger.send("/nsm/client/save")
      var noise = SeededNoise(seed: 3)
      for n in 0..<300 {
        var packet = OSCMessage(
          "/nsm/client/open",
          [.string("\(graph.sessions)/fuzz"), .string("x"), .string("pinna.nFUZZ")]
        ).packet
        for _ in 0..<4 { packet[Int(noise.next() % UInt64(packet.count))] = UInt8(noise.next() & 0xFF) }
        // One byte in the path or the tags is enough to make another message of it.
        packet[Int(noise.next() % 17)] ^= 0x80
        graph.manager.send(n % 3 == 0 ? Array(packet.dropLast(1 + n % 7)) : packet)
        // A socket's queue holds some 250 packets, and UDP loses the rest.
        if n % 50 == 49 { _ = try graph.status() }
      }
      graph.manager.send("/nsm/client/open", .string("\(graph.sessions)/few"), .string("arguments"))
      graph.manager.send("/nsm/client/show_optional_gui")
      graph.manager.send("/nsm/client/session_is_loaded")
      #expect(try graph.manager.save() == nil)
      #expect(stranger.packet(seconds: 0.3) == nil)
      let status = try graph.status()
      // Of 300: some of the changed packets are still valid messages, and UDP may lose some.
      #expect(status["droppedPackets"] as? Int ?? 0 >= 200, "\(status["droppedPackets"] as Any)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: graph.sessions) == ["a"])
    }

    @Test("a damaged project is refused as such, is not overwritten, and Pinna ends")
    func damaged() throws {
      let graph = try NSMGraph()
      let file = try graph.home.folder.write("no JSON", to: "sessions/a/pinna.nTEST/pinna.json")
      _ = try graph.manager.welcome()
      let error = try graph.manager.open(graph.sessions + "/a/pinna.nTEST", id: "pinna.nTEST")
      #expect(error?.code == -9 && error?.sentence.contains(file) == true, "\(error as Any)")
      #expect(graph.program.wait(seconds: 10)?.status == 1)
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "no JSON")
    }

    @Test("a damaged project does not take the place of an open one")
    func damagedLater() throws {
      let graph = try NSMGraph()
      try graph.begin("a")
      try graph.home.folder.write("no JSON", to: "sessions/b/pinna.nTEST/pinna.json")
      let error = try graph.manager.open(graph.sessions + "/b/pinna.nTEST", id: "pinna.nTEST")
      #expect(error?.code == -9)
      #expect(try graph.manager.open(graph.sessions + "/c/../d", id: "pinna.nTEST")?.code == -10)
      #expect(try graph.manager.open(graph.sessions + "/c/x", id: "no name")?.code == -1)
      #expect(try graph.pinna("set", "--gain", "-9").status == 0)
      #expect(try graph.manager.save() == nil)
      let saved = try String(contentsOfFile: graph.sessions + "/a/pinna.nTEST/pinna.json", encoding: .utf8)
      #expect(saved.contains("-9"))
    }

    @Test("a device that must be designed sends progress to the manager before the open is answered", .long)
    func progress() throws {
      let cache = try TemporaryFolder()
      // No filters ship for this rate.
      let graph = try NSMGraph(
        words: ["run", "--preset", "phone3"], environment: ["XDG_CACHE_HOME": cache.path], sampleRate: 32000)
      try graph.begin("a")
      let parts = graph.manager.messages.filter { $0.path == "/nsm/client/progress" }.compactMap {
        if case .float(let part) = $0.arguments.first { part } else { nil }
      }
      #expect(parts.count >= 2 && parts.allSatisfy { (0...1).contains($0) }, "\(parts)")
      #expect(parts == parts.sorted(), "\(parts)")
    }

    @Test("warnings are shown in the manager")
    func warnings() throws {
      let graph = try NSMGraph()
      try graph.begin("a")
      try graph.server.add(output: "metro:120_bpm")
      try graph.connect("metro:120_bpm", "front")
      try graph.server.remove("metro:120_bpm")
      let warning = graph.manager.message {
        $0.path == "/nsm/client/message" && $0.words[1].contains("has lost")
      }
      #expect(warning?.words.first == "2" && warning?.words.count == 2, "\(warning as Any)")
    }

    @Test("without a JACK server the open is answered with an error, and Pinna ends with status 3")
    func noServer() throws {
      let graph = try NSMGraph(isRunning: false)
      _ = try graph.manager.welcome()
      let error = try graph.manager.open(graph.sessions + "/a/pinna.nTEST", id: "pinna.nTEST")
      #expect(error?.code == -1 && error?.sentence.contains("JACK") == true, "\(error as Any)")
      #expect(graph.program.wait(seconds: 10)?.status == 3)
    }

    @Test("a session manager that has ended does not keep Pinna from running, under its own name")
    func managerGone() throws {
      let graph = try NSMGraph(environment: ["NSM_URL": "osc.udp://127.0.0.1:\(NSMPeer().port)/"])
      let isUp = waitUntil(seconds: 60) { (try? graph.home.pinna("status"))?.status == 0 }
      #expect(isUp, "\(graph.program.errorText)")
      let lines = graph.program.errorText.split(separator: "\n").filter { $0.contains("session manager") }
      #expect(lines.count == 1, "\(graph.program.errorText)")
    }
  }
}
