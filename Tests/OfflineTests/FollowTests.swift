import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Following a pose") struct FollowTests {
    /// A graph in which main follows roll, and a feed room yaw.
    private func following() throws -> OfflineGraph {
      let graph = try OfflineGraph(preset: "phone5", captures: 5)
      let set = try graph.pinna(
        "set", "--data-source", "Back", "--pattern", "stereo", "--orientation", "portrait", "--follow", "roll"
      )
      try #require(set.status == 0, "\(set)")
      try #require(try graph.pinna("feed", "add", "room", "--format", "ambix", "--follow", "yaw").status == 0)
      return graph
    }

    @Test(
      "a take whose feeds follow roll, yaw and look is rendered again bit for bit, while settings are locked")
    func takes() throws {
      let graph = try following()
      try #require(
        try graph.pinna("feed", "add", "beam", "--pattern", "cardioid", "--look", "30", "--follow", "look")
          .status == 0)
      let sender = try graph.sender()
      func pose(_ angle: Double) throws {
        sender.send("/ypr", "\(-angle)", "5", "\(angle)")
        try #require(sender.reply(seconds: 5)?.status == 0)
      }
      try graph.play(Self.noise)
      /// Records while poses come in. Returns what each feed played.
      func take() throws -> (path: String, turns: [String: String]) {
        let path = try graph.startTake("--feeds", "all")
        #expect(try graph.pinna("set", "--roll", "3").status == 5)
        for step in 0..<60 {
          try pose(Double(step % 20) - 10)
          try graph.wait(frames: 1920)
        }
        try graph.stopTake(path)
        let sidecar = try Data(contentsOf: URL(fileURLWithPath: path.dropLast(4) + ".json"))
        return (
          path,
          try #require(
            (try JSONSerialization.jsonObject(with: sidecar) as? [String: Any])?["turns"] as? [String: String]
          )
        )
      }
      // The filters around this pose are designed while nothing else happens: the longer, the more of them.
      let end = ContinuousClock.now + .seconds(180)
      var (path, turns, idle) = ("", [String: String](), 0)
      repeat {
        try pose(4)
        idle += 48_000
        try graph.wait(frames: idle)
        (path, turns) = try take()
      } while turns.values.contains { $0.split(separator: ";").count <= 4 } && .now < end
      #expect(Set(turns.keys) == ["main", "room", "beam"])
      #expect(turns.values.allSatisfy { $0.split(separator: ";").count > 4 }, "\(turns)")
      try expectAgain(path, [("main", ""), ("room", "-room"), ("beam", "-beam")], graph)
    }

    @Test(
      "a take in which a microphone fails while feeds follow is rendered again bit for bit, every feed of it",
      .long)
    func fallback() throws {
      let graph = try following()
      try #require(try graph.pinna("feed", "add", "anna", "--pattern", "cardioid").status == 0)
      let sender = try graph.sender()
      var step = 0
      func pose() throws {
        step += 1
        let angle = Double(step % 12) - 6
        sender.send("/ypr", "\(3 * angle)", "0", "\(angle)")
        try #require(sender.reply(seconds: 5)?.status == 0)
        try graph.wait(frames: 1440)
      }
      try graph.play(Self.noise)
      try pose()
      // The filters around that pose are designed while nothing else happens.
      try graph.wait(frames: 384_000)
      let path = try graph.startTake("--feeds", "all")
      func moves(until isOver: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(60)
        while try !isOver(), ContinuousClock.now < end { try pose() }
        try #require(try isOver())
        for _ in 0..<10 { try pose() }
      }
      func without() throws -> [String]? {
        (try graph.status()["fallback"] as? [String: Any])?["without"] as? [String]
      }
      for _ in 0..<10 { try pose() }
      try graph.command("disconnect", "system:capture_5", "pinna:top")
      try moves { try without() == ["top"] }
      try graph.command("connect", "system:capture_5", "pinna:top")
      try moves { try without() == nil }
      try #require(try graph.pinna("record", "stop").status == 0)
      let sidecar = try Sidecar.read(path.dropLast(4) + ".json")
      for feed in ["main", "anna", "room"] {
        #expect(sidecar.fallbacks(from: 0, of: feed).map(\.without) == [["top"], []], "\(feed)")
      }
      try expectAgain(path, [("main", ""), ("anna", "-anna"), ("room", "-room")], graph)
    }

    /// Renders a take's feeds and expects what was recorded.
    private func expectAgain(_ path: String, _ feeds: [(name: String, ending: String)], _ graph: OfflineGraph)
      throws
    {
      let folder = graph.home.folder.path + "/again"
      let render = try graph.pinna("render", "--force", path, "--into", folder)
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
    private func posePort(_ graph: OfflineGraph) throws -> UDPSender {
      let text = graph.program.errorText
      let found = try #require(
        text.firstMatch(of: #/poses of head trackers over UDP on 127.0.0.1:(\d+)/#), "\(text)")
      return UDPSender(port: try #require(UInt16(found.1)))
    }

    @Test(
      "from a tracker's packet to the start of the fade: at most 25 ms and a period at the 95th percentile",
      .nightly, arguments: [64, 256])
    func latency(period: Int) throws {
      let graph = try OfflineGraph(
        preset: "phone5", period: period, options: ["--pose-port", "0"], captures: 5, speed: 1)
      try #require(try graph.pinna("feed", "add", "room", "--format", "ambix", "--follow", "yaw").status == 0)
      let tracker = try posePort(graph)
      // A whole number of frames per cycle: without a change, each frame equals the one a cycle before.
      let cycle = 48
      let tone = (1...5).map {
        Sine.samples(frequency: 1000, rate: 48000, count: 48000, amplitude: 0.1 * Double($0))
      }
      try graph.play(tone)
      try graph.wait(frames: 24_000)
      // On a shared machine the time allowed is longer, and so is that between two poses.
      let count = Faults.areHeavy ? 60 : 30
      let (window, pauses) = Faults.areHeavy ? (3600, 3840...5280) : (14_400, 14_640...16_080)
      var random = SeededNoise(seed: 7)
      var events: [Int] = []
      let everything = try graph.record(["pinna:room_y", FrameClock.port]) {
        try graph.wait(frames: 4800)
        for n in 0..<count {
          events.append(try graph.frame())
          tracker.send("/ypr", .float(n % 2 == 0 ? 90 : 0), .float(0), .float(0))
          // By the graph's clock, which is slow on a busy machine.
          try graph.wait(frames: Int.random(in: pauses, using: &random))
        }
      }
      let signal = everything[2]
      let began = try #require(FrameClock.time(everything[3][0]))
      events = events.map { $0 - began }
      func changes(_ n: Int) -> Bool { n >= cycle && abs(signal[n] - signal[n - cycle]) > 1e-4 }
      var delays: [Double] = []
      for event in events {
        // A tone that is not steady before the pose still follows the one before, which is as late.
        let isSteady = !(event - 9 * cycle..<event).contains(where: changes)
        let start = isSteady ? (event..<min(event + window, signal.count)).first(where: changes) : nil
        delays.append(Double((start ?? event + window) - event) / 48)
      }
      delays.sort()
      let limit = Faults.patience(.milliseconds(25)) / .milliseconds(1) + Double(period) / 48
      let percentile = delays[count * 95 / 100]
      #expect(percentile <= limit && percentile < Double(window) / 48, "\(delays)")
      print(
        String(
          format: "pose to fade at period %d: median %.1f ms, 95th percentile %.1f ms", period,
          delays[count / 2], percentile))
    }

    @Test("200 poses a second keep the memory and the answers of the control socket as they are")
    func flood() throws {
      let seconds =
        ProcessInfo.processInfo.environment["PINNA_MEMORY_SECONDS"].flatMap(Double.init) ?? 4
      let graph = try OfflineGraph(preset: "phone5", period: 256, options: ["--pose-port", "0"], speed: 1)
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
        try graph.wait(frames: 240)
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
    private static let noise: [[Float]] = SeededNoise.channels(5, 24_000, amplitude: 0.1, seed: 41)
  }
}
