import AudioFiles
import Foundation
import LiveSupport
import Messages
import Settings
import TestSupport
import Testing

extension OfflineTests {
  /// S13 and all other requests that are refused over OSC; `SessionRefusalTests` has the session's errors.
  @Suite("Requests refused over OSC leave sound and status unchanged") struct RefusalTests {
    struct Refusal {
      let words: [String]
      let status: Settings.ExitStatus
      /// A text that the answer must contain.
      let says: String
    }

    /// Sends each request and expects a refusal in one line and an unchanged status.
    func expect(_ refusals: [Refusal], in graph: OfflineGraph) throws {
      let sender = try graph.sender()
      let before = try graph.stableStatus()
      for refusal in refusals {
        let arguments = refusal.words.dropFirst().map { OSCMessage.Argument.string($0) }
        sender.send(OSCMessage(refusal.words[0], arguments).packet)
        let reply = try #require(sender.reply(seconds: 5), "\(refusal.words)")
        #expect(reply.status == refusal.status.rawValue, "\(refusal.words): \(reply)")
        #expect(
          reply.text.contains(refusal.says) && !reply.text.contains("\n"), "\(refusal.words): \(reply)")
        let after = try graph.stableStatus()
        #expect(after == before, "\(refusal.words): \(after), before \(before)")
      }
    }

    /// Every method that changes something, with arguments that are valid otherwise.
    static func changes(_ token: String) -> [[String]] {
      [
        ["/pinna/set", "pattern", "cardioid", "gain", "-6"], ["/pinna/set/input", "system:capture_1"],
        ["/pinna/look", "60", "10"],
        ["/pinna/set/data-source", "Front"], ["/pinna/set/pattern", "cardioid"],
        ["/pinna/set/orientation", "landscapeLeft"], ["/pinna/set/gain", "-6"], ["/pinna/set/mute", "on"],
        ["/pinna/set/output", "none"], ["/pinna/preset/use", "phone2"],
        ["/pinna/session/set", token, "pattern", "cardioid"], ["/pinna/session/period", token, "0.01"],
      ]
    }

    func openSession(_ sender: ControlSender) throws -> String {
      sender.send("/pinna/session/open", "program")
      let reply = try #require(sender.reply(seconds: 2))
      return String(try #require(reply.text.split(separator: "\"").last { $0.hasPrefix("session-") }))
    }

    @Test("misused methods and unknown words are refused")
    func misuse() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 5)
      try graph.playNoise()
      let program = try graph.sender()
      let token = try openSession(program)
      let folder = graph.home.folder.path
      try AudioClip(sampleRate: 44100, channels: [[0, 0]]).write(wav: folder + "/slow.wav")
      try graph.home.folder.write("title: wrong\n", to: "config/pinna/wrong.yaml")
      let tooMany = [String](repeating: "x", count: 2 * SettingKey.allCases.count + 2)
      let miscounted = OSCMethod.all.map {
        Refusal(words: [$0.path] + tooMany, status: .usage, says: "it got \(tooMany.count) arguments")
      }
      let misspelt: [Refusal] = [
        Refusal("/pinna/nosuch", status: .usage, says: "unknown method"),
        Refusal("/pinna/set", "colour", "red", status: .usage, says: "unknown setting"),
        Refusal("/pinna/set", "gain", status: .usage, says: "it got 1 argument"),
        // All or nothing, wherever the mistake stands.
        Refusal(
          "/pinna/set", "gain", "-6", "pattern", "banana", status: .usage, says: "unknown polar pattern"),
        Refusal("/pinna/set", "pattern", "cardioid", "data-source", "Side", status: .usage, says: "Back"),
        Refusal("/pinna/set/input", "nosuch", status: .usage, says: "system:capture_1"),
        Refusal("/pinna/set/data-source", "Side", status: .usage, says: "Bottom"),
        Refusal("/pinna/set/pattern", "banana", status: .usage, says: "cardioid"),
        Refusal("/pinna/set/orientation", "sideways", status: .usage, says: "landscapeLeft"),
        Refusal("/pinna/set/look", "north", status: .usage, says: "azimuth"),
        Refusal("/pinna/look", "60", "91", status: .usage, says: "-90 to 90"),
        Refusal("/pinna/set/gain", "loud", status: .usage, says: "-60 to 24"),
        Refusal("/pinna/set/gain", "25", status: .usage, says: "-60 to 24"),
        Refusal("/pinna/set/gain", "nan", status: .usage, says: "-60 to 24"),
        Refusal("/pinna/set/mute", "maybe", status: .usage, says: "on, off"),
        Refusal("/pinna/set/output", "roof", status: .usage, says: "speaker"),
        // Known words that do not fit together.
        Refusal("/pinna/set/data-source", "Bottom", status: .unsupported, says: "does not offer stereo"),
        Refusal(
          "/pinna/set/pattern", "figureEight", status: .unsupported, says: "does not offer figureEight"),
        Refusal("/pinna/preset/use", "nosuch", status: .failed, says: "nosuch"),
        Refusal("/pinna/preset/use", "wrong", status: .failed, says: "wrong.yaml"),
        Refusal("/pinna/record/start", "relative", status: .failed, says: "relative"),
        Refusal("/pinna/record/start", folder + "/slow.wav/takes", status: .failed, says: "slow.wav"),
        Refusal("/pinna/record/start", "format", "tape", status: .usage, says: "tape"),
        Refusal("/pinna/record/start", "colour", "red", status: .usage, says: "colour"),
        Refusal("/pinna/record/stop", status: .failed, says: "nothing is being recorded"),
        Refusal("/pinna/play", "relative.wav", status: .failed, says: "begins with /"),
        Refusal("/pinna/play", "/nosuch.wav", status: .failed, says: "nosuch.wav"),
        Refusal("/pinna/play", folder + "/slow.wav", status: .failed, says: "44100"),
        Refusal("/pinna/play/stop", status: .failed, says: "nothing is being played"),
        Refusal("/pinna/session/claim", "session-0", "on", status: .failed, says: "session-0"),
        Refusal("/pinna/session/claim", token, "maybe", status: .usage, says: "on, off"),
        Refusal("/pinna/session/set", "session-0", "gain", "-6", status: .failed, says: "session-0"),
        Refusal("/pinna/session/set", token, "pattern", "banana", status: .usage, says: "cardioid"),
        Refusal("/pinna/session/period", "session-0", "0.01", status: .failed, says: "session-0"),
        Refusal("/pinna/session/period", token, "2", status: .usage, says: "0.0001 to 1"),
        Refusal("/pinna/session/close", "session-0", status: .failed, says: "session-0"),
      ]
      try graph.expectSameSound { try expect(miscounted + misspelt, in: graph) }
      var programs = [program]
      for _ in 1..<32 {
        programs.append(try graph.sender())
        _ = try openSession(programs.last!)
      }
      let full = Refusal("/pinna/session/open", "one more", status: .failed, says: "32 sessions")
      try graph.expectSameSound { try expect([full], in: graph) }
      withExtendedLifetime(programs) {}
    }

    @Test(
      "S13: while a take is recorded, every change and another take are refused, over OSC and by the command line"
    )
    func recording() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 5)
      try graph.playNoise()
      let program = try graph.sender()
      let token = try openSession(program)
      try #require(try graph.pinna("record", "start").status == 0)
      try graph.expectSameSound {
        let changes = Self.changes(token) + [["/pinna/record/start"], ["/pinna/play", "/nosuch.wav"]]
        try expect(
          changes.map { Refusal(words: $0, status: .refused, says: "stop it with: pinna record stop") },
          in: graph)
        for words in [
          ["set", "--orientation", "landscapeLeft"], ["preset", "use", "ring7"], ["record", "start"],
        ] {
          let outcome = try graph.home.pinna(words)
          #expect(outcome.status == 5 && outcome.isOneSentence, "\(words): \(outcome)")
          #expect(outcome.error.contains("recording"), "\(words): \(outcome)")
        }
      }
      #expect(try graph.pinna("record", "stop").status == 0)
      #expect(try graph.pinna("set", "--orientation", "landscapeLeft").status == 0)
      #expect(try graph.value("inputOrientation") == "landscapeLeft")
      withExtendedLifetime(program) {}
    }

    @Test("takes and playback are refused during playback, and playback is refused while muted")
    func playing() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 5)
      try graph.playNoise()
      var noise = SeededNoise(seed: 4)
      let loop = noise.samples(OfflineGraph.repetition, amplitude: 0.25)
      let sound = graph.home.folder.path + "/sound.wav"
      try AudioClip(sampleRate: 48000, channels: [Array(repeatElement(loop, count: 100).joined())])
        .write(wav: sound)
      try #require(try graph.pinna("play", sound).status == 0)
      try graph.expectSameSound {
        let says = "stop it with: pinna play --stop"
        try expect(
          [
            Refusal("/pinna/play", sound, status: .failed, says: says),
            Refusal("/pinna/record/start", status: .failed, says: says),
          ], in: graph)
      }
      try #require(try graph.pinna("play", "--stop").status == 0)
      try #require(try graph.pinna("set", "--mute", "on").status == 0)
      try expect([Refusal("/pinna/play", sound, status: .failed, says: "muted")], in: graph)
    }

    @Test(
      "a period is refused while another session controls the route; every change is refused without a server"
    )
    func inTheWay() throws {
      let graph = try OfflineGraph(preset: "phone5", captures: 5)
      let (first, second) = (try graph.sender(), try graph.sender())
      let (claimed, token) = (try openSession(first), try openSession(second))
      // Not part of any session, so that it receives only answers.
      let asker = try graph.sender()
      asker.send("/pinna/session/claim", claimed, "on")
      #expect(asker.reply(seconds: 2)?.status == 0)
      try graph.playNoise()
      try graph.expectSameSound {
        try expect(
          [
            Refusal(
              "/pinna/session/period", token, "0.01", status: .refused, says: "program controls the route"),
            // Impossible requests are refused, not kept for later.
            Refusal("/pinna/set/pattern", "banana", status: .usage, says: "cardioid"),
            Refusal(
              "/pinna/session/set", token, "pattern", "figureEight", status: .unsupported, says: "stereo"),
          ], in: graph)
      }
      asker.send("/pinna/session/close", claimed)
      #expect(asker.reply(seconds: 2)?.status == 0)
      try graph.killServer()
      #expect(try waitUntil(seconds: 3) { try graph.status()["server"] as? String == "gone" })
      let changes = Self.changes(token) + [["/pinna/record/start"], ["/pinna/play", "/nosuch.wav"]]
      try expect(
        changes.map { Refusal(words: $0, status: .noServer, says: "the JACK server has gone") }, in: graph)
    }
  }
}

extension OfflineTests.RefusalTests.Refusal {
  init(_ words: String..., status: Settings.ExitStatus, says: String) {
    self.init(words: words, status: status, says: says)
  }
}
