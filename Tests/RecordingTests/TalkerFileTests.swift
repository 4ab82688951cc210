import Acoustics
import Foundation
import LiveSupport
import Realtime
import Recording
import Settings
import TestSupport
import Testing

@Suite("Files of talkers") struct TalkerFileTests {
  /// At 1000 frames a second.
  private static func sound(_ identity: Int, _ begin: Int, _ end: Int, at azimuth: Double)
    -> [Sidecar.Talker]
  {
    let look = Look(azimuth: azimuth)
    return [
      .init(frame: begin, identity: identity, look: look, level: -30, confidence: 0.5),
      .init(frame: end, identity: identity, isActive: false, look: look, level: -24, confidence: 0.9),
    ]
  }

  private static func utterances(_ sounds: [[Sidecar.Talker]], frames: Int = 100_000, seats: [String] = [])
    throws -> [Utterance]
  {
    Utterance.list(
      sounds.joined().sorted { $0.frame < $1.frame }, frames: frames, sampleRate: 1000,
      seats: try Seat.list(seats))
  }

  private static func line(_ utterance: Utterance) -> String {
    "\(utterance.name) \(utterance.begin)-\(utterance.end)"
  }

  @Test("short pauses join sounds; what is too short to be speech is left out, and who said no more with it")
  func people() throws {
    let list = try Self.utterances([
      Self.sound(7, 1000, 2500, at: 40), Self.sound(7, 2900, 4000, at: 40), Self.sound(7, 5000, 5040, at: 40),
      Self.sound(3, 500, 900, at: -100), Self.sound(9, 3000, 6000, at: 170),
    ])
    #expect(list.map(Self.line) == ["talker 1 1.0-4.0", "talker 2 3.0-6.0"])
    #expect(list.map(\.number) == [1, 2] && abs(list[0].level + 24) < 0.01 && list[0].confidence == 0.9)
  }

  @Test("who speak from one place in turn are one; who speak there together for more than a second are two")
  func together() throws {
    let first = Self.sound(1, 1000, 5000, at: 40)
    #expect(try Self.utterances([first, Self.sound(2, 4100, 8000, at: 50)]).map(\.number) == [1])
    #expect(try Self.utterances([first, Self.sound(2, 3900, 8000, at: 50)]).map(\.number) == [1, 2])
  }

  @Test("whoever speaks at the end of a take speaks to its end; a take that crashed has its last talkers")
  func ends() throws {
    #expect(try Self.utterances([Self.sound(1, 1000, 9500, at: 0)], frames: 10_000).map(\.end) == [10])
    #expect(try Self.utterances([[Self.sound(1, 1000, 2000, at: 0)[0]]], frames: 10_000).map(\.end) == [10])
    #expect(try Self.utterances([Self.sound(1, 1000, 4000, at: 0)], frames: 10_000).map(\.end) == [4])
  }

  @Test("whoever speaks to the end of a take has the level and the confidence that were told last")
  func unfinished() throws {
    let sound = Self.sound(1, 1000, 2000, at: 0)[0]
    let later = Sidecar.Talker(frame: 1500, identity: 1, look: sound.look, level: -20, confidence: 0.8)
    let list = try Self.utterances([[sound, later]], frames: 10_000)
    #expect(list.map(\.end) == [10] && abs(list[0].level + 20) < 0.01 && list[0].confidence == 0.8)
  }

  @Test("a seat names whoever is nearest to it, within the tolerance; numbers stay")
  func seats() throws {
    let sounds = [
      Self.sound(1, 0, 3000, at: 178), Self.sound(2, 4000, 7000, at: 40), Self.sound(3, 8000, 11_000, at: 62),
    ]
    let names = try Self.utterances(sounds, seats: ["anna=55", "ben b=-170", "cleo=-90"]).map(\.name)
    #expect(names == ["ben b", "talker 2", "anna"])
    #expect(try Seat(word: "a=b=-35,10") == Seat(name: "a=b", look: Look(azimuth: -35, elevation: 10)!))
    for word in ["anna", "=40", "anna=", "anna=x", "anna=40,100", "anna=1,2,3", "a;b=4", "a\tb=4", "a=nan"] {
      #expect(throws: Failure.self, "\(word)") { try Seat(word: word) }
    }
    #expect(throws: Failure.self) { try Seat.list(["anna=1", "anna=50"]) }
  }

  @Test("what a sidecar lists is read again; older ones are read; what no take has is refused")
  func again() throws {
    var sidecar = Sidecar(
      TakePlan(
        outputs: 2, sampleRate: 48000, options: TakeOptions(), setup: TakeWriterTests.setup,
        preRoll: PreRoll(microphones: 1, capacityFrames: 0)))
    let sounds = Self.sound(1, 100, 4800, at: -35.4) + Self.sound(2, 5000, 9000, at: 60)
    sidecar.list(sounds)
    #expect(
      sidecar.talkers
        == "100 1 -35 -30 50; 4800 1 off -35 -24 90; 5000 2 60 -30 50; 9000 2 off 60 -24 90")
    #expect(try sidecar.talkerList() == sounds.map(\.listed))
    sidecar.talkers = "100 1 -35 -32; 4800 2 60,10 -40; 9600 1 off"
    let old = try #require(try sidecar.talkerList())
    #expect(old.map(\.isActive) == [true, true, false] && old[1].look == Look(azimuth: 60, elevation: 10))
    for text in [
      "x", "1", "1 1", "1 1 on", "-1 1 off", "1 0 off", "1 1 900 -3", "1 1 3 nan", "1 1 3 -3 101",
      "1 1 3 -3 4 5",
    ] {
      sidecar.talkers = text
      #expect(throws: TakeError.self, "\(text)") { try sidecar.talkerList() }
    }
  }

  // MARK: Formats

  /// Names that formats stumble over; an overlap; more than 99 hours; and no length.
  static let hard = [
    utterance(1, "NA", 0.5, 2), utterance(2, "Anna Müller", 1, 3.25), utterance(3, "Anna_Müller", 1.5, 0.5),
    utterance(4, "<b> & \"c\", d", 5, 0), utterance(5, "talker 5", 360_000, 1.0004),
  ]

  private static func utterance(_ number: Int, _ name: String, _ begin: Double, _ duration: Double)
    -> Utterance
  {
    Utterance(
      number: number, name: name, begin: begin, duration: duration, look: Look(azimuth: -0.3, elevation: 10)!,
      level: -31.26, confidence: 0.876)
  }

  @Test(
    "RTTM: a name is one word that is no missing value, other names stay others, and what it cannot hold is said"
  )
  func rttm() {
    let (text, remarks) = TalkerFormat.rttm.text(Self.hard, of: ";; my take")
    let lines = text.split(separator: "\n").map(String.init)
    let fields: [[String]] = lines.map { $0.split(separator: " ").map(String.init) }
    #expect(fields.allSatisfy { $0.count == 10 && $0[0] == "SPEAKER" && $0[1] == "%3B;%20my%20take" })
    let names: [String] = fields.map { $0[7] }
    #expect(names == ["_NA", "Anna_Müller", "Anna_Müller_", "<b>_&__c_,_d", "talker_5"])
    #expect(lines[1] == "SPEAKER %3B;%20my%20take 1 1.000 3.250 <NA> <NA> Anna_Müller 0.88 <NA>")
    #expect(remarks.count == 5 && remarks.allSatisfy { $0.contains("RTTM") }, "\(remarks)")
  }

  @Test("RTTM: takes of different names stay apart when their files are put together")
  func uris() {
    let names = [
      "a b", "a_b", "a%20b", "a\tb", "a\u{a0}b", "a\"b", "NA", "_NA", ";;x", "_;;x", "#x", "ä", "nan",
    ]
    let uris = names.map { TalkerFormat.rttm.text(Self.hard, of: $0).text.split(separator: " ")[1] }
    #expect(Set(uris).count == names.count, "\(uris)")
    #expect(uris.allSatisfy { $0.first != ";" && $0.first != "#" && !["NA", "nan"].contains($0) }, "\(uris)")
    #expect(uris[1] == "a_b" && uris[11] == "ä")
  }

  @Test("WebVTT: a cue for each, with its voice, names escaped, hours as they are, none without length")
  func webvtt() {
    let text = TalkerFormat.webvtt.text(Self.hard, of: "take").text
    #expect(text.hasPrefix("WEBVTT\n\n00:00:00.500 --> 00:00:02.500\n<v NA>NA</v>\n\n"))
    #expect(
      text.contains(
        "\n00:00:05.000 --> 00:00:05.001\n<v &lt;b&gt; &amp; \"c\", d>&lt;b&gt; &amp; \"c\", d</v>\n"))
    #expect(text.contains("\n100:00:00.000 --> 100:00:01.000\n"))
  }

  @Test("CSV, JSON and labels have every name as it is")
  func tables() throws {
    let csv = TalkerFormat.csv.text(Self.hard, of: "take").text
    #expect(
      csv.hasPrefix(
        "begin,duration,name,azimuth,elevation,level,confidence\n0.500,2.000,NA,0,10,-31.3,0.88\n"))
    #expect(csv.contains("\n5.000,0.000,\"<b> & \"\"c\"\", d\",0,10,-31.3,0.88\n"))
    let json = TalkerFormat.json.text(Self.hard, of: "a \"take\"").text
    let document = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    let talkers = try #require(document["talkers"] as? [[String: Any]])
    #expect(
      document["take"] as? String == "a \"take\""
        && talkers.map { $0["name"] as? String } == Self.hard.map(\.name))
    #expect(talkers[4]["begin"] as? Double == 360_000 && talkers[1]["duration"] as? Double == 3.25)
    let labels = TalkerFormat.labels.text(Self.hard, of: "take").text.split(separator: "\n")
    // Audacity's manual: seconds, a tab, seconds, a tab, the name as it is; a label without length is a point.
    #expect(
      labels == [
        "0.500000\t2.500000\tNA", "1.000000\t4.250000\tAnna Müller", "1.500000\t2.000000\tAnna_Müller",
        "5.000000\t5.000000\t<b> & \"c\", d", "360000.000000\t360001.000400\ttalker 5",
      ])
    for format in TalkerFormat.allCases {
      let text = format.text([], of: "take").text
      #expect(text == ["rttm": "", "labels": "", "webvtt": "WEBVTT\n"][format.rawValue] ?? text)
    }
  }

  /// A Python that has a package, for readers that other projects wrote; nil where there is none.
  private static func python(with package: String) -> String? {
    let named = ProcessInfo.processInfo.environment["PINNA_PEER_PYTHON"]
    // `make scenes` makes the second.
    let candidates = [named, ".build/venv/bin/python", "python3"].compactMap(\.self)
    return candidates.first {
      (try? Program.run("/usr/bin/env", [$0, "-c", "import \(package)"], environment: [:], seconds: 60))?
        .status == 0
    }
  }

  private static func ask(_ python: String, _ script: String, _ file: String) throws -> String {
    let outcome = try Program.run(
      "/usr/bin/env", [python, "-W", "ignore", "-c", script, file], environment: [:], seconds: 120)
    try #require(outcome.status == 0, "\(outcome)")
    return outcome.output
  }

  @Test(
    "pyannote.database reads every name and time of an RTTM",
    .enabled(if: python(with: "pyannote.database") != nil, "needs pyannote.database"))
  func pyannote() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(TalkerFormat.rttm.text(Self.hard, of: "my take").text, to: "take.rttm")
    let script = """
      import sys
      from pyannote.database.util import load_rttm
      for uri, a in load_rttm(sys.argv[1]).items():
        print(uri, *(f"{s.start:.3f} {s.end:.3f} {name}" for s, _, name in a.itertracks(yield_label=True)), sep="|")
      """
    let text = try Self.ask(Self.python(with: "pyannote.database")!, script, path)
    // One without length is no segment there.
    #expect(
      text.trimmingCharacters(in: .newlines)
        == "my%20take|0.500 2.500 _NA|1.000 4.250 Anna_Müller|1.500 2.000 Anna_Müller_|360000.000 360001.000 talker_5"
    )
  }

  @Test(
    "simpleder reads every name and time of an RTTM, and one without length",
    .enabled(if: python(with: "simpleder") != nil, "needs simpleder"))
  func simpleder() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(TalkerFormat.rttm.text(Self.hard, of: "my take").text, to: "take.rttm")
    let script = """
      import sys, simpleder
      for uri, talkers in simpleder.load_rttm(sys.argv[1]).items():
        print(uri, *(f"{begin:.3f} {end:.3f} {name}" for name, begin, end in talkers), sep="|")
      """
    let text = try Self.ask(Self.python(with: "simpleder")!, script, path)
    #expect(
      text.trimmingCharacters(in: .newlines)
        == "my%20take|0.500 2.500 _NA|1.000 4.250 Anna_Müller|1.500 2.000 Anna_Müller_|5.000 5.000 <b>_&__c_,_d|360000.000 360001.000 talker_5"
    )
  }

  @Test(
    "ffmpeg reads every time of a WebVTT, also after 99 hours, and names",
    .enabled(if: access("/usr/bin/ffmpeg", X_OK) == 0, "ffmpeg is missing"))
  func ffmpeg() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(TalkerFormat.webvtt.text(Self.hard, of: "take").text, to: "take.vtt")
    let outcome = try Program.run("/usr/bin/ffmpeg", ["-v", "error", "-i", path, "-f", "srt", "-"])
    let cues = outcome.output.split(separator: "\n\n").map {
      $0.split(separator: "\n").dropFirst().map(String.init)
    }
    #expect(outcome.status == 0 && cues.count == 5, "\(outcome)")
    #expect(
      cues.compactMap(\.first) == [
        "00:00:00,500 --> 00:00:02,500", "00:00:01,000 --> 00:00:04,250", "00:00:01,500 --> 00:00:02,000",
        "00:00:05,000 --> 00:00:05,001", "100:00:00,000 --> 100:00:01,000",
      ])
    // What follows an escaped character of a voice is text to ffmpeg 5.1.
    let names = cues.enumerated().filter { $0.offset != 3 }.map { $0.element.last }
    #expect(names == ["NA", "Anna Müller", "Anna_Müller", "talker 5"])
  }

  @Test(
    "webvtt-py reads every voice and time of a WebVTT",
    .enabled(if: python(with: "webvtt") != nil, "needs webvtt-py"))
  func webvttPy() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(TalkerFormat.webvtt.text(Self.hard, of: "take").text, to: "take.vtt")
    let script = """
      import sys, webvtt
      for c in webvtt.read(sys.argv[1]): print(c.start, c.end, c.voice, c.text, sep="|")
      """
    let text = try Self.ask(Self.python(with: "webvtt")!, script, path)
    #expect(text.contains("00:00:01.000|00:00:04.250|Anna Müller|Anna Müller\n"), "\(text)")
    #expect(text.split(separator: "\n").count == 5, "\(text)")
  }
}
