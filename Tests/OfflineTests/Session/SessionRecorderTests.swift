import AudioFiles
import Foundation
import LiveSupport
import PinnaSession
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Recorder and outputs of a session") struct SessionRecorderTests {
    @Test("S18: the recorder records, meters two levels, lists the take, and plays it back bit for bit")
    func recordAndPlay() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 5)
      let session = graph.session()
      let recorder = AudioRecorder(session)
      #expect(throws: SessionError.category(.playback, needed: [.record, .playAndRecord])) {
        try recorder.record(to: graph.home.takesFolder)
      }
      try session.setCategory(.playAndRecord)
      let early = #expect(throws: SessionError.self) { try recorder.record(to: graph.home.takesFolder) }
      #expect(early?.description.contains("setActive") == true)
      try session.setActive(true)
      try graph.play(SeededNoise.loop(channels: 5))
      try session.source("Back").setPreferredPolarPattern(.stereo)
      try session.activeInput?.setPreferredDataSource(session.source("Back"))

      let path = try recorder.record(to: graph.home.takesFolder)
      #expect(recorder.state == .recording)
      try graph.waitForTake(frames: 28_800)
      let levels = try #require(recorder.levels)
      #expect(levels.left.rms > -60 && levels.right.rms > -60 && levels.left.peak > levels.left.rms)
      #expect(throws: SessionError.self) { try recorder.play(path) }
      #expect(recorder.takes(in: graph.home.takesFolder) == [])
      let take = try #require(try recorder.stop())
      #expect(take.path == path && take.numberOfChannels == 2 && take.frames > 20_000)
      // A sound that is not a take and a take that a crash cut off are not listed.
      for stranger in ["song.wav", "2026-11-21T000000-phone5-1.wav.part"] {
        try FileManager.default.copyItem(atPath: path, toPath: "\(graph.home.takesFolder)/\(stranger)")
      }
      #expect(recorder.takes(in: graph.home.takesFolder) == [path] && recorder.state == .stopped)

      // What is heard now is not in the take.
      try graph.play(SeededNoise.loop(channels: 5, seed: 4))
      let heard = try graph.record {
        try recorder.play(path)
        #expect(recorder.state == .playing)
        #expect(throws: SessionError.self) { try recorder.record(to: graph.home.takesFolder) }
        #expect(waitUntil(seconds: 5) { recorder.state == .stopped })
      }
      // Between the fades, of 960 frames each, the output is exactly the take.
      let clip = try AudioClip(path: path)
      let middle = 1000..<(clip.frames - 1500)
      let head = Array(clip.channels[0][middle.prefix(64)])
      let start = try #require(heard[0].indices.first { heard[0][$0...].starts(with: head) })
      for channel in 0..<2 {
        let here = heard[channel][start..<(start + middle.count)]
        #expect(here.map(\.bitPattern) == clip.channels[channel][middle].map(\.bitPattern))
      }
    }

    @Test(
      "S18: pinna play plays and --stop ends it; unplayable files are refused in words and change nothing")
    func playVerb() throws {
      // As slow as sound: what is played lasts while it is looked at.
      let graph = try OfflineGraph(preset: "phone2", speed: 1)
      let folder = graph.home.folder.path
      var noise = SeededNoise(seed: 5)
      for (name, rate, channels) in [("mono", 48000, 1), ("slow", 44100, 2), ("many", 48000, 3)] {
        try AudioClip(
          sampleRate: rate, channels: (0..<channels).map { _ in noise.samples(480_000, amplitude: 0.2) }
        )
        .write(wav: "\(folder)/\(name).wav")
      }
      try graph.home.folder.write("no sound", to: "text.wav")
      // R19: a FIFO that nobody writes to blocks whoever opens it.
      try #require(mkfifo("\(folder)/fifo.wav", 0o600) == 0)
      let before = try graph.stableStatus()
      for (name, word) in [
        ("fifo", "not a regular file"), ("slow", "44100"), ("many", "3 channels"), ("text", "cannot read"),
        ("nosuch", "nosuch"),
      ] {
        let refused = try graph.pinna("play", "\(folder)/\(name).wav")
        #expect(refused.status == 1 && refused.isOneSentence && refused.error.contains(word), "\(refused)")
      }
      #expect(try graph.pinna("play", "--stop").status == 1)
      #expect(try graph.pinna("play").status == 2)
      #expect(try graph.stableStatus() == before)

      try #require(try graph.pinna("play", "\(folder)/mono.wav").status == 0)
      #expect(try graph.status()["state"] as? String == "playing")
      #expect(try graph.pinna("play", "\(folder)/mono.wav").status == 1)
      try #require(
        try waitUntil(seconds: 2) {
          (try graph.status()["playback"] as? [String: Any])?["framesPlayed"] as? Int ?? 0 > 19_200
        })
      let outputs = (try graph.status()["levels"] as? [String: Any])?["outputs"] as? [[String: Any]] ?? []
      // Uniform noise of 0.2 has an RMS of 0.2/√3: −18.75 dB, equal on both sides.
      for output in outputs { #expect(abs((output["rmsDB"] as? Double ?? 0) + 18.8) < 0.6, "\(output)") }
      #expect(outputs.count == 2)
      let stopped = try graph.pinna("play", "--stop", "--json").json()
      #expect((stopped["framesPlayed"] as? Int ?? 0) < 480_000 && stopped["missedFrames"] as? Int == 0)
      #expect(try graph.stableStatus() == before)
    }

    @Test(
      "S19: options select the output, an override and a headset change it, and other clients' connections stay"
    )
    func wayOut() throws {
      let graph = try OfflineGraph(
        preset: "handset", home: try Handset.home(),
        options: ["--monitor", "system:playback_1,system:playback_2"],
        captures: 1, playbacks: 4)
      for (port, side) in [("own:in_1", "left"), ("own:in_2", "right")] {
        try graph.command("add", port, "input")
        try graph.command("connect", "pinna:out_\(side)", port)
      }
      func expect(_ numbers: [Int], _ at: SourceLocation = #_sourceLocation) throws {
        for (n, side) in ["left", "right"].enumerated() {
          let expected = ["own:in_\(n + 1)"] + (numbers.isEmpty ? [] : ["system:playback_\(numbers[n])"])
          #expect(try graph.peers(of: "pinna:out_\(side)") == expected, sourceLocation: at)
        }
      }
      try expect([1, 2])
      let session = graph.session()
      try session.setCategory(.playAndRecord, options: .allowBluetooth)
      try session.setActive(true)
      try expect([])
      #expect(session.currentRoute.outputs == [])
      try session.setCategory(.playAndRecord, options: [.allowBluetooth, .defaultToSpeaker])
      try expect([1, 2])
      #expect(session.currentRoute.outputs.map(\.portType) == [.builtInSpeaker])

      let handsFree = try #require(session.availableInputs?.first { $0.portType == .bluetoothHFP })
      try session.setPreferredInput(handsFree)
      try expect([3, 4])
      #expect(session.currentRoute.outputs.map(\.portType) == [.bluetoothHFP])
      try session.overrideOutputAudioPort(.speaker)
      try expect([1, 2])
      try session.overrideOutputAudioPort(.none)
      try expect([3, 4])
      try session.setPreferredInput(session.availableInputs?.first { $0.portType == .builtInMic })
      try expect([1, 2])
      try session.setCategory(.record)
      try expect([])
      try session.setActive(false)
      try expect([1, 2])
    }

    @Test("S19: a connection that a user made to a monitor port stays, whatever output is selected")
    func othersMonitor() throws {
      let graph = try OfflineGraph(
        preset: "phone2", options: ["--monitor", "system:playback_1,system:playback_2"], playbacks: 2)
      func expect(_ left: [String], _ right: [String], _ at: SourceLocation = #_sourceLocation) throws {
        #expect(try graph.peers(of: "pinna:out_left") == left, sourceLocation: at)
        #expect(try graph.peers(of: "pinna:out_right") == right, sourceLocation: at)
      }
      try expect(["system:playback_1"], ["system:playback_2"])
      try #require(try graph.pinna("set", "--output", "none").status == 0)
      try expect([], [])
      try graph.command("connect", "pinna:out_left", "system:playback_1")
      try #require(try graph.pinna("set", "--output", "speaker").status == 0)
      try expect(["system:playback_1"], ["system:playback_2"])
      try #require(try graph.pinna("set", "--output", "none").status == 0)
      try expect(["system:playback_1"], [])
    }

    @Test("S19: a session's output selection ends with it; the command line's selection stays")
    func endOfChoice() throws {
      let graph = try OfflineGraph(preset: "phone2")
      func choice() throws -> String? {
        (try graph.status()["output"] as? [String: Any])?["choice"] as? String
      }
      var session: AudioSession? = try graph.activeSession(options: .mixWithOthers)
      #expect(try choice() == "none")
      withExtendedLifetime(session) {}
      session = nil
      #expect(try waitUntil(seconds: 3) { try choice() == "standard" })
      try #require(try graph.pinna("set", "--output", "speaker").status == 0)
      session = graph.session()
      try session?.listen()
      session = nil
      // After another session has ended without notice, and what that would change.
      var stranger: ControlSender? = try graph.sender()
      try #require(stranger?.openSession("stranger", claims: true) != nil)
      try #require(try graph.status()["controller"] as? String == "stranger")
      stranger = nil
      try #require(try waitUntil(seconds: 5) { try graph.status()["controller"] as? String == nil })
      try #require(try graph.pinna("set", "--gain", "-1").status == 0)
      #expect(try choice() == "speaker")
    }

    @Test("S19: monitor ports that appear later are connected when they appear, and again when they return")
    func followed() throws {
      let graph = try OfflineGraph(preset: "phone2", options: ["--monitor", "late:in_1,late:in_2"])
      for n in 1...2 {
        for port in ["late:in_1", "late:in_2"] { try graph.command("add", port, "input") }
        #expect(
          try waitUntil(seconds: 2) {
            try graph.peers(of: "late:in_1") == ["pinna:out_left"]
              && graph.peers(of: "late:in_2") == ["pinna:out_right"]
          })
        for port in ["late:in_1", "late:in_2"] { try graph.command("remove", port) }
        // A client that returns between two looks at the graph was never missing.
        for port in ["out_left has lost late:in_1", "out_right has lost late:in_2"] {
          try #require(
            waitUntil(seconds: 5) { graph.program.errorText.components(separatedBy: port).count == n + 1 },
            "\(graph.program.errorText)")
        }
      }
      let wrong = try graph.home.pinna("run", "--monitor", "late", "--name", "other")
      #expect(wrong.status == 2 && wrong.isOneSentence)
    }
  }
}
