import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  /// Program changes, and their latency, are in LiveTests.
  @Suite("MIDI: program changes, controllers, learning") struct MIDITests {
    static let controllers = """
      # For the test.
      channel: 1
      controllers:
        - {controller: 7, sets: gain, from: -40, to: 0}
        - {controller: 64, sets: mute}
        - {controller: 20, sets: orientation}
        - {controller: 30, sets: record}

      """

    /// A keyboard that sends one message in a period.
    struct Keys {
      let graph: OfflineGraph

      func program(_ program: Int) throws { try graph.send(midi: [0xC0, UInt8(program)]) }

      func control(_ controller: Int, _ value: Int) throws {
        try graph.send(midi: [0xB0, UInt8(controller), UInt8(value)])
      }

      /// On channel 10. A velocity of 0 ends it, which PipeWire passes on as a release at velocity 64.
      func note(_ note: Int, _ velocity: Int) throws {
        try graph.send(midi: velocity > 0 ? [0x99, UInt8(note), UInt8(velocity)] : [0x89, UInt8(note), 64])
      }
    }

    /// A graph with a bank of two presets, and a MIDI device that Pinna has seen.
    func graph(controllers: String = Self.controllers) throws -> (OfflineGraph, Keys) {
      let home = try PinnaHome()
      try home.folder.write(controllers, to: "config/pinna/midi/controllers.yaml")
      #expect(try home.pinna("bank", "save", "two", "phone5,phone3").status == 0)
      // As fast as sound: a fader that moves eight times as fast leaps past its value where the control thread is late.
      let graph = try OfflineGraph(
        preset: "phone5", period: 1024, home: home, options: ["--bank", "two"], speed: 1)
      try graph.server.add(output: "keys:out", isMIDI: true)
      try graph.server.connect("keys:out", "pinna:control")
      try #require(
        waitUntil(seconds: 5) {
          (try? graph.status()["midi"] as? [String: Any])?["sources"] as? [String] == ["keys:out"]
        })
      return (graph, Keys(graph: graph))
    }

    @Test("controllers set gain, mute and orientation, and a fader ends where it was left")
    func faders() throws {
      let (graph, keys) = try graph()
      for value in stride(from: 127, through: 0, by: -1) { try keys.control(7, value) }
      #expect(try graph.becomes("gainDB", "-40"))
      try keys.control(64, 127)
      #expect(try graph.becomes("muted", "1"))
      try keys.control(64, 0)
      #expect(try graph.becomes("muted", "0"))
      try keys.control(20, 127)
      #expect(try graph.becomes("inputOrientation", "landscapeRight"))
      try keys.control(20, 0)
      #expect(try graph.becomes("inputOrientation", "portrait"))
      #expect(!graph.program.errorText.contains("MIDI"), "\(graph.program.errorText)")
    }

    @Test(
      "S13: during a take, MIDI changes nothing and says so once; takes that a controller begins and ends are named",
      .long
    )
    func locked() throws {
      let (graph, keys) = try graph()
      try keys.control(30, 127)
      #expect(try graph.becomes("state", "recording"))
      let before = try graph.value("gainDB")
      // From where the gain is, so that the fader leads.
      for value in stride(from: 127, through: 28, by: -1) { try keys.control(7, value) }
      try keys.program(1)
      #expect(
        graph.says("MIDI program 2: recording "),
        "\(graph.program.errorText)")
      let complaints = graph.program.errorText.split(separator: "\n").filter {
        $0.contains("MIDI controller 7")
      }
      #expect(
        complaints.count == 1 && complaints[0].contains("nothing may change until it ends"), "\(complaints)")
      #expect(try graph.value("gainDB") == before && graph.value("preset") == "phone5")
      try keys.control(30, 0)
      #expect(try graph.becomes("state", "stopped"))
      for said in [
        /controller 30, record on: the take \S+\.wav begins/,
        // Told when the take is on disk; after 10 s, that it is not: others may write much.
        /record off: the take \S+\.wav (?:has ended after|is not on disk yet)/,
      ] {
        let isSaid = waitUntil(seconds: 30) { graph.program.errorText.contains(said) }
        #expect(isSaid, "\(graph.program.errorText.replacing("\n", with: " | "))")
      }
      let isWhole = try waitUntil(seconds: 60) {
        guard let last = try graph.status()["lastTake"] as? [String: Any] else { return false }
        return last["fault"] == nil
      }
      let last = try graph.status()["lastTake"]
      #expect(isWhole, "\(String(describing: last))")
      for value in stride(from: 127, through: 0, by: -1) { try keys.control(7, value) }
      #expect(try graph.becomes("gainDB", "-40"))
    }

    /// Starts `midi learn`, and waits until messages are listened to.
    func learner(_ words: [String], _ graph: OfflineGraph) throws -> Program {
      let learner = try Program(
        PinnaHome.binary(), ["midi", "learn"] + words, environment: graph.home.environment)
      try #require(waitUntil(seconds: 5) { learner.errorText.contains("move the controller") })
      // Its request was sent before that is said, and Pinna serves connections in turn.
      _ = try graph.status()
      return learner
    }

    @Test(
      "midi learn adds the controller that is moved to the file, says what it heard, and it counts at once")
    func learning() throws {
      let (graph, keys) = try graph()
      let learner = try learner(["gain", "--from", "-20", "--to", "6"], graph)
      // A patch button sends bank select; all notes off is no controller.
      try keys.control(0, 0)
      try keys.control(32, 0)
      try keys.program(1)
      try keys.control(123, 0)
      // What is moved while somebody learns changes nothing else.
      for value in stride(from: 7, through: 127, by: 8) { try keys.control(21, value) }
      let outcome = try #require(learner.wait(seconds: 10))
      #expect(
        outcome.status == 0 && outcome.output.contains("controller 21 on channel 1 (… 71"), "\(outcome)")
      #expect(outcome.output.contains(": a fader or knob\ncontroller 21 sets gain; saved in"), "\(outcome)")
      let file = graph.home.configFolder + "/pinna/midi/controllers.yaml"
      let text = try String(contentsOfFile: file, encoding: .utf8)
      #expect(
        text.contains("# For the test.") && text.contains("- {controller: 21, sets: gain, from: -20, to: 6}"),
        "\(text)")
      // The gain is 0 dB, which is at 97.7.
      for value in 90...127 { try keys.control(21, value) }
      #expect(try graph.becomes("gainDB", "6"))
      let second = try self.learner(["mute"], graph)
      try keys.control(21, 127)
      try keys.control(21, 0)
      #expect(second.wait(seconds: 10)?.status == 1)
      #expect(second.errorText.contains("controller 21 sets gain already"), "\(second.errorText)")
      #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
    }

    @Test(
      "R53: an encoder is learned as relative in each encoding: three clicks up are 3 dB, one down is 1 dB",
      arguments: [(1, 127, "twos-complement"), (65, 63, "binary-offset"), (1, 65, "sign-bit")])
    func encoders(up: Int, down: Int, encoding: String) throws {
      let (graph, keys) = try graph()
      let learner = try learner(["gain", "--from", "-40", "--to", "6", "--json"], graph)
      for value in [up, up, down, up, down] { try keys.control(16, value) }
      let learned = try #require(learner.wait(seconds: 10))
      #expect(try learned.status == 0 && learned.json()["relative"] as? String == encoding, "\(learned)")
      #expect(try graph.value("gainDB") == "0")
      for _ in 0..<3 { try keys.control(16, up) }
      let louder = try graph.becomes("gainDB", "3")
      try keys.control(16, down)
      let softer = try graph.becomes("gainDB", "2")
      #expect(louder && softer)
      Faults.report(
        "R53", done: "encoder, \(encoding), learned for gain: three clicks up, one down",
        measured: "\(try graph.value("gainDB")) dB", limit: "2 dB", kept: louder && softer)
    }

    @Test("R53: pads are learned for takes and markers; a press acts once, its release does nothing")
    func pads() throws {
      let (graph, keys) = try graph(controllers: "channel: any\n")
      for (note, target) in [(36, "record"), (37, "marker"), (38, "mute")] {
        let learner = try learner([target], graph)
        try keys.note(note, 100)
        try keys.note(note, 0)
        let outcome = try #require(learner.wait(seconds: 10))
        #expect(
          outcome.status == 0 && outcome.output.contains("note \(note) on channel 10: a pad or key"),
          "\(outcome)")
      }
      func press(_ note: Int) throws {
        try keys.note(note, 100)
        try keys.note(note, 0)
      }
      try press(38)
      #expect(try graph.becomes("muted", "1"))
      try press(38)
      #expect(try graph.becomes("muted", "0"))
      try press(36)
      #expect(try graph.becomes("state", "recording"))
      for _ in 0..<3 { try press(37) }
      let markers = { (try? graph.status()["take"] as? [String: Any])?["markers"] as? Int }
      #expect(waitUntil(seconds: 30) { markers() ?? 0 >= 3 })
      _ = waitUntil(seconds: 0.3) { markers() ?? 0 > 3 }
      let count = markers() ?? 0
      let kept = try count == 3 && graph.value("state") == "recording"
      #expect(kept)
      try press(36)
      #expect(try graph.becomes("state", "stopped"))
      Faults.report(
        "R53", done: "pads pressed and released: markers of three presses in a take that goes on",
        measured: "\(count)", limit: "3", kept: kept)
    }

    @Test("R53: after another program has set the gain, a fader waits until it passes it, and says so")
    func softTakeover() throws {
      let (graph, keys) = try graph()
      for value in stride(from: 127, through: 64, by: -1) { try keys.control(7, value) }
      // −40 + 40 · 64 / 127 = −19.84
      #expect(try graph.becomes("gainDB", "-19.8"))
      #expect(try graph.pinna("set", "--gain", "-3").status == 0)
      for value in 65...110 { try keys.control(7, value) }
      #expect(
        graph.says("MIDI controller 7 stands at gain -19.5 and waits"),
        "\(graph.program.errorText)")
      let isChanged = try waitUntil(seconds: 0.2) { try graph.value("gainDB") != "-3" }
      #expect(!isChanged)
      // −3 dB is at 117.5.
      for value in 111...127 { try keys.control(7, value) }
      #expect(try graph.becomes("gainDB", "0"))
    }

    @Test(
      "a fader, an encoder and a pad set a feed, with soft takeover; without the feed they do nothing and say so"
    )
    func feeds() throws {
      let (graph, keys) = try graph(
        controllers: """
          controllers:
            - {controller: 8, sets: gain, feed: anna, from: -40, to: 0}
            - {controller: 16, sets: gain, feed: anna, relative: twos-complement}
            - {note: 36, sets: mute, feed: anna}

          """)
      func becomes(_ key: String, _ wanted: String) throws -> Bool {
        try waitUntil(seconds: 10) { try "\(graph.feeds()["anna"]?[key] ?? "nil")" == wanted }
      }
      try keys.control(8, 10)
      #expect(
        graph.says("MIDI controller 8, gain of anna: there is no feed \"anna\" besides main"),
        "\(graph.program.errorText)")
      try #require(try graph.pinna("feed", "add", "anna", "--format", "mono", "--gain", "-20").status == 0)
      for value in 11...40 { try keys.control(8, value) }
      let isChanged = try waitUntil(seconds: 0.3) { try graph.feeds()["anna"]?["gainDB"] as? Double != -20 }
      #expect(!isChanged)
      for value in 41...127 { try keys.control(8, value) }
      #expect(try becomes("gainDB", "0"))
      for _ in 0..<3 { try keys.control(16, 127) }
      #expect(try becomes("gainDB", "-3"))
      try keys.note(36, 100)
      #expect(try becomes("muted", "1"))
      #expect(try graph.value("gainDB") == "0" && graph.value("muted") == "0")

      let unknown = try graph.pinna("midi", "learn", "gain", "--feed", "ben")
      #expect(unknown.status == 2 && unknown.error.contains("use one of: anna"), "\(unknown)")
      let learner = try learner(["mute", "--feed", "anna"], graph)
      #expect(learner.errorText.contains("shall set mute of anna"), "\(learner.errorText)")
      try keys.note(40, 100)
      let outcome = try #require(learner.wait(seconds: 10))
      #expect(
        outcome.status == 0 && outcome.output.contains("note 40 sets mute of anna; saved"), "\(outcome)")
      try keys.note(40, 100)
      #expect(try becomes("muted", "0"))

      try #require(try graph.pinna("feed", "remove", "anna").status == 0)
      try keys.note(36, 100)
      #expect(graph.says("MIDI note 36, mute of anna: there is no feed"), "\(graph.program.errorText)")
      #expect(try graph.value("muted") == "0")
    }

    @Test(
      "a knob and an encoder turn the look of main and of a feed: the last position counts; of stereo they do not make mono"
    )
    func looks() throws {
      let (graph, keys) = try graph(
        controllers: """
          controllers:
            - {controller: 12, sets: look-azimuth}
            - {controller: 13, sets: look-elevation, relative: twos-complement}
            - {controller: 14, sets: look-azimuth, feed: anna, from: 90, to: -90}

          """)
      func becomes(_ look: [Double], _ found: @autoclosure () throws -> [String: Any]?) throws -> Bool {
        try waitUntil(seconds: 60) { try found()?["look"] as? [Double] == look }
      }
      try keys.control(12, 64)
      let isSaid = graph.says("MIDI controller 12, look-azimuth: stereo has no look; choose")
      #expect(isSaid, "\(graph.program.errorText)")
      #expect(try graph.value("polarPattern") == "stereo")
      try #require(try graph.pinna("set", "--pattern", "cardioid").status == 0)
      try #require(
        try graph.pinna("feed", "add", "anna", "--format", "mono", "--look", "30").status == 0)
      // 180 − 360 · 42 / 127 = 60.9
      for value in stride(from: 63, through: 42, by: -1) { try keys.control(12, value) }
      #expect(try becomes([60, 0], graph.status()))
      for _ in 0..<2 { try keys.control(13, 1) }
      #expect(try becomes([60, 10], graph.status()))
      // 30° is at 42.3, −20° at 77.6.
      for value in 40...78 { try keys.control(14, value) }
      #expect(try becomes([-20, 0], graph.feeds()["anna"]))
      #expect(try graph.status()["look"] as? [Double] == [60, 10])
      try #require(try graph.pinna("record", "start").status == 0)
      try keys.control(13, 1)
      let isRefused = graph.says("MIDI controller 13, look-elevation 15.0: recording ")
      #expect(isRefused, "\(graph.program.errorText)")
      #expect(try graph.status()["look"] as? [Double] == [60, 10])
    }

    @Test("without a MIDI device, learning ends within two seconds and says what to connect")
    func noDevice() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let start = ContinuousClock.now
      let outcome = try graph.pinna("midi", "learn", "gain")
      #expect(outcome.status == 1 && outcome.error.contains("jack_connect PORT pinna:control"), "\(outcome)")
      #expect(ContinuousClock.now - start < Faults.patience(.seconds(2)))
    }
  }
}
