import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Feeds of a run") struct FeedTests {
    static let loop = SeededNoise.loop(channels: 5, seed: 22)

    @Test(
      "a feed with the case of main plays the same bits through ports of its own, while others come and go")
    func twin() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 5)
      try #require(try graph.pinna("feed", "add", "twin").status == 0)
      try #require(
        try graph.pinna("feed", "add", "rear", "--data-source", "Back", "--pattern", "cardioid").status == 0)
      let sound = try graph.record(["pinna:twin_left", "pinna:twin_right", "pinna:rear"]) {
        try graph.play(Self.loop)
        try graph.wait(frames: 24_000)
        for n in 0..<5 {
          try #require(
            try graph.pinna("feed", "add", "guest", "--format", n % 2 == 0 ? "stereo" : "mono").status == 0)
          try #require(try graph.pinna("set", "--feed", "rear", "--gain", "-\(n)").status == 0)
          #expect(try graph.hasPort(n % 2 == 0 ? "pinna:guest_left" : "pinna:guest"))
          try #require(try graph.pinna("feed", "remove", "guest").status == 0)
          #expect(!(try graph.ports().contains { $0.hasPrefix("pinna:guest") }))
        }
        try graph.wait(frames: 24_000)
      }
      let start = try #require(sound[0].firstIndex { $0 != 0 })
      // The twin joined earlier than the sound, so from the first frame on.
      #expect(sound[0] == sound[2] && sound[1] == sound[3])
      for channel in [0, 1, 4] {
        #expect(silences(in: Array(sound[channel][(start + 4800)...]), shortest: 16).isEmpty)
      }
      // rear: 4 dB below where it began.
      let rear = Array(sound[4][(start + 4800)...])
      #expect(abs(level(rear.suffix(9600)) - level(rear.prefix(9600)) + 4) < 1)
    }

    @Test(
      "the feeds of a preset are there with it, and after the server has died; other presets leave them, and save them"
    )
    func preset() throws {
      let home = try PinnaHome()
      let presets = home.configFolder + "/pinna"
      try FileManager.default.createDirectory(atPath: presets, withIntermediateDirectories: true)
      try """
      title: Two people
      device: phone5
      dataSource: Back
      polarPattern: stereo
      inputOrientation: portrait
      feeds:
        anna: {dataSource: Front, polarPattern: cardioid, gain: -3}
        hall: {format: stereo, highPass: 80}
      """.write(toFile: presets + "/table.yaml", atomically: true, encoding: .utf8)
      let graph = try OfflineGraph(preset: "table", home: home)
      func areThere() throws -> Bool {
        let feeds = try graph.feeds()
        return feeds.count == 2 && feeds.values.allSatisfy { $0["isHeard"] as? Bool == true }
      }
      try #require(waitUntil(seconds: 5) { (try? areThere()) ?? false })
      for port in ["anna", "hall_left", "hall_right"] { #expect(try graph.hasPort("pinna:" + port)) }
      let anna = try #require(try graph.feeds()["anna"])
      #expect(anna["gainDB"] as? Double == -3 && anna["polarPattern"] as? String == "cardioid")
      try graph.killServer()
      try #require(try waitUntil(seconds: 5) { try graph.status()["server"] as? String == "gone" })
      graph.restartServer()
      #expect(waitUntil(seconds: 20) { (try? areThere()) ?? false })
      // A preset without feeds leaves them alone.
      try #require(try graph.pinna("preset", "use", "phone5").status == 0)
      #expect(try areThere())
      let saved = try graph.pinna("preset", "save", "mine")
      #expect(saved.status == 0, "\(saved)")
      let shown = try graph.pinna("preset", "show", "mine")
      #expect(shown.output.contains("anna"), "\(shown)")
    }

    @Test(
      "a take is of all feeds, however it is started, unless some are named; answers say what is recorded and what not"
    )
    func defaults() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 5)
      for name in ["anna", "ben"] {
        try #require(try graph.pinna("feed", "add", name, "--pattern", "cardioid").status == 0)
      }
      func files() throws -> Set<String> {
        let names = try FileManager.default.contentsOfDirectory(atPath: graph.home.takesFolder)
        return Set(names.filter { $0.hasSuffix(".wav") }.map { $0.replacing(/^.*-[0-9]+(-|\.)/, with: "") })
      }
      func end() throws -> Set<String> {
        try graph.waitForTake(frames: 4800)
        try #require(try graph.pinna("record", "stop").status == 0)
        let found = try files()
        try FileManager.default.removeItem(atPath: graph.home.takesFolder)
        return found
      }
      let start = try graph.pinna("record", "start")
      #expect(
        start.output.contains("; recorded: main, anna, ben; not recorded: microphones (--raw);"), "\(start)")
      let take = try graph.status()["take"] as? [String: Any]
      #expect(take?["feeds"] as? [String] == ["main", "anna", "ben"] && take?["raw"] as? Bool == false)
      #expect(try end() == ["wav", "anna.wav", "ben.wav"])
      let some = try graph.pinna("record", "start", "--feeds", "anna", "--raw")
      #expect(some.output.contains("; recorded: anna, microphones; not recorded: main, ben;"), "\(some)")
      #expect(try end() == ["anna.wav", "microphones.wav"])
      let sender = try graph.sender()
      sender.send("/pinna/record", "on")
      #expect(sender.reply(seconds: 10)?.status == 0)
      #expect(try end() == ["wav", "anna.wav", "ben.wav"])
      sender.send("/pinna/record/start", graph.home.takesFolder)
      #expect(sender.reply(seconds: 10)?.status == 0)
      #expect(try end() == ["wav", "anna.wav", "ben.wav"])
    }

    @Test("takes list and the page show feeds, title and markers of a take; both let them be edited after it")
    func edits() throws {
      let graph = try OfflineGraph(preset: "phone5", options: ["--web", "0"], captures: 5)
      try #require(try graph.pinna("feed", "add", "anna", "--pattern", "cardioid").status == 0)
      let path = try graph.startTake(frames: 9600)
      try #require(try graph.pinna("record", "marker", "here").status == 0)
      let refused = try graph.pinna("takes", "edit", path, "--title", "early")
      #expect(refused.status == 1 && refused.error.contains("has not ended"), "\(refused)")
      try graph.stopTake(path)
      let edited = try graph.pinna(
        "takes", "edit", path, "--title", "Probe", "--marker", "0:00.1", "--label", "there")
      #expect(edited.status == 0 && edited.error.isEmpty, "\(edited)")
      let list = try graph.pinna("takes", "list")
      for words in ["“Probe”", "feeds main, anna", "and microphones", "\n  0:00:00.1  there\n", "  here\n"] {
        #expect(list.output.contains(words), "\(list)")
      }
      let visitor = try WebVisitor(graph)
      func take() throws -> [String: Any] {
        let takes = try visitor.ask("GET", "/takes").json()["takes"] as? [[String: Any]]
        return try #require(takes?.first)
      }
      let shown = try take()
      #expect(shown["title"] as? String == "Probe" && shown["feeds"] as? [String] == ["main", "anna"])
      #expect(
        (shown["markers"] as? [[String: Any]])?.compactMap { $0["label"] as? String } == ["there", "here"])
      let name = URL(filePath: path).lastPathComponent
      let headers = ["Content-Type": "application/json"]
      let body = #"{"take":"\#(name)","title":"From the page","marker":0.1,"label":""}"#
      #expect(try visitor.ask("POST", "/takes", headers, body: body).status == 200)
      let changed = try take()
      #expect(changed["title"] as? String == "From the page")
      #expect((changed["markers"] as? [Any])?.count == 1)
      #expect((changed["seats"] as? [String]) == [])
      let seats = #"{"take":"\#(name)","seats":"anna=40; ben=-35,10"}"#
      #expect(try visitor.ask("POST", "/takes", headers, body: seats).status == 200)
      #expect(try take()["seats"] as? [String] == ["anna=40", "ben=-35,10"])
      let none = #"{"take":"\#(name)","seats":""}"#
      #expect(try visitor.ask("POST", "/takes", headers, body: none).status == 200)
      #expect(try take()["seats"] as? [String] == [] && take()["title"] as? String == "From the page")
      for body in [
        #"{"take":"\#(name)","seats":"2=40"}"#, #"{"take":"../\#(name)","title":"x"}"#, #"{"title":"x"}"#,
        "[]",
      ] {
        #expect(try visitor.ask("POST", "/takes", headers, body: body).status >= 400)
      }
    }

    @Test("a take of all feeds has a file of each, in step, which equals what its ports played bit for bit")
    func takes() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 5)
      try #require(
        try graph.pinna("feed", "add", "anna", "--pattern", "cardioid", "--gain", "-3").status == 0)
      try #require(try graph.pinna("feed", "add", "room", "--format", "ambix").status == 0)
      try graph.play(Self.loop)
      var path = ""
      let sound = try graph.record(["anna", "room_w", "room_y", "room_z", "room_x"].map { "pinna:" + $0 }) {
        path = try graph.startTake("--feeds", "all", frames: 96_000)
        try graph.stopTake(path)
      }
      let stem = path.dropLast(4)
      let main = try AudioClip(path: path)
      let anna = try AudioClip(path: "\(stem)-anna.wav")
      let room = try AudioClip(path: "\(stem)-room.wav")
      let microphones = try AudioClip(path: "\(stem)-microphones.wav")
      #expect([main, anna, room, microphones].map(\.channels.count) == [2, 1, 4, 5])
      let length = main.channels[0].count
      #expect(
        Set((main.channels + anna.channels + room.channels + microphones.channels).map(\.count)) == [length])
      let first = try #require(TakeTests().find(main.channels[0], in: sound[0]))
      for (channel, recorded) in zip(sound.indices, main.channels + anna.channels + room.channels) {
        #expect(recorded.contains { $0 != 0 })
        #expect(Array(sound[channel][first..<first + length]) == recorded, "channel \(channel)")
      }
    }

    @Test(
      "feeds go on with another device, and leave no ports of the one before; those it cannot have are named")
    func otherDevice() throws {
      let graph = try OfflineGraph(preset: "phone5")
      for n in 1...4 {
        try #require(try graph.pinna("feed", "add", "k\(n)", "--format", "stereo").status == 0)
      }
      // It has no stereo: each feed has one port there.
      try #require(try graph.pinna("preset", "use", "tetra").status == 0)
      try #require(
        waitUntil(seconds: 10) {
          let feeds = (try? graph.feeds()) ?? [:]
          return feeds.count == 4 && feeds.values.allSatisfy { $0["isHeard"] as? Bool == true }
        }, "\(String(describing: try? graph.feeds()))")
      let ports = try graph.ports().filter { $0.hasPrefix("pinna:k") }
      #expect(ports.count == 4)
      let listed = try graph.feeds().values.flatMap { $0["outputs"] as? [[String: Any]] ?? [] }
      #expect(Set(ports) == Set(listed.compactMap { $0["name"] as? String }.map { "pinna:" + $0 }))
      try #require(try graph.pinna("feed", "add", "m7", "--pattern", "cardioid").status == 0)
      let refused = try graph.pinna("preset", "use", "em32")
      #expect(refused.status == 1 && refused.error.contains("pinna feed remove m7"), "\(refused)")
    }

    @Test("OSC paths, the command line and status name the same feeds and values, and a take locks them")
    func words() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let sender = try graph.sender()
      sender.send("/pinna/feed/add", "anna", "pattern", "cardioid")
      #expect(sender.reply(seconds: 5)?.status == 0)
      sender.send("/pinna/feed/anna/set/gain", "-6")
      #expect(sender.reply(seconds: 5)?.status == 0)
      sender.send("/pinna/feed/set", "anna", "high-pass", "80")
      #expect(sender.reply(seconds: 5)?.status == 0)
      sender.send("/pinna/feed/anna/set/gain")
      #expect(sender.reply(seconds: 5)?.text == #"{"gain":-6}"#)
      let feed = try #require((try graph.status()["feeds"] as? [[String: Any]])?.first)
      #expect(feed["name"] as? String == "anna" && feed["gainDB"] as? Double == -6)
      #expect(feed["highPassHz"] as? Double == 80 && feed["polarPattern"] as? String == "cardioid")
      #expect(
        try graph.pinna("status").output.contains(
          "feed anna: Back, cardioid, -6 dB, high-pass 80 Hz; port anna"))
      try #require(try graph.pinna("record", "start").status == 0)
      for words in [
        ["set", "--feed", "anna", "--gain", "0"], ["feed", "remove", "anna"], ["feed", "add", "ben"],
      ] {
        #expect(try graph.home.pinna(words).status == 5)
      }
      let stopped = try graph.pinna("record", "stop")
      try #require(stopped.status == 0, "\(stopped)")
      #expect(try graph.pinna("feed", "remove", "nobody").status == 2)
      #expect(try graph.pinna("feed", "remove", "anna").status == 0)
      #expect(try graph.feeds().isEmpty)
    }
  }
}
