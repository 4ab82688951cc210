import Acoustics
import Foundation
import JackTools
import LiveSupport
import Messages
import Simulation
import TestSupport
import Testing

/// The duration of each soak in seconds; `make soak` takes 60.
private let soakSeconds = Double(ProcessInfo.processInfo.environment["PINNA_SOAK_SECONDS"] ?? "") ?? 10

extension LiveTests {
  @Suite("Changes every 20 ms") struct SoakTests {
    /// A second of 997 Hz at −12 dBFS, which repeats without a seam, as a plane wave at phone5's microphones.
    static let tone: [[Float]] = {
      let direction = Direction([0.5, 0.3, -0.8])!
      return TestDevices.phone5().microphones.map { microphone in
        Sine.samples(
          frequency: 997, rate: 48000, count: 48000,
          shift: PlaneWave.lead(at: microphone.position, from: direction), amplitude: 0.2512)
      }
    }()

    /// A home with two presets of phone5 that differ in every setting of a preset.
    func home() throws -> PinnaHome {
      let home = try PinnaHome()
      for (name, source, pattern, orientation, gain) in [
        ("soak-a", "Back", "stereo", "portrait", 0), ("soak-b", "Front", "cardioid", "landscapeLeft", -6),
      ] {
        try home.folder.write(
          """
          title: Soak
          device: phone5
          dataSource: \(source)
          polarPattern: \(pattern)
          inputOrientation: \(orientation)
          gain: \(gain)
          """, to: "config/pinna/\(name).yaml")
      }
      return home
    }

    /// A random change of orientation, pattern, data source or preset.
    func change(_ noise: inout SeededNoise) -> OSCMessage {
      let orientations = ["portrait", "portraitUpsideDown", "landscapeLeft", "landscapeRight"]
      let patterns = [
        "omnidirectional", "subcardioid", "cardioid", "supercardioid", "hypercardioid", "stereo",
      ]
      func message(_ method: String, _ words: [String]) -> OSCMessage {
        OSCMessage("/pinna/\(method)", [.string(words.randomElement(using: &noise)!)])
      }
      switch Int.random(in: 0..<4, using: &noise) {
      case 0: return message("set/orientation", orientations)
      case 1: return message("set/pattern", patterns)
      case 2: return message("set/data-source", ["Front", "Back"])
      default: return message("preset/use", ["soak-a", "soak-b", "phone5"])
      }
    }

    /// Counts the outcomes of the changes.
    struct Tally {
      var sent = 0
      var applied = 0
      var superseded = 0
      var other: [String] = []
      var answered: Int { applied + superseded + other.count }

      mutating func count(_ reply: ControlSender.Reply) {
        if reply.status == 0 {
          applied += 1
        } else if reply.text.hasPrefix("superseded") {
          superseded += 1
        } else {
          other.append(reply.text)
        }
      }
    }

    /// Sends a change every 20 ms of the player's sound for the whole soak and calls `everySecond` in between.
    func soak(
      _ graph: LiveGraph, _ player: SignalPlayer, everySecond: (Int) throws -> Void = { _ in }
    ) throws -> Tally {
      let sender = try graph.sender()
      var noise = SeededNoise(seed: 20)
      var tally = Tally()
      let start = player.framesPlayed
      var seconds = 0
      while player.framesPlayed - start < Int(soakSeconds * 48_000) {
        sender.send(change(&noise).packet)
        tally.sent += 1
        while let reply = sender.reply(seconds: 0) { tally.count(reply) }
        if tally.sent >= 50 * (seconds + 1) {
          seconds += 1
          try everySecond(seconds)
        }
        try player.wait(frames: start + 960 * tally.sent - player.framesPlayed)
      }
      while tally.answered < tally.sent, let reply = sender.reply(seconds: 2) { tally.count(reply) }
      return tally
    }

    func expectAllAnswered(_ tally: Tally) {
      #expect(tally.other.isEmpty, "\(tally.other.prefix(3))")
      #expect(tally.answered == tally.sent, "\(tally)")
      #expect(tally.applied > tally.sent / 4, "\(tally)")
      #expect(Double(tally.sent) > 40 * soakSeconds, "\(tally)")
    }

    @Test("R3: changes leave nothing above -80 dBFS beyond 500 Hz of a tone, and each is answered (R2)")
    func clicks() throws {
      let graph = try LiveGraph(preset: "phone5", home: home())
      // Freewheel slowed to real time: the server loses no frame, so every click is Pinna's.
      let brake = try Brake(server: graph.server.name)
      let player = try graph.player(Self.tone, repeats: true)
      let recorder = try graph.recorder(seconds: 2 * soakSeconds + 10)
      let tally = try graph.freewheel {
        player.start()
        try player.wait(frames: 9600)
        return try soak(graph, player)
      }
      expectAllAnswered(tally)
      let sound = recorder.everything
      let start = try #require(sound[2].firstIndex { $0 != 0 }) + 4800
      let end = sound[0].count - 4800
      try #require(end - start > Int(soakSeconds * 40_000))
      #expect(framesThatDiffer(sound[2][start..<end]) == 0, "the server lost frames in freewheel")
      var worst = -Double.infinity
      for channel in sound.prefix(2) {
        #expect(level(channel[start..<end]) > -40)
        worst = max(worst, splatter(channel[start..<end]))
      }
      #expect(worst < -80, "\(worst) dBFS")
      Faults.report(
        "R3", done: "\(tally.applied) of \(tally.sent) changes in a graph: beyond 500 Hz of a tone",
        measured: String(format: "%.0f dBFS", worst), limit: "< −80 dBFS", kept: worst < -80)
      withExtendedLifetime((player, brake)) {}
    }

    /// The highest level farther than 500 Hz from the tone, in windows of 2.7 s that overlap by half.
    func splatter(_ signal: ArraySlice<Float>) -> Double {
      let size = 131_072
      return stride(from: signal.startIndex, through: signal.endIndex - size, by: size / 2).map {
        Spectrum(Array(signal[$0..<$0 + size]), sampleRate: 48000).peakOutside(997, distance: 500)
      }.max() ?? .infinity
    }

    /// Counts the frames that differ from the frame a second before.
    func framesThatDiffer(_ signal: ArraySlice<Float>) -> Int {
      zip(signal, signal.dropFirst(48000)).count { $0 != $1 }
    }

    @Test(
      "under changes and a new period every second, Pinna answers, follows and never meets an unprepared period"
    )
    func periods() throws {
      let graph = try LiveGraph(preset: "phone5", home: home())
      let player = try graph.player(Self.tone, repeats: true)
      let recorder = try graph.recorder(seconds: 2 * soakSeconds + 10)
      player.start()
      try player.wait(frames: 9600)
      let periods = [64, 1000, 32, 441, 128, 1024, 48, 512, 100, 256]
      if ProcessInfo.processInfo.environment["LD_PRELOAD"]?.contains("rtsan") == true {
        let maps = try Program.run("/bin/cat", ["/proc/\(graph.program.pid)/maps"]).output
        #expect(maps.contains("librtsan"), "Pinna does not run under RealtimeSanitizer")
      }
      let tally = try soak(graph, player) { second in
        #expect(graph.requestPeriod(periods[second % periods.count]))
      }
      expectAllAnswered(tally)
      #expect(graph.requestPeriod(480))
      #expect(try waitUntil(seconds: 2) { try graph.status()["period"] as? Int == 480 })
      let status = try graph.status()
      #expect(status["unpreparedPeriods"] as? Int == 0)
      #expect(status["clippedSamples"] as? Int == 0)
      #expect(status["rejectedSamples"] as? Int == 0)
      #expect(graph.program.isRunning)
      // An unprepared period is silent.
      let sound = recorder.everything
      let start = try #require(sound[2].firstIndex { $0 != 0 }) + 4096
      let allowed = silences(in: sound[2], shortest: 16).map { $0.lowerBound - 4096..<$0.upperBound + 4096 }
      print("\(tally); \(allowed.count) silences of the server's own")
      for channel in sound.prefix(2) {
        for silence in silences(in: channel, shortest: 16) where silence.lowerBound > start {
          #expect(allowed.contains { $0.overlaps(silence) }, "silent in frames \(silence)")
        }
      }
      #expect(try graph.pinna("stop").status == 0)
      #expect(graph.program.wait(seconds: 5)?.status == 0)
      withExtendedLifetime(player) {}
    }
  }
}
