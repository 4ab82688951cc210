import Acoustics
import AudioFiles
import Foundation
import LiveSupport
import Presets
import Recording
import Simulation
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Talkers") struct TalkerTests {
    private static let azimuth = 62.0

    /// Syllables from one direction, as a device hears them in the free field: 2 s, to be repeated.
    private static func speech(_ name: String = "ring7") throws -> [[Float]] {
      let device = try PresetLibrary(folders: [repositoryFolder + "/Presets"]).device(named: name)
      let source = try device.dataSource(named: "Front")
      let frame = device.frame(of: source, .portrait)
      var random = SeededNoise(seed: 5)
      let syllables = random.samples(96_000, amplitude: 0.2).enumerated().map { n, sample in
        n % 9600 < 6000 ? sample * exp(-Float(n % 9600) / 2400) : 0
      }
      let wave = PlaneWave(
        signal: BandlimitedSignal(samples: syllables, sampleRate: 48_000),
        from: Look(azimuth: azimuth)!.direction(in: frame))
      return device.microphones.map { microphone in
        // Never silent digitally, as after a cable was pulled.
        zip(wave.heard(at: microphone.position, rate: 48_000, count: 96_000), random.samples(96_000))
          .map { $0 + 1e-4 * $1 }
      }
    }

    private func talkers(_ graph: OfflineGraph) throws -> [[String: Any]] {
      let outcome = try graph.pinna("talkers", "--json")
      guard outcome.status == 0 else { return [] }
      return try outcome.json()["talkers"] as? [[String: Any]] ?? []
    }

    private func isFound(_ graph: OfflineGraph) throws -> Bool {
      try waitUntil(seconds: 60, every: 100) {
        try talkers(graph).contains {
          $0["isActive"] as? Bool == true && abs(($0["azimuth"] as? Double ?? 0) - Self.azimuth) < 3
        }
      }
    }

    @Test(
      "who speaks is told by the verb, in the status and over OSC, ten times a second, and is gone 5 s after",
      .long)
    func told() throws {
      let graph = try OfflineGraph(
        preset: "ring7", period: 256, options: ["--talkers", "--osc-port", "0"], captures: 7, speed: 1)
      try graph.play(Self.speech())
      try #require(try isFound(graph))
      #expect(try graph.status()["adaptationText"] == nil)
      let text = try graph.pinna("status").output
      #expect(text.contains(#/, following the sound \d+\.\d % of a core/#), "\(text)")
      #expect(text.contains(#/talkers: \d+ at 6[0-4]° \(-\d\d dB\)/#), "\(text)")
      let sender = try graph.udpSender(feedback: "levels")
      let start = ContinuousClock.now
      var told = 0
      while told < 20, ContinuousClock.now - start < .seconds(10) {
        guard let message = sender.message(seconds: 1), message.path == "/pinna/talkers" else { continue }
        told += 1
        guard case .float(let azimuth)? = message.arguments.dropFirst().first else { continue }
        #expect(message.arguments.count % 5 == 0 && abs(Double(azimuth) - Self.azimuth) < 5)
      }
      let took = ContinuousClock.now - start
      #expect(
        told == 20 && took > .milliseconds(1800) && took < .milliseconds(2500), "\(took)")
      let follow = try Program(
        PinnaHome.binary(), ["talkers", "--follow"], environment: graph.home.environment)
      #expect(
        waitUntil(seconds: 10) { follow.outputText.contains(#/^\d+ at 6[0-4]° \(/#) }, "\(follow.outputText)")
      follow.stop()
      // A reader that leaves ends it.
      let first = try Program.run(
        "/bin/sh", ["-c", "\"$0\" talkers --follow | head -n 1", PinnaHome.binary()],
        environment: graph.home.environment, seconds: 10)
      #expect(first.output.contains(" at "), "\(first)")
      for ends in try graph.connections() where ends[0].hasPrefix("system:capture") {
        try graph.command("disconnect", ends[0], ends[1])
      }
      #expect(try waitUntil(seconds: 20, every: 100) { try talkers(graph).isEmpty })
    }

    @Test("after an invalid sample, which mutes a microphone for a second, everybody is who they were", .long)
    func invalidSample() throws {
      let graph = try OfflineGraph(preset: "ring7", period: 256, options: ["--talkers"], captures: 7)
      func identities() throws -> [Int] {
        try talkers(graph).filter { $0["isActive"] as? Bool == true }.compactMap { $0["identity"] as? Int }
      }
      var sound = try Self.speech()
      try graph.play(sound)
      try #require(try isFound(graph))
      let before = try identities()
      try #require(before.count == 1)
      sound[3][4800] = .nan
      try graph.play(sound)
      try #require(
        try waitUntil(seconds: 60) { try graph.status()["rejectedSamples"] as? Int ?? 0 > 0 })
      try graph.play(try Self.speech())
      try #require(try isFound(graph))
      #expect(try identities() == before)
    }

    @Test(
      "a beam follows who speaks, also during a take, whose sidecar tells it, and which is rendered again bit for bit"
    )
    func follows() throws {
      let graph = try OfflineGraph(preset: "ring7", period: 256, captures: 7)
      let set = try graph.pinna("set", "--pattern", "cardioid", "--follow", "talker")
      try #require(set.status == 0, "\(set)")
      try graph.play(Self.speech())
      try #require(try isFound(graph))
      /// Records, and returns the looks that the beam had.
      func take() throws -> (path: String, sidecar: Sidecar, looks: [Double]) {
        let path = try graph.startTake(frames: 72_000)
        let sidecar = try graph.stopTake(path)
        return (path, sidecar, try sidecar.turns(of: "main").compactMap { $0.look?.azimuth })
      }
      // The looks around are designed while nothing else happens: the longer, the nearer is the nearest.
      let end = ContinuousClock.now + .seconds(180)
      var (path, sidecar, looks) = try take()
      var idle = 0
      // In steps of 5°, with 3° of play.
      while abs((looks.last ?? 0) - Self.azimuth) > 5, .now < end {
        idle += 48_000
        try graph.wait(frames: idle)
        (path, sidecar, looks) = try take()
      }
      #expect(abs(try #require(looks.last) - Self.azimuth) <= 5, "\(looks)")
      #expect(sidecar.talkers?.contains(#/ 6[0-4] -\d\d/#) == true, "\(sidecar.talkers ?? "nil")")
      let again = graph.home.folder.path + "/again.wav"
      let render = try graph.pinna("render", "--force", path, again)
      try #require(render.status == 0, "\(render)")
      let (live, rendered) = (try AudioClip(path: path).channels[0], try AudioClip(path: again).channels[0])
      let first = zip(live, rendered).enumerated().first { $1.0 != $1.1 }
      #expect(
        live.count == rendered.count && first == nil,
        "differs from frame \(first?.offset ?? 0) of \(live.count) on: \(looks)")
    }

    @Test("from the sidecar and from the raw microphones of a take: the same file, also after a pre-roll")
    func sameFile() throws {
      let graph = try OfflineGraph(
        preset: "ring7", period: 256, options: ["--talkers", "--pre-roll", "3", "--web", "0"], captures: 7)
      try graph.play(Self.speech())
      try #require(try isFound(graph))
      // Who was looked for only in a part of the pre-roll is told only in that.
      try graph.wait(frames: 192_000)
      let path = try graph.startTake("--raw", frames: 480_000)
      let page = "/talkers/" + URL(filePath: path).lastPathComponent
      #expect(try WebVisitor(graph).ask("GET", page).status == 404, "a take is drawn when it has ended")
      let sidecar = try graph.stopTake(path)
      #expect(sidecar.preRollFrames > 0 && sidecar.talkers != nil)
      func file() throws -> String {
        let outcome = try graph.pinna("talkers", path, "--to", "rttm")
        try #require(outcome.status == 0, "\(outcome)")
        return outcome.output
      }
      let listed = try file()
      #expect(listed.contains(#/SPEAKER \S+ 1 0\.\d+ \d+\.\d+ <NA> <NA> talker_1 /#), "\(listed)")
      let picture = try WebVisitor(graph).ask("GET", page)
      #expect(picture.status == 200 && picture.headers["content-type"] == "image/svg+xml", "\(picture)")
      #expect(picture.body.contains("<svg"))
      let json = String(path.dropLast(3)) + "json"
      let text = try String(contentsOfFile: json, encoding: .utf8)
      try text.replacing(#/"talkers" ?: ?"[^"]*",?/#, with: "").write(
        toFile: json, atomically: true, encoding: .utf8)
      #expect(try file() == listed)
    }

    @Test(
      "a seat that is set while it runs, also over OSC, is who a part names, and is refused during a take")
    func seat() throws {
      let graph = try OfflineGraph(
        preset: "ring7", period: 256, options: ["--talkers", "--osc-port", "0"], captures: 7)
      #expect(try graph.pinna("feed", "add", "who", "--part", "anna").status == 0)
      try graph.play(Self.speech())
      try #require(try isFound(graph))
      func isHeard() throws -> Bool {
        let levels = try graph.status()["levels"] as? [String: Any]
        let feeds = levels?["feeds"] as? [[String: Any]] ?? []
        return feeds.contains { ($0["peakDB"] as? Double ?? -150) > -100 }
      }
      #expect(try !isHeard())
      let set = try graph.pinna("set", "--seat", "anna=60", "--seat", "ben=-60")
      #expect(set.status == 0 && set.output.contains("seats: anna=60; ben=-60"), "\(set)")
      #expect(try waitUntil(seconds: 60, every: 100) { try isHeard() })
      #expect(try talkers(graph).first?["name"] as? String == "anna")
      let sender = try graph.udpSender(feedback: "state")
      sender.send("/pinna/set/seat", .string("cleo=60"))
      #expect(
        try waitUntil(seconds: 10) { try graph.status()["seats"] as? [String] == ["ben=-60", "cleo=60"] })
      let path = try graph.startTake()
      let refused = try graph.pinna("set", "--seat", "dan=0")
      #expect(refused.status == 5 && refused.isOneSentence, "\(refused)")
      let sidecar = try graph.stopTake(path)
      #expect(sidecar.setup.seats == ["ben=-60", "cleo=60"])
    }

    @Test("an array of sixteen microphones tells who speaks where")
    func large() throws {
      let graph = try OfflineGraph(
        preset: "uma16", period: 256, options: ["--talkers"], captures: 16, speed: 1)
      try graph.play(Self.speech("uma16"))
      #expect(try isFound(graph))
    }
  }
}
