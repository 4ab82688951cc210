import AudioFiles
import Foundation
import JackTools
import LiveSupport
import Recording
import TestSupport
import Testing

extension LiveTests {
  @Suite("Following a pose in a JACK graph") struct FollowTests {
    @Test(
      "a take whose feeds follow roll, yaw and look is rendered again bit for bit, while settings are locked")
    func takes() throws {
      let graph = try LiveGraph(preset: "phone5")
      let set = try graph.pinna(
        "set", "--data-source", "Back", "--pattern", "stereo", "--orientation", "portrait", "--follow", "roll"
      )
      try #require(set.status == 0, "\(set)")
      try #require(try graph.pinna("feed", "add", "room", "--format", "ambix", "--follow", "yaw").status == 0)
      try #require(
        try graph.pinna("feed", "add", "beam", "--pattern", "cardioid", "--look", "30", "--follow", "look")
          .status == 0)
      let sender = try graph.sender()
      func pose(_ angle: Double) throws {
        sender.send("/ypr", "\(-angle)", "5", "\(angle)")
        try #require(sender.reply(seconds: 5)?.status == 0)
      }
      let player = try graph.player(Self.noise, repeats: true)
      player.start()
      try #require(waitUntil(seconds: 10) { player.isFinished })
      /// Records while poses come in. Returns what each feed played.
      func take() throws -> (path: String, turns: [String: String]) {
        let path = try graph.freewheel {
          let start = try graph.pinna("record", "start", "--feeds", "all", "--raw", "--json")
          try #require(start.status == 0, "\(start)")
          #expect(try graph.pinna("set", "--roll", "3").status == 5)
          for step in 0..<60 {
            try pose(Double(step % 20) - 10)
            usleep(8_000)
          }
          try #require(try graph.pinna("record", "stop").status == 0)
          return try #require(try start.json()["take"] as? String)
        }
        let sidecar = try Data(contentsOf: URL(fileURLWithPath: path.dropLast(4) + ".json"))
        return (
          path,
          try #require(
            (try JSONSerialization.jsonObject(with: sidecar) as? [String: Any])?["turns"] as? [String: String]
          )
        )
      }
      // The filters around this pose are designed while nothing else happens.
      let end = ContinuousClock.now + .seconds(180)
      var (path, turns) = ("", [String: String]())
      repeat {
        try pose(4)
        usleep(6_000_000)
        (path, turns) = try take()
      } while turns.values.contains { $0.split(separator: ";").count <= 4 } && .now < end
      #expect(Set(turns.keys) == ["main", "room", "beam"])
      #expect(turns.values.allSatisfy { $0.split(separator: ";").count > 4 }, "\(turns)")
      try expectAgain(path, [("main", ""), ("room", "-room"), ("beam", "-beam")], graph)
      withExtendedLifetime(player) {}
    }

    @Test(
      "a take in which a microphone fails while feeds follow is rendered again bit for bit, every feed of it")
    func fallback() throws {
      let graph = try LiveGraph(preset: "phone5", synchronous: true)
      let set = try graph.pinna(
        "set", "--data-source", "Back", "--pattern", "stereo", "--orientation", "portrait", "--follow", "roll"
      )
      try #require(set.status == 0, "\(set)")
      try #require(try graph.pinna("feed", "add", "anna", "--pattern", "cardioid").status == 0)
      try #require(try graph.pinna("feed", "add", "room", "--format", "ambix", "--follow", "yaw").status == 0)
      let sender = try graph.sender()
      var step = 0
      func pose() throws {
        step += 1
        let angle = Double(step % 12) - 6
        sender.send("/ypr", "\(3 * angle)", "0", "\(angle)")
        try #require(sender.reply(seconds: 5)?.status == 0)
        usleep(30_000)
      }
      let player = try graph.player(Self.noise, repeats: true)
      player.start()
      try pose()
      // The filters around that pose are designed while nothing else happens.
      usleep(5_000_000)
      let start = try graph.pinna("record", "start", "--feeds", "all", "--raw", "--json")
      try #require(start.status == 0, "\(start)")
      let path = try #require(try start.json()["take"] as? String)
      let wire = try #require(try graph.ports("-c")["pinna:top"]?.first)
      func moves(until isOver: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(60)
        while try !isOver(), ContinuousClock.now < end { try pose() }
        try #require(try isOver())
        for _ in 0..<10 { try pose() }
      }
      func without() throws -> [String]? {
        (try graph.status()["fallback"] as? [String: Any])?["without"] as? [String]
      }
      func jack(_ tool: String) throws {
        let outcome = try Program.run("/usr/bin/\(tool)", ["-s", graph.server.name, wire, "pinna:top"])
        try #require(outcome.status == 0)
      }
      for _ in 0..<10 { try pose() }
      try jack("jack_disconnect")
      try moves { try without() == ["top"] }
      try jack("jack_connect")
      try moves { try without() == nil }
      try #require(try graph.pinna("record", "stop").status == 0)
      let sidecar = try Sidecar.read(path.dropLast(4) + ".json")
      for feed in [nil, "anna", "room"] {
        #expect(sidecar.fallbacks(from: 0, of: feed).map(\.without) == [["top"], []], "\(feed ?? "main")")
      }
      try expectAgain(path, [("main", ""), ("anna", "-anna"), ("room", "-room")], graph)
      withExtendedLifetime(player) {}
    }

    /// Renders a take's feeds and expects what was recorded.
    private func expectAgain(_ path: String, _ feeds: [(name: String, ending: String)], _ graph: LiveGraph)
      throws
    {
      let folder = graph.home.folder.path + "/again"
      let render = try graph.pinna("render", path, "--into", folder)
      try #require(render.status == 0, "\(render)")
      for (name, ending) in feeds {
        let live = try AudioClip(path: path.dropLast(4) + ending + ".wav").channels
        let again = try AudioClip(path: folder + "/\(name).wav").channels
        #expect(live.count == again.count && live[0].count > 4800 && live[0].contains { $0 != 0 })
        let first = zip(live, again).compactMap { a, b in
          zip(a, b).enumerated().first { $1.0 != $1.1 }?.offset
        }
        .min()
        #expect(first == nil, "\(name) differs from frame \(first ?? 0) on")
      }
    }

    /// Where it hears poses.
    private func posePort(_ graph: LiveGraph) throws -> UDPSender {
      let text = graph.program.errorText
      let found = try #require(
        text.firstMatch(of: #/poses of head trackers over UDP on 127.0.0.1:(\d+)/#), "\(text)")
      return UDPSender(port: try #require(UInt16(found.1)))
    }

    @Test(
      "from a tracker's packet to the start of the fade: at most 25 ms and a period at the 95th percentile",
      .enabled(if: !LiveGraph.isPipeWire, "PipeWire leaves clients out of periods on a busy machine"),
      arguments: [64, 256])
    func latency(period: Int) throws {
      let graph = try LiveGraph(
        preset: "phone5", period: period, synchronous: true, options: ["--pose-port", "0"])
      try #require(try graph.pinna("feed", "add", "room", "--format", "ambix", "--follow", "yaw").status == 0)
      let tracker = try posePort(graph)
      // A whole number of frames per cycle: without a change, each frame equals the one a cycle before.
      let cycle = 48
      let tone = (1...5).map {
        Sine.samples(frequency: 1000, rate: 48000, count: 48000, amplitude: 0.1 * Double($0))
      }
      let player = try graph.player(tone, repeats: true)
      player.start()
      let recorder = try SignalRecorder(
        name: "recorder", server: graph.server.name, channels: 1, capacityFrames: 60 * 48000)
      try #require(recorder.connect(from: ["pinna:room_y"]))
      usleep(500_000)
      var random = SeededNoise(seed: 7)
      var events: [Int] = []
      for n in 0..<60 {
        let event = recorder.frames
        events.append(event)
        tracker.send("/ypr", .float(n % 2 == 0 ? 90 : 0), .float(0), .float(0))
        // By the server's clock, which is slow on a busy machine.
        let next = event + Int.random(in: 3840...5280, using: &random)
        try #require(waitUntil(seconds: 10) { recorder.frames >= next })
      }
      let signal = recorder.everything[0]
      func changes(_ n: Int) -> Bool { n >= cycle && abs(signal[n] - signal[n - cycle]) > 1e-4 }
      var delays: [Double] = []
      for event in events {
        #expect(
          !(event - 9 * cycle..<event).contains(where: changes), "the tone is not steady before the pose")
        let start = (event..<min(event + 3600, signal.count)).first(where: changes)
        delays.append(Double((start ?? event + 3600) - event) / 48)
      }
      delays.sort()
      let limit = Faults.patience(.milliseconds(25)) / .milliseconds(1) + Double(period) / 48
      #expect(delays[57] <= limit, "\(delays)")
      print(
        String(
          format: "pose to fade at period %d: median %.1f ms, 95th percentile %.1f ms", period, delays[30],
          delays[57]))
      withExtendedLifetime(player) {}
    }

    @Test("200 poses a second keep the memory and the answers of the control socket as they are")
    func flood() throws {
      let seconds =
        ProcessInfo.processInfo.environment["PINNA_MEMORY_SECONDS"].flatMap(Double.init) ?? 4
      let graph = try LiveGraph(preset: "phone5", period: 256, options: ["--pose-port", "0"])
      // Designs for stereo are kept, too; a long run ends with all of them.
      let follows = seconds < 60 ? [] : ["--follow", "roll,yaw"]
      try #require(
        try graph.home.pinna(
          ["set", "--data-source", "Back", "--pattern", "stereo", "--orientation", "portrait"] + follows
        ).status == 0)
      try #require(try graph.pinna("feed", "add", "room", "--format", "ambix", "--follow", "yaw").status == 0)
      let tracker = try posePort(graph)
      let sender = try graph.sender()
      var (slowest, first): (Duration, Int?) = (.zero, nil)
      let began = ContinuousClock.now
      var n = 0.0
      while ContinuousClock.now - began < .seconds(seconds) {
        tracker.send(
          "/ypr", .float(Float(10 * sin(n / 90))), .float(Float(5 * sin(n / 50))),
          .float(Float(12 * sin(n / 70))))
        usleep(5000)
        n += 1
        guard Int(n) % 100 == 0 else { continue }
        let asked = ContinuousClock.now
        sender.send("/pinna/status")
        try #require(sender.reply(seconds: 5)?.status == 0)
        slowest = max(slowest, ContinuousClock.now - asked)
        // What is designed ahead and kept is there by then.
        if first == nil, ContinuousClock.now - began > .seconds(seconds / 2) {
          first = try graph.program.residentMemory()
        }
      }
      let grown = try graph.program.residentMemory() - #require(first)
      #expect(slowest <= Faults.patience(.milliseconds(100)))
      #expect(grown < 32 << 10, "\(grown) kB")
      let xruns = try graph.status()["xruns"] as? Int ?? -1
      print(
        "\(Int(n)) poses in \(seconds) s: slowest answer \(slowest), \(grown) kB more in the second half, \(xruns) xruns"
      )
    }

    /// Five microphones.
    private static let noise: [[Float]] = {
      var noise = SeededNoise(seed: 41)
      return (0..<5).map { _ in noise.samples(24_000, amplitude: 0.1) }
    }()
  }
}
