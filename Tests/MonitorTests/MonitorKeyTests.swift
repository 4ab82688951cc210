import Acoustics
import Messages
import Monitor
import Settings
import TestSupport
import Testing

@Suite("The monitor's keys") struct MonitorKeyTests {
  @Test(
    "each key asks for its setting",
    arguments: [
      ("d", "/pinna/set/data-source Bottom"), ("D", "/pinna/set/data-source Front"),
      ("p", "/pinna/set/pattern omnidirectional"), ("P", "/pinna/set/pattern cardioid"),
      ("o", "/pinna/set/orientation portraitUpsideDown"), ("O", "/pinna/set/orientation landscapeRight"),
      ("+", "/pinna/set/gain 1"), ("=", "/pinna/set/gain 1"), ("-", "/pinna/set/gain -1"),
      ("h", "/pinna/set/high-pass 40"), ("H", "/pinna/set/high-pass 300"), ("m", "/pinna/set/mute on"),
      ("a", "/pinna/set/adapt 1"), ("b", "/pinna/set/part talkers"), ("B", "/pinna/set/part room"),
      ("t", "/pinna/set/talkers -6"), ("u", "/pinna/set/follow roll"), ("U", "/pinna/set/follow roll,yaw"),
      ("r", "/pinna/record/start"),
      ("R", "/pinna/record/start raw on"),
    ])
  func settings(key: String, request: String) throws {
    var situation = try Situation()
    #expect(situation.press(key).map(\.text) == [request])
  }

  @Test("a ends what a began")
  func adapt() throws {
    var situation = try Situation(["adaptation": 0.5])
    #expect(situation.grid().contains("Adapt        0.5"))
    #expect(situation.press("a").map(\.text) == ["/pinna/set/adapt off"])
  }

  @Test(
    "the same keys ask for the settings of the chosen feed, from its own values; B-format keeps its pattern",
    arguments: [
      ("anna", "d", "/pinna/feed/anna/set/data-source Back"),
      ("anna", "p", "/pinna/feed/anna/set/pattern omnidirectional"),
      ("anna", "o", "/pinna/feed/anna/set/orientation landscapeRight"),
      ("anna", "+", "/pinna/feed/anna/set/gain -5"),
      ("anna", "h", "/pinna/feed/anna/set/high-pass 40"), ("anna", "m", "/pinna/feed/anna/set/mute off"),
      ("room", "-", "/pinna/feed/room/set/gain -7"), ("room", "p", nil),
      ("room", "d", "/pinna/feed/room/set/data-source Back"),
    ] as [(String, String, String?)])
  func feeds(feed: String, key: String, request: String?) throws {
    var situation = try Situation([
      "feeds": Situation.feeds([("anna", .cardioid), ("room", .ambix1)]), "gainDB": 3,
    ])
    #expect(situation.press(feed == "anna" ? "f" : "F").isEmpty)
    #expect(situation.grid().contains("Feed         \(feed)"), "\(situation.grid().text)")
    #expect(situation.press(key).map(\.text) == [request].compactMap(\.self))
    // What was asked of one feed does not count for another; what belongs to all is asked of all.
    #expect(situation.press(feed == "anna" ? "F+" : "f+").map(\.text) == ["/pinna/set/gain 4"])
    situation.press("f")
    #expect(situation.press("r").map(\.text) == ["/pinna/record/start"])
  }

  @Test("of a feed that has gone keys ask nothing, and say so; it is not main that they change")
  func goneFeed() throws {
    var situation = try Situation(["feeds": Situation.feeds([("anna", .cardioid)])])
    situation.press("f")
    try situation.hear(["top"])
    #expect(situation.press("m+pdoh").isEmpty)
    let grid = situation.grid()
    #expect(grid.contains("anna: gone") && grid.contains("there is no feed"), "\(grid.text)")
    situation.press("f")
    #expect(situation.press("m").map(\.text) == ["/pinna/set/mute on"])
    #expect(situation.press("f").isEmpty && situation.grid().contains("there is only main"))
  }

  @Test(
    "arrow keys turn the look by 5°, with Shift by 1°, left and up, and 0 ends it",
    arguments: [
      (.left, "65,10"), (.right, "55,10"), (.up, "60,15"), (.down, "60,5"), (.shiftLeft, "61,10"),
      (.shiftRight, "59,10"), (.shiftUp, "60,11"), (.shiftDown, "60,9"), (.character("0"), "off"),
    ] as [(Key, String)])
  func look(key: Key, word: String) throws {
    var situation = try Situation(["polarPattern": "cardioid", "look": [60, 10]])
    #expect(situation.model.press(key, at: situation.now).map(\.text) == ["/pinna/set/look \(word)"])
  }

  @Test("a look that is off is turned from forward, each press counts, and a feed has its own")
  func looksOfFeeds() throws {
    var situation = try Situation(["feeds": Situation.feeds([("anna", .cardioid)])])
    situation.press("f")
    let requests = [Key.left, .left, .up, .shiftRight].flatMap {
      situation.model.press($0, at: situation.now)
    }
    #expect(requests.map(\.message.words) == [["5"], ["10"], ["10,5"], ["9,5"]])
    #expect(requests.allSatisfy { $0.message.path == "/pinna/feed/anna/set/look" })
    // What a feed played before goes on.
    var feeds = Situation.feeds([("anna", .cardioid)])
    feeds[0]["isHeard"] = false
    try situation.hear(["top"], ["feeds": feeds])
    #expect(situation.grid().contains("anna: preparing"))
    // Also while filters are being designed, which may take longer than others keep an answer waiting.
    let progress = RequestProgress(text: "designing filters of that look", part: 0.5)
    situation.model.take(.outcome(.setting(.look), .progress(progress)), at: situation.now)
    #expect(
      situation.model.press(.left, at: situation.now + .seconds(5)).map(\.message.words) == [["14,5"]])
  }

  @Test(
    "arrow keys turn the yaw and roll of stereo and B-format by 5°, with Shift by 1°, left and up, and 0 ends both",
    arguments: [
      (.left, "roll 175 yaw -10"), (.right, "roll 175 yaw -20"), (.up, "roll 180 yaw -15"),
      (.down, "roll 170 yaw -15"), (.shiftLeft, "roll 175 yaw -14"), (.shiftRight, "roll 175 yaw -16"),
      (.shiftUp, "roll 176 yaw -15"), (.shiftDown, "roll 174 yaw -15"), (.character("0"), "roll 0 yaw 0"),
    ] as [(Key, String)], [PolarPattern.stereo, .ambix1])
  func pose(_ turn: (key: Key, words: String), pattern: PolarPattern) throws {
    var situation = try Situation(["polarPattern": pattern.rawValue, "roll": 175, "yaw": -15])
    #expect(
      situation.model.press(turn.key, at: situation.now).map(\.text) == ["/pinna/feed/set main \(turn.words)"]
    )
  }

  @Test(
    "presses of roll and yaw count on from each other, past 180°, and a feed has its own; none is not ended")
  func poses() throws {
    var feeds = Situation.feeds([("room", .ambix1)])
    feeds[0]["roll"] = 175.5
    var situation = try Situation(["feeds": feeds])
    #expect(situation.press("0").isEmpty)
    #expect(situation.grid().contains("there is no other"))
    situation.press("f")
    let requests = [Key.up, .left, .shiftRight, .character("0"), .down].flatMap {
      situation.model.press($0, at: situation.now)
    }
    #expect(
      requests.map(\.text)
        == [
          "roll -179.5 yaw 0", "roll -179.5 yaw 5", "roll -179.5 yaw 4", "roll 0 yaw 0", "roll -5 yaw 0",
        ].map { "/pinna/feed/set room \($0)" })
  }

  @Test("what was asked of a look does not count for a pose")
  func lookThenPose() throws {
    var situation = try Situation(["polarPattern": "cardioid"])
    _ = situation.model.press(.left, at: situation.now)
    try situation.hear(["top"])
    #expect(
      situation.model.press(.left, at: situation.now).map(\.text) == ["/pinna/feed/set main roll 0 yaw 5"])
    try situation.hear(["top"], ["polarPattern": "cardioid", "look": [30, 0]])
    #expect(situation.model.press(.left, at: situation.now).map(\.text) == ["/pinna/set/look 35"])
  }

  @Test("presses faster than Pinna answers count on from each other")
  func fast() throws {
    var situation = try Situation()
    #expect(situation.press("++-+").map(\.message.words) == [["1"], ["2"], ["1"], ["2"]])
    #expect(situation.press("ppp").map(\.message.words) == [["omnidirectional"], ["cardioid"], ["stereo"]])
    #expect(situation.press("mm").map(\.message.words) == [["on"], ["off"]])
  }

  @Test("a choice that was refused is stepped over by the next press")
  func stepsOver() throws {
    var situation = try Situation()
    #expect(situation.press("d").map(\.text) == ["/pinna/set/data-source Bottom"])
    situation.model.take(
      .outcome(.setting(.dataSource), .failed("Bottom does not offer stereo")), at: situation.now)
    #expect(situation.press("d", later: .seconds(2)).map(\.text) == ["/pinna/set/data-source Front"])
  }

  @Test("gain stays within its range")
  func gainRange() throws {
    var situation = try Situation(["gainDB": 23.5])
    #expect(situation.press("++").map(\.message.words) == [["24"], ["24"]])
    situation = try Situation(["gainDB": -59.5])
    #expect(situation.press("--").map(\.message.words) == [["-60"], ["-60"]])
  }

  @Test("a high-pass between two corners goes to the next one in the key's direction")
  func highPass() throws {
    var situation = try Situation(["highPassHz": 90])
    #expect(situation.press("h").map(\.message.words) == [["100"]])
    situation = try Situation(["highPassHz": 90])
    #expect(situation.press("H").map(\.message.words) == [["80"]])
    situation = try Situation(["highPassHz": 300])
    #expect(situation.press("h").map(\.message.words) == [["off"]])
  }

  @Test("the room gets softer and louder by its steps, and neither key passes the last one")
  func room() throws {
    for (room, key, word) in [
      (0, "e", "-6"), (-6, "E", "0"), (-9, "e", "-12"), (-9, "E", "-6"), (-20, "e", "-30"), (0, "E", nil),
      (-30, "e", nil),
    ] as [(Double, String, String?)] {
      var situation = try Situation(["roomDB": room])
      #expect(
        situation.press(key).map(\.text) == (word.map { ["/pinna/set/room \($0)"] } ?? []), "\(room) \(key)")
      #expect(situation.grid().contains("there is no other") == (word == nil))
    }
  }

  @Test("mono follows what stereo cannot, and what both follow is chosen on from there")
  func follow() throws {
    for (pattern, followed, word) in [
      ("cardioid", [], "look"), ("cardioid", ["look"], "talker"), ("cardioid", ["talker"], "off"),
      ("stereo", ["roll", "yaw"], "off"), ("ambix1", ["roll"], "yaw"),
    ] as [(String, [String], String)] {
      var situation = try Situation(["polarPattern": pattern, "follow": followed])
      #expect(situation.press("u").map(\.text) == ["/pinna/set/follow \(word)"], "\(pattern) \(followed)")
    }
  }

  @Test("a part can be whoever is seated, and by number who else spoke")
  func parts() throws {
    func talker(_ identity: Int, _ name: String) -> [String: Any] {
      ["identity": identity, "name": name, "azimuth": 0, "levelDB": -30, "confidence": 0.5, "isActive": true]
    }
    var situation = try Situation([
      "seats": ["anna=40", "ben=-35,10"], "talkers": [talker(7, "talker 7"), talker(8, "ben")],
      "part": "room",
    ])
    #expect(situation.grid().contains("Part         room"), "\(situation.grid().text)")
    #expect(
      situation.press("bbbb").map(\.message.words) == [["anna"], ["ben"], ["7"], ["whole"]])
  }

  @Test("a frame is typed, of main and of a feed; Esc and nothing leave it")
  func frame() throws {
    var situation = try Situation(["feeds": Situation.feeds([("anna", .cardioid)])])
    #expect(situation.press("g").isEmpty)
    #expect(situation.grid().contains("Frame: AZ,WIDTH|off (Enter"), "\(situation.grid().text)")
    #expect(situation.press("30,60").isEmpty && situation.grid().contains("> 30,60_"))
    #expect(situation.model.press(.enter, at: situation.now).map(\.text) == ["/pinna/set/frame 30,60"])
    situation.press("fgoff")
    #expect(
      situation.model.press(.enter, at: situation.now).map(\.text) == ["/pinna/feed/anna/set/frame off"])
    for key in [Key.escape, .enter] {
      situation.press(key == .escape ? "g1" : "g")
      #expect(situation.model.press(key, at: situation.now).isEmpty)
      #expect(!situation.grid().contains("Frame: "))
    }
  }

  @Test("whatever is pressed, each setting accepts what its keys ask for")
  func accepted() throws {
    for key in SettingKey.ofFeeds {
      guard let line = key.row.feed?.line, !line.steps.isEmpty else { continue }
      let words = try line.keys.split(separator: " ").flatMap { letter in
        var situation = try Situation()
        return situation.press(String(repeating: String(letter), count: 2 * line.steps.count)).flatMap(
          \.message.words)
      }
      #expect(words.count >= line.steps.count - 1)
      for word in words { #expect(throws: Never.self, "\(key) \(word)") { try Change(key, word) } }
    }
  }

  @Test("one key does not end a take: the second within three seconds does")
  func ending() throws {
    var situation = try Situation(["state": "recording"])
    #expect(situation.press("r").isEmpty)
    #expect(situation.grid().contains("press r again"))
    #expect(situation.press("r", later: .seconds(2)).map(\.text) == ["/pinna/record/stop"])
    #expect(situation.press("r", later: .seconds(10)).isEmpty)
    #expect(situation.press("r", later: .seconds(14)).isEmpty)
    #expect(situation.press("m", later: .seconds(15)).count == 1)
    #expect(situation.press("r", later: .seconds(16)).isEmpty)
  }

  @Test("a held r neither ends a take nor starts more than one")
  func heldRecordKey() throws {
    for state in ["stopped", "recording"] {
      var situation = try Situation(["state": state])
      let requests = (0..<90).flatMap { situation.press("r", later: .milliseconds(33 * $0)) }
      #expect(requests.map(\.text) == (state == "stopped" ? ["/pinna/record/start"] : []))
    }
  }

  @Test("markers are set while a take runs, at once or with a text, and otherwise refused at their row")
  func markers() throws {
    var situation = try Situation([
      "state": "recording", "take": ["path": "/a", "frames": 1, "channels": 2, "markers": 2],
    ])
    #expect(situation.press("k").map(\.text) == ["/pinna/record/marker mark 3"])
    #expect(situation.press("Kqué").isEmpty)
    #expect(situation.model.press(.enter, at: situation.now).map(\.text) == ["/pinna/record/marker qué"])
    #expect(!situation.model.isDone)
    situation = try Situation()
    #expect(situation.press("k").isEmpty)
    let grid = situation.grid()
    #expect(grid.find("no take is running")?.row == grid.find("Markers")?.row)
  }

  @Test("the preset chooser starts at the present one, and Enter uses what is selected")
  func presets() throws {
    var situation = try Situation(["preset": "ring7"])
    situation.press("s")
    #expect(situation.grid().contains("● ring7"))
    #expect(situation.model.press(.down, at: situation.now).isEmpty)
    #expect(situation.model.press(.enter, at: situation.now).map(\.text) == ["/pinna/preset/use uma8"])
    situation.press("s")
    #expect(situation.model.press(.escape, at: situation.now).isEmpty)
    #expect(!situation.grid().contains("● ring7"))
  }

  @Test("one microphone is chosen to listen to, and shown; the first choice ends it")
  func listen() throws {
    var situation = try Situation(["listening": "front"])
    #expect(situation.grid().contains("only front"))
    situation.press("l")
    #expect(situation.model.press(.down, at: situation.now).isEmpty)
    #expect(situation.model.press(.enter, at: situation.now).map(\.text) == ["/pinna/set/listen back"])
    situation.press("l")
    for _ in 0..<9 { _ = situation.model.press(.up, at: situation.now) }
    #expect(situation.model.press(.enter, at: situation.now).map(\.text) == ["/pinna/set/listen off"])
  }

  @Test(
    "help lists the keys of every row on as many pages as it needs, and closes with any other key without obeying it"
  )
  func help() throws {
    var situation = try Situation()
    for (height, pages) in [(24, 2), (40, 1)] {
      var grids: [Grid] = []
      for _ in 0..<pages {
        situation.press("?")
        grids.append(situation.grid(80, height))
      }
      for words in Row.allCases.map(\.words.effect) + ["Pinna keeps running", "CLIP stays until c."] {
        #expect(grids.count { $0.contains(words) } == 1, "\(words) in \(grids.map(\.text))")
      }
      situation.press("?")
      #expect(situation.grid(80, height).text == grids[0].text)
      #expect(grids.contains { $0.contains("? more") } == (pages > 1))
      situation.press("x")
    }
    situation.press("?")
    #expect(situation.press("m").isEmpty)
    #expect(!situation.grid().contains(Row.setting(.mute).words.effect))
    situation.press("q")
    #expect(situation.model.isDone)
  }

  @Test("keys before Pinna has said anything ask for nothing")
  func early() {
    var model = MonitorModel(name: "pinna")
    for key in "fFdDpPoO+-hHmrkKcs" { #expect(model.press(.character(key), at: .now).isEmpty) }
  }

  @Test("arrows are keys however their bytes are cut, a lone Escape is one, and nothing else becomes letters")
  func decoding() {
    let bytes: [UInt8] = Array(
      "a\u{1B}[A\u{1B}OB\u{1B}[C\u{1B}OD\u{1B}[1;2D\u{1B}[5~é\u{1B}[1;5Cq\r\u{7F}".utf8)
    let expected: [Key] = [
      .character("a"), .up, .down, .right, .left, .shiftLeft, .pageUp, .character("é"), .other,
      .character("q"), .enter, .backspace,
    ]
    for length in 1...bytes.count {
      var decoder = KeyDecoder()
      var keys: [Key] = []
      for start in stride(from: 0, to: bytes.count, by: length) {
        keys += decoder.keys(bytes[start..<min(start + length, bytes.count)])
      }
      #expect(keys == expected)
    }
    var decoder = KeyDecoder()
    #expect(decoder.keys([0x1B]).isEmpty && decoder.isWaiting)
    #expect(decoder.flush() == [.escape] && !decoder.isWaiting)
  }
}
