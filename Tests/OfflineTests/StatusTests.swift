import AudioFiles
import Foundation
import LiveSupport
import Messages
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Exit statuses") struct StatusTests {
    /// Expects that status, with one sentence that contains all of `words`.
    func expect(
      _ outcome: Program.Outcome, _ status: Int32, _ words: String...,
      at location: SourceLocation = #_sourceLocation
    ) {
      #expect(outcome.status == status, "\(outcome)", sourceLocation: location)
      #expect(outcome.isOneSentence, "\(outcome)", sourceLocation: location)
      for word in words {
        #expect(outcome.error.contains(word), "\(word) in: \(outcome)", sourceLocation: location)
      }
    }

    @Test("unknown words end with status 2 and a list of the known ones; missing files and presets with 1")
    func unknownWords() throws {
      let home = try PinnaHome()
      expect(try home.pinna("frobnicate"), 2, "frobnicate", "render", "status", "record")
      expect(try home.pinna("record", "pause"), 2, "pause", "start", "stop")
      expect(try home.pinna("status", "--frequency", "3"), 2, "--frequency", "--json")
      expect(try home.pinna("render", "one.wav"), 2, "OUT.wav", "--into")
      expect(try home.pinna("render", "--period", "0", "a.wav", "b.wav"), 2, "--period", "1")
      expect(
        try home.pinna("render", "--pattern", "banana", "a.wav", "b.wav"), 2, "banana", "cardioid", "stereo")
      expect(try home.pinna("render", "--preset", "nosuch", "a.wav", "b.wav"), 1, "nosuch", "phone5", "ring7")
      expect(try home.pinna("render", "a.wav", "b.wav"), 1, "a.wav")
      expect(try home.pinna("run", "--preset", "nosuch"), 1, "nosuch", "phone5")
      expect(try home.pinna("run", "--name", "a/b"), 2, "a/b")
      expect(try home.pinna("preset", "show", "nosuch"), 1, "nosuch", "phone5")
      expect(try home.pinna("set"), 2, "--orientation")
    }

    @Test("commands end with 3 without a server and with 4 without a running Pinna, each with the next step")
    func nobodyThere() throws {
      let home = try PinnaHome()
      let server = LiveGraph.uniqueName()
      expect(try home.pinna("run", "--server", server), 3, server, "jackd")
      let start = ContinuousClock.now
      expect(try home.pinna("run", "--server", server, "--wait", "1"), 3, server, "jackd")
      #expect(ContinuousClock.now - start > .seconds(1))
      let byEnvironment = try Program.run(
        try PinnaHome.binary(), ["run"],
        environment: home.environment.merging(["JACK_DEFAULT_SERVER": server]) { $1 })
      expect(byEnvironment, 3, server, "jackd -n \(server)")
      for verb in [
        ["status"], ["inputs"], ["stop"], ["set", "--gain", "0"], ["record", "start"], ["record", "stop"],
        ["preset", "use", "phone5"],
      ] {
        expect(try home.pinna(verb), 4, "pinna run")
      }
      expect(try home.pinna("status", "--name", "other"), 4, "pinna run --name other")
    }

    @Test("before the first server, status mentions none that has gone or come back")
    func firstServer() throws {
      let home = try PinnaHome()
      let program = try home.start(["--server", LiveGraph.uniqueName(), "--wait", "60"])
      defer { program.stop() }
      var outcome = try home.pinna("status")
      _ = try waitUntil(seconds: 10) {
        outcome = try home.pinna("status")
        return outcome.status == 0
      }
      #expect(outcome.output.contains("no JACK server is running"), "\(outcome)")
      #expect(!outcome.output.contains("has gone") && !outcome.output.contains("back"), "\(outcome)")
    }

    @Test("words, presets and combinations that a running Pinna refuses change nothing")
    func running() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let before = try graph.stableStatus()
      expect(
        try graph.pinna("set", "--pattern", "banana"), 2, "banana", "omnidirectional", "cardioid", "stereo")
      expect(try graph.pinna("set", "--data-source", "Sideways"), 2, "Sideways", "Bottom", "Front", "Back")
      expect(try graph.pinna("set", "--orientation", "up"), 2, "portraitUpsideDown", "landscapeRight")
      expect(try graph.pinna("set", "--mute", "maybe"), 2, "maybe", "on", "off")
      for gain in ["25", "-61", "loud", "nan", "inf"] {
        expect(try graph.pinna("set", "--gain", gain), 2, gain, "-60", "24")
      }
      expect(try graph.pinna("preset", "use", "nosuch"), 1, "nosuch", "phone5")
      expect(try graph.pinna("set", "--data-source", "Bottom"), 6, "Bottom")
      expect(try graph.pinna("set", "--data-source", "Bottom", "--pattern", "cardioid"), 6, "omnidirectional")
      expect(try graph.pinna("set", "--orientation", "landscapeLeft", "--pattern", "banana"), 2, "banana")
      #expect(try graph.changes(since: before) == [])
      #expect(try graph.pinna("set", "--pattern", "CARDIOID", "--orientation", "LandscapeLEFT").status == 0)
      #expect(try graph.status()["polarPattern"] as? String == "cardioid")
      #expect(try graph.pinna("preset", "use", "RING7").status == 0)
      expect(try graph.pinna("set", "--orientation", "landscapeLeft"), 6)
    }

    @Test("stop returns 0 only when the name is free, so that another Pinna can start at once")
    func stopped() throws {
      let graph = try OfflineGraph(preset: "phone5")
      for _ in 0..<5 {
        let outcome = try graph.pinna("stop")
        let lock = open(graph.home.runtimeFolder + "/pinna/pinna.sock.lock", O_RDONLY)
        let isFree = flock(lock, LOCK_EX | LOCK_NB) == 0
        close(lock)
        #expect(outcome.status == 0 && isFree, "\(outcome)")
        _ = graph.program.wait(seconds: 5)
        try graph.restart()
      }
    }

    @Test("INT and TERM end Pinna with status 0 and finalise a take", arguments: [SIGINT, SIGTERM])
    func signals(number: Int32) throws {
      let graph = try OfflineGraph(preset: "phone5")
      let start = try graph.pinna("record", "start", "--json")
      let path = try #require(try start.json()["take"] as? String)
      try graph.waitForTake(frames: 14_400)
      graph.program.signal(number)
      let outcome = try #require(graph.program.wait(seconds: 5))
      #expect(outcome.status == 0, "\(outcome)")
      #expect(try AudioClip(path: path).frames > 4800)
    }

    @Test(
      "a preset on a slow disk does not undo later changes; mute and status are answered meanwhile"
    )
    func slowPreset() throws {
      let home = try PinnaHome()
      try home.folder.write(
        "title: Late\ndevice: phone5\ndataSource: Front\npolarPattern: cardioid\n"
          + "inputOrientation: portrait\ngain: -3\n", to: "config/pinna/late.yaml")
      let disk = try HungDisk(home: home)
      let graph = try OfflineGraph(
        preset: "phone5", home: home,
        environment: disk.environment.merging(["PINNA_HUNG_FOLDER": "late.yaml"]) { $1 })
      func use() throws -> Program {
        try Program(try PinnaHome.binary(), ["preset", "use", "late"], environment: home.environment)
      }
      try disk.hang()
      let slow = try use()
      try #require(waitUntil(seconds: 5) { disk.hasBegun })
      let start = ContinuousClock.now
      #expect(try graph.status()["preset"] as? String == "phone5")
      #expect(ContinuousClock.now - start < Faults.patience(.milliseconds(200)))
      // What the preset would undo waits for it; the mute and a question do not, or the preset would give up after 2 s.
      let (early, mute) = (try graph.sender(), try graph.sender())
      early.send("/pinna/set", "gain", "-9", "orientation", "landscapeRight")
      for words in [["/pinna/set", "mute", "on"], ["/pinna/set/mute", "on"], ["/pinna/set/gain"]] {
        mute.send(OSCMessage(words[0], words.dropFirst().map { .string($0) }).packet)
        #expect(mute.reply(seconds: 5)?.status == 0)
      }
      disk.release()
      #expect(try #require(slow.wait(seconds: 5)).status == 0)
      #expect(early.reply(seconds: 5)?.status == 0)
      let status = try graph.status()
      #expect(status["preset"] as? String == "late" && status["gainDB"] as? Double == -9)
      #expect(status["inputOrientation"] as? String == "landscapeRight" && status["muted"] as? Bool == true)

      // Both requests are sent before either is answered.
      let (first, second) = (try graph.sender(), try graph.sender())
      first.send("/pinna/preset/use", "phone5")
      second.send("/pinna/set/orientation", "landscapeLeft")
      #expect(first.reply(seconds: 5)?.text.contains("phone5") ?? false)
      #expect(second.reply(seconds: 5)?.status == 0)
      #expect(try graph.status()["inputOrientation"] as? String == "landscapeLeft")

      try disk.hang()
      let hung = try use()
      let outcome = try #require(hung.wait(seconds: 10))
      expect(outcome, 1, "late", "2 s")
      disk.release()
    }

    @Test("HUP reloads the preset's file or keeps everything unchanged; USR1 prints the status")
    func reload() throws {
      let home = try PinnaHome()
      let file = "config/pinna/field.yaml"
      func preset(_ gain: String) -> String {
        "title: Field\ndevice: phone5\ndataSource: Back\npolarPattern: stereo\n"
          + "inputOrientation: portrait\ngain: \(gain)\n"
      }
      try home.folder.write(preset("-3"), to: file)
      let graph = try OfflineGraph(preset: "field", home: home)
      try home.folder.write(preset("-9"), to: file)
      graph.program.signal(SIGHUP)
      #expect(try waitUntil(seconds: 3) { try graph.status()["gainDB"] as? Double == -9 })
      #expect(
        graph.says("pinna: preset field was reloaded\n", seconds: 3))
      try home.folder.write(preset("loud"), to: file)
      graph.program.signal(SIGHUP)
      try #require(
        waitUntil(seconds: 5) {
          graph.program.errorText.split(separator: "\n").contains {
            $0.hasPrefix("pinna: preset field was not reloaded: ") && $0.contains("field.yaml:6:7")
          }
        })
      #expect(try graph.status()["gainDB"] as? Double == -9)
      graph.program.signal(SIGUSR1)
      try #require(waitUntil(seconds: 5) { graph.program.outputText.contains("\"unpreparedPeriods\":0") })
      #expect(try graph.pinna("stop").status == 0)
      let outcome = try #require(graph.program.wait(seconds: 5))
      #expect(outcome.status == 0)
      #expect(outcome.output.contains("\"unpreparedPeriods\":0"), "\(outcome)")
    }
  }
}
