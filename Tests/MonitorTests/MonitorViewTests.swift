import Acoustics
import Foundation
import Messages
import Monitor
import Settings
import TestSupport
import Testing

@Suite("The monitor's view") struct MonitorViewTests {
  static let sizes = [(80, 24), (120, 40), (200, 60)]

  @Test("at every size all that an engineer must know is in the window", arguments: sizes)
  func everything(width: Int, height: Int) throws {
    var situation = try Situation([
      "state": "recording", "gainDB": -3.5, "highPassHz": 80, "xruns": 7, "dspLoad": 12.25,
      "warnings": ["no output is connected"], "clippedSamples": 4,
      "take": ["path": "/takes/evening.wav", "frames": 48000 * 3723, "channels": 2, "secondsLeft": 11_520],
    ])
    try situation.hearLevels(
      #"{"microphones":[{"name":"top","rmsDB":-30,"peakDB":-20}],"outputs":[],"correlation":0.5}"#)
    try situation.hear(
      TestDevices.phone5().microphones.map(\.name),
      [
        "state": "recording", "gainDB": -3.5, "highPassHz": 80, "xruns": 7, "dspLoad": 12.25,
        "warnings": ["no output is connected"],
        "take": ["path": "/takes/evening.wav", "frames": 48000 * 3723, "channels": 2, "secondsLeft": 11_520],
      ])
    let grid = situation.grid(width, height)
    for text in [
      "RECORDING 1:02:03", "evening.wav", " L ", " R ", "↑ forward", "Back", "stereo", "portrait", "-3.5 dB",
      "80 Hz", "load 12 %", "xruns 7", "disk 3 h 12 min left", "! no output is connected", "+0.50", "OUT",
      "-12.5",
      "? help", "q quit",
    ] { #expect(grid.contains(text), "\(text) in:\n\(grid.text)") }
    for number in 1...5 { #expect(grid.contains("\(number) "), "\(number) in:\n\(grid.text)") }
    let (left, right) = (try #require(grid.side("L")), try #require(grid.side("R")))
    #expect(left.column < right.column && left.row == right.row)
  }

  @Test("left and right change sides when forward turns round, and the device stays where it is")
  func sides() throws {
    let back = try Situation().grid()
    let front = try Situation(["dataSource": "Front"]).grid()
    #expect(back.contains("↑ forward") && front.contains("↓ forward"))
    #expect(try #require(back.side("L")).column < 10)
    #expect(try #require(front.side("L")).column > 25)
    #expect(front.contains("screen") && back.contains("screen"))
    let (box, turned) = (try #require(back.find("┌")), try #require(front.find("┌")))
    #expect(box == turned)
  }

  @Test("mono patterns show neither left nor right")
  func mono() throws {
    let grid = try Situation(["layout": NSNull(), "polarPattern": "cardioid"]).grid()
    #expect(grid.side("L") == nil && grid.side("R") == nil && grid.contains("cardioid"))
  }

  @Test("the look has a row: its angles, forward without one; what is designed is said")
  func look() throws {
    var changes: [String: Any] = ["layout": NSNull(), "polarPattern": "cardioid", "look": [-60, 10]]
    #expect(try Situation(changes).grid().contains("Look         -60°, 10° up"))
    changes["look"] = nil
    #expect(try Situation(changes).grid().contains("Look         forward"))
    changes["designing"] = [60, 0]
    let note = "filters at 60° are being designed; until then the nearest play"
    #expect(try Situation(changes).grid().contains(note))
    changes["warnings"] = ["no microphone is connected", "no output is connected"]
    let grid = try Situation(changes).grid()
    #expect(grid.contains("! no output is connected (+1 line; see: pinna status)"), "\(grid.text)")
  }

  @Test(
    "stereo and B-format have a pose where mono has its look: its angles, and what follows",
    arguments: [
      ([:], "none"), (["roll": 30], "roll 30°"), (["roll": 30, "yaw": -15], "roll 30°, yaw -15°"),
      (["follow": ["roll"]], "following roll"), (["follow": ["look", "roll", "yaw"]], "following roll, yaw"),
      // In the words of `pinna set` where the row is narrow.
      (["yaw": -15, "follow": ["roll"]], "yaw -15 follow roll"),
      (["roll": 30, "yaw": -15, "follow": ["roll"]], "yaw -15 follow roll"),
      (["roll": -170, "yaw": -12.5], "roll -170 yaw -12.5"),
    ] as [([String: any Sendable], String)], [PolarPattern.stereo, .ambix1])
  func pose(_ row: (changes: [String: any Sendable], text: String), pattern: PolarPattern) throws {
    var changes: [String: Any] = row.changes
    changes["polarPattern"] = pattern.rawValue
    let grid = try Situation(changes).grid()
    let line = grid.text(try #require(grid.find("Pose ")?.row)).prefix(36).trimmingCharacters(
      in: .whitespaces)
    #expect(line == "←→ Pose         \(row.text)", "\(grid.text)")
    #expect(!grid.contains("Look "))
  }

  @Test("in a wide window the row of the pose and that of a followed look are sentences")
  func wideTurns() throws {
    let pose = ["roll": 30.0, "yaw": -15, "follow": ["roll"]] as [String: Any]
    #expect(try Situation(pose).grid(200, 60).contains("Pose         roll 30°, yaw -15°, following roll"))
    let look = ["polarPattern": "cardioid", "follow": ["look", "roll"], "look": [60, 10]] as [String: Any]
    #expect(try Situation(look).grid(120, 40).contains("Look         60°, 10° up, following look"))
    #expect(try Situation(look).grid().contains("Look         60,10 follow look"))
  }

  @Test(
    "those who speak now stand around the device, left of forward at positive azimuths",
    arguments: ["Back", "Front"])
  func talkers(dataSource: String) throws {
    func talker(_ identity: Int, _ azimuth: Double, _ isActive: Bool) -> [String: Any] {
      [
        "identity": identity, "azimuth": azimuth, "levelDB": -30, "confidence": isActive ? 0.5 : 0,
        "isActive": isActive,
      ]
    }
    let talkers = [talker(4, 90, true), talker(5, -90, true), talker(6, 0, false)]
    let grid = try Situation(["dataSource": dataSource, "talkers": talkers]).grid(120, 40)
    let (left, right) = (try #require(grid.find("●4")), try #require(grid.find("●5")))
    #expect((left.column < right.column) == (dataSource == "Back"), "\(grid.text)")
    #expect(left.row == right.row && !grid.contains("●6"))
    let ahead = try Situation(["dataSource": dataSource, "talkers": [talker(7, 10, true)]]).grid(120, 40)
    let (row, forward) = (try #require(ahead.find("●7")).row, try #require(ahead.find("forward")).row)
    #expect(abs(row - forward) < abs(row - left.row), "\(ahead.text)")
  }

  @Test("the head tracker has a line where warnings leave room")
  func tracker() throws {
    var changes = ["tracker": ["yaw": 12.3, "pitch": 0, "roll": 3, "secondsAgo": 5]] as [String: Any]
    #expect(
      try Situation(changes).grid().contains(
        "head tracker: yaw 12°, pitch 0°, roll 3°; nothing for 5 s"))
    changes["warnings"] = ["no microphone is connected", "no output is connected"]
    let grid = try Situation(changes).grid()
    #expect(grid.contains("! no output is connected ") && !grid.contains("head tracker"), "\(grid.text)")
    #expect(!grid.contains("+1 line"))
  }

  @Test(
    "a phone that rolls is drawn rolled by the tracker's angle if that is followed, left and right stay level; yaw turns them"
  )
  func drawnPose() throws {
    /// The columns of the lower left and the lower right microphone.
    func columns(_ changes: [String: Any]) throws -> (left: Int, right: Int) {
      let grid = try Situation(changes).grid(120, 40)
      let (left, right) = (try #require(grid.side("L")), try #require(grid.side("R")))
      #expect(left.row == right.row && left.column < right.column, "\(grid.text)")
      let top = try #require(grid.find("┌")).row
      func column(_ number: Unicode.Scalar) throws -> Int {
        let found = (top..<top + 8).lazy.compactMap { row in
          (1..<48).first { grid[row, $0].scalar == number && grid[row, $0].style == .strong }
        }.first
        return try #require(found, "\(number) in \(grid.text)")
      }
      return (try column("1"), try column("2"))
    }
    let still = try columns([:])
    let turned = try columns(["roll": 180])
    #expect(still.left < still.right && turned.left > turned.right)
    let followed = try columns([
      "follow": ["roll"], "tracker": ["yaw": 0, "pitch": 0, "roll": 180, "secondsAgo": 0],
    ])
    #expect(followed == turned)
    let yawed = try Situation(["yaw": 90]).grid(120, 40)
    #expect(yawed.contains("← forward"), "\(yawed.text)")
    // Left is behind then.
    #expect(try #require(yawed.side("L")).row > #require(yawed.side("R")).row)
  }

  @Test(
    "the state stands out in every state",
    arguments: [
      ("stopped", false, "LIVE", Style.goodBlock), ("armed", false, "ARMED", .cautionBlock),
      ("recording", false, "RECORDING", .alarmBlock), ("playing", false, "PLAYING", .cautionBlock),
      ("stopped", true, "MUTED", .cautionBlock), ("recording", true, "MUTED", .alarmBlock),
    ])
  func states(state: String, muted: Bool, word: String, style: Style) throws {
    let grid = try Situation(["state": state, "muted": muted]).grid()
    let place = try #require(grid.find(word), "\(grid.text)")
    #expect(place.row == 0)
    #expect(grid[0, place.column].style == style)
  }

  @Test("the row Mute shows the mute of the chosen feed, not of main", arguments: [false, true])
  func mute(ofMain isMuted: Bool) throws {
    var feeds = Situation.feeds([("anna", .cardioid)])
    feeds[0]["muted"] = !isMuted
    var situation = try Situation(["muted": isMuted, "feeds": feeds])
    func row(_ isMuted: Bool) -> String { "Mute         " + (isMuted ? "MUTED" : "off") }
    #expect(situation.grid().contains(row(isMuted)), "\(situation.grid().text)")
    situation.press("f")
    #expect(situation.grid().contains(row(!isMuted)), "\(situation.grid().text)")
  }

  /// So many microphones, all of which have clipped.
  private func clipped(_ microphones: Int) throws -> Situation {
    let names = (1...microphones).map { "microphone-\($0)" }
    var situation = try Situation(device: nil, microphones: names)
    let levels = names.map { #"{"name":"\#($0)","rmsDB":-30,"peakDB":0}"# }.joined(separator: ",")
    try situation.hearLevels(#"{"microphones":[\#(levels)],"outputs":[]}"#)
    return situation
  }

  @Test("64 microphones all have a meter, at every size", arguments: sizes)
  func manyMicrophones(width: Int, height: Int) throws {
    let grid = try clipped(64).grid(width, height)
    for number in 1...64 {
      #expect(grid.contains(" \(number) ") || grid.contains(" \(number)█"), "\(number) in:\n\(grid.text)")
    }
    // Every one has clipped.
    let marks = grid.cells.count { $0.scalar == "!" && $0.style == .alarmBlock }
    let words = grid.text.components(separatedBy: " CLIP").count - 1
    #expect(marks + words == 64, "\(grid.text)")
  }

  @Test(
    "feeds have whole meters, the chosen one first; the last row says how many more there are, and of which feeds",
    arguments: [
      // Three rows for meters, or four if that is all.
      ([("anna", .cardioid), ("left", .stereo)], 0, 3, nil), ([("a", .stereo), ("b", .stereo)], 0, 4, nil),
      ([("a", .stereo), ("kitchenette", .stereo), ("c", .cardioid)], 0, 3, "+ 2 more: kitchenette"),
      ([("a", .stereo), ("kitchenette", .stereo), ("c", .cardioid)], 2, 3, "+ 2 more: a"),
      ([("a", .stereo), ("room", .ambix1)], 0, 2, "+ 4 more: room"),
      // The chosen one is cut where it must be.
      ([("a", .stereo), ("room", .ambix4)], 2, 3, "+ 24 more: room, a"),
    ] as [([(String, PolarPattern)], Int, Int, String?)])
  func manyFeeds(feeds: [(String, PolarPattern)], presses: Int, meters: Int, more: String?) throws {
    var situation = try Situation(
      device: nil, microphones: (1...8).map { "m\($0)" },
      ["feeds": Situation.feeds(feeds.map { ($0.0, $0.1) })])
    situation.press(String(repeating: "f", count: presses))
    let grid = situation.grid()
    let (first, last) = (try #require(grid.find("correl.")), try #require(grid.find("MICROPHONES")))
    let rows = (first.row + 1..<last.row).map { grid.text($0).suffix(80 - first.column) }
    #expect(rows.count { $0.contains("·····") } == meters, "\(grid.text)")
    #expect(
      more.map { more in rows.contains { $0.contains(more) } } ?? !grid.contains("more:"), "\(grid.text)")
    // Both sides of a pair are told apart, whatever it is called.
    if presses == 2, more == "+ 2 more: a" {
      #expect(grid.contains("kitc…e L") && grid.contains("kitc…e R"), "\(grid.text)")
    }
  }

  @Test("256 microphones all have a place in the smallest window")
  func mostMicrophones() throws {
    #expect(try clipped(256).grid().cells.count { $0.scalar == "!" && $0.style == .alarmBlock } == 256)
  }

  @Test("names of any length and script leave every row as wide as the window", arguments: sizes)
  func longNames(width: Int, height: Int) throws {
    let long = String(repeating: "マイク前方e\u{301}", count: 30)
    let situation = try Situation(
      microphones: [long, "top"],
      [
        "preset": long, "dataSource": long, "device": long, "warnings": [long, long, long, long],
        "lastTake": ["path": "/takes/\(long).wav", "frames": 480, "fault": long],
      ])
    for isASCII in [false, true] {
      let grid = situation.grid(width, height, isASCII: isASCII)
      for row in 0..<height { #expect(grid.text(row).cells == width, "row \(row) of:\n\(grid.text)") }
    }
  }

  @Test("without UTF-8 everything is ASCII, and says the same", arguments: sizes)
  func ascii(width: Int, height: Int) throws {
    var situation = try Situation(["state": "recording", "muted": true])
    situation.press("?")
    for grid in [
      situation.grid(width, height, isASCII: true), try Situation().grid(width, height, isASCII: true),
    ] {
      #expect(grid.cells.allSatisfy { (32...126).contains($0.scalar.value) }, "\(grid.text)")
    }
    let grid = try Situation().grid(width, height, isASCII: true)
    #expect(grid.contains("+--") && grid.contains("^ forward") && grid.contains("###"))
  }

  @Test("no state is told by colour alone: its word is in the text")
  func withoutColour() throws {
    var situation = try Situation()
    try situation.hearLevels(
      #"{"microphones":[{"name":"top","rmsDB":-1,"peakDB":0}],"outputs":[{"name":"out_left","rmsDB":-1,"peakDB":0}]}"#
    )
    #expect(situation.grid().contains("CLIP"))
    let fault = try Situation([
      "fallback": ["missing": [["name": "top", "fault": "silent"]], "without": [String]()] as [String: Any]
    ]).grid()
    #expect(fault.contains("silent") && fault.contains("! microphone top: it sends only zeros"))
  }

  @Test("a clip stays until a key takes it away, and outputs clip when samples were clipped")
  func latch() throws {
    var situation = try Situation()
    let names = ["top"]
    try situation.hearLevels(#"{"microphones":[{"name":"top","rmsDB":-1,"peakDB":0}],"outputs":[]}"#)
    try situation.hear(names)
    #expect(situation.grid().contains("CLIP"))
    situation.press("c")
    #expect(!situation.grid().contains("CLIP"))
    try situation.hear(names, ["clippedSamples": 3])
    #expect(situation.grid().contains("CLIP"))
  }

  @Test("hold keeps the highest peak")
  func hold() throws {
    var situation = try Situation()
    let levels = #"{"microphones":[],"outputs":[{"name":"out_left","rmsDB":-40,"peakDB":PEAK}]}"#
    for peak in ["-4.2", "-33.1"] {
      try situation.hearLevels(levels.replacingOccurrences(of: "PEAK", with: peak))
    }
    #expect(situation.grid().contains("-33.1  -4.2"), "\(situation.grid().text)")
  }

  @Test("a refusal appears at the row of its key, with its reason, and goes after a while", arguments: sizes)
  func refusal(width: Int, height: Int) throws {
    let reason = "a take is being recorded to /takes/evening.wav; stop it with: pinna record stop"
    for (row, title) in [
      (Row.setting(.dataSource), "Source"), (.setting(.gain), "Gain"), (.preset, "Preset"),
    ] {
      var situation = try Situation()
      situation.model.take(.outcome(row, .failed(reason)), at: situation.now)
      let grid = situation.grid(width, height)
      let place = try #require(grid.find("a take is being"), "\(grid.text)")
      #expect(place.row == grid.find(title)?.row, "\(grid.text)")
      #expect(grid[place.row, place.column].style == .alarmBlock)
      #expect(grid.contains("twice"))
      #expect(!situation.grid(width, height, later: .seconds(9)).contains("a take is"))
    }
  }

  @Test("a take's path is shown whole where it fits beside what is said of it, and otherwise with its end")
  func path() throws {
    let path = "/home/you/Music/pinna/live/2026-11-26T20-04-40-phone5-evening-concert.wav"
    let take = ["path": path, "frames": 48000, "channels": 2] as [String: Any]
    let situations: [([String: Any], Int)] = [
      (["state": "recording", "take": take], 80), (["lastTake": ["path": path, "frames": 48000]], 120),
      (["lastTake": ["path": path, "frames": 48000, "endedBecause": "the JACK server ended"]], 140),
      (["state": "armed", "take": take], 120), (["closingTakes": [path]], 100),
    ]
    for (changes, width) in situations {
      #expect(try Situation(changes).grid(width, 24).text(1).contains(path), "\(changes)")
      // Where it does not fit, its end is what names it, and the window's width is used.
      let narrow = try Situation(changes.merging(["preset": "x"]) { $1 }).grid(80, 24).text(1)
      let isWhole = narrow.contains(path)
      #expect(isWhole || narrow.contains("…") && narrow.contains("evening-concert.wav"), "\(narrow)")
      #expect(isWhole || narrow.trimmingCharacters(in: .whitespaces).count >= 76, "\(narrow)")
    }
    let titled = take.merging(["title": String(repeating: "long title ", count: 20)]) { $1 }
    let line = try Situation(["state": "recording", "take": titled]).grid(80, 24).text(1)
    #expect(line.contains("concert.wav") && line.contains("\"long title"), "\(line)")
  }

  @Test("every size from one cell to the largest is laid out")
  func anySize() throws {
    let situation = try Situation(["state": "recording", "warnings": ["one", "two"]])
    let largest = MonitorView.largest
    for (width, height) in [
      (1, 1), (1, 400), (1000, 1), (79, 24), (80, 23), (80, 400), (largest.width, largest.height),
    ] {
      let grid = situation.grid(width, height)
      #expect(grid.width == width && grid.height == height)
      if width >= 80, height >= 24 { #expect(grid.contains("RECORDING")) }
    }
  }

  @Test("a refusal during a take names its file without the folder, and the key in place of the command")
  func shortRefusal() throws {
    let folder = "/home/you/a/long/folder/whose/name/would/fill/the/rows"
    var situation = try Situation([
      "state": "recording", "take": ["path": folder + "/evening.wav", "frames": 48000, "channels": 2],
    ])
    let reason =
      "recording \(folder)/evening.wav: nothing may change until it ends; stop it with: pinna record stop"
    situation.model.take(.outcome(.setting(.pattern), .failed(reason)), at: situation.now)
    let grid = situation.grid()
    let start = try #require(grid.find("recording evening.wav: nothing may change"), "\(grid.text)")
    #expect(start.row == grid.find("Pattern")?.row)
    // Two rows, so that the value below the second one is seen.
    #expect(grid.contains("Gain         ") && grid.contains("+0.0 dB"), "\(grid.text)")
  }

  @Test(
    "every microphone has its number in the picture; those that are close share a place", arguments: sizes)
  func numbers(width: Int, height: Int) throws {
    let grid = try Situation().grid(width, height)
    let (start, end) = (try #require(grid.find("┌")), try #require(grid.find("┘")))
    let inside = (start.row...end.row).map { row in
      String(
        String.UnicodeScalarView((start.column...end.column).map { grid[row, $0].scalar }))
    }.joined(separator: " ")
    let shown = inside.split { !$0.isNumber }.compactMap { Int($0) }
    #expect(shown.sorted() == [1, 2, 3, 4, 5], "\(grid.text)")
  }

  @Test("the longest reason stays inside the window", arguments: Row.allCases)
  func longRefusal(row: Row) throws {
    var situation = try Situation()
    let reason = String(repeating: "word ", count: 300)
    situation.model.take(.outcome(row, .failed(reason)), at: situation.now)
    #expect(situation.grid().contains("…"))
  }

  @Test(
    "too small a window says so, and still shows the state",
    arguments: [(79, 24), (80, 23), (40, 10), (12, 3), (1, 1), (0, 0)])
  func tooSmall(width: Int, height: Int) throws {
    let grid = try Situation(["state": "recording"]).grid(width, height)
    if width >= 40 {
      #expect(grid.text.contains("needs") && grid.text.contains("80×24") && grid.text.contains("RECORDING"))
    }
    #expect(!grid.text.contains("Gain"))
  }

  @Test("a Pinna that has gone is said to be gone, its last values are dimmed, and one that is back is shown")
  func gone() throws {
    var situation = try Situation()
    let reason = "no Pinna named \"pinna\" is running (looked in /run); start one with: pinna run"
    situation.model.take(.unreachable(Failure(.notRunning, reason)), at: situation.now)
    let gone = situation.grid()
    #expect(gone.contains("NO PINNA") && !gone.contains("LIVE"))
    #expect(gone.contains("start one with"))
    try situation.hear(["top"])
    #expect(situation.grid().contains("LIVE") && !situation.grid().contains("NO PINNA"))
    #expect(
      MonitorView.grid(MonitorModel(name: "pinna"), width: 80, height: 24, at: .now).contains("CONNECTING"))
  }

  @Test("a Pinna that does not answer is said to be silent after two seconds, not before")
  func silent() throws {
    var situation = try Situation()
    situation.model.take(.unreachable(Failure(.failed, "did not answer")), at: situation.now)
    #expect(situation.grid(later: .seconds(1)).contains("LIVE"))
    #expect(situation.grid(later: .seconds(3)).contains("DOES NOT ANSWER"))
  }

  @Test("a frame is laid out within 20 ms, the largest included")
  func fast() throws {
    let situation = try Situation(device: nil, microphones: (1...64).map { "microphone-\($0)" })
    let time = ContinuousClock().measure { for _ in 0..<10 { _ = situation.grid(200, 60) } }
    #expect(time < Faults.patience(.milliseconds(200)))
  }
}
