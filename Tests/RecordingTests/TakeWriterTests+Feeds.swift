import Acoustics
import AudioFiles
import Foundation
import LiveSupport
import Realtime
import Recording
import Settings
import TestSupport
import Testing

/// Takes of several feeds: main, one of one channel, and one of four.
extension TakeWriterTests {
  private static func selection(_ pattern: PolarPattern) -> Selection {
    Selection(dataSource: "Back", polarPattern: pattern, inputOrientation: .portrait)
  }

  static func makeFeeds() -> [TakeFeed] {
    [
      TakeFeed(
        FeedSetup(FeedSetting(name: "room", selection(.ambix1)), layout: nil),
        firstOutput: 3, preRoll: PreRoll(outputs: 4, microphones: 0, capacityFrames: 6 * period)),
      TakeFeed(
        FeedSetup(
          FeedSetting(name: "anna", selection(.cardioid), gain: Decibels(-3), highPass: .on(Hertz(80))),
          layout: nil),
        firstOutput: 1, preRoll: PreRoll(outputs: 1, microphones: 0, capacityFrames: 10 * period)),
    ]
  }

  /// Lets the engine play the feeds, too.
  mutating func startFeeds() throws {
    let engine = run.engine
    let filters: [[[[Float]]]] = [
      [[[1], [0], [0]], [[0], [1], [0]], [[0], [0], [1]], [[0.5], [0], [0]]], [[[0], [0], [0.25]]],
    ]
    for (feed, filters) in zip(feeds, filters) {
      let started = engine.startFeed(
        with: FilterSet(coefficients: filters), firstOutput: feed.firstOutput, preRoll: feed.preRoll)
      #expect(started != nil)
    }
    run = OfflineRun(engine, microphones: sound, feedOutputs: 8)
  }

  /// The feeds besides main.
  static let all = ["room", "anna"]

  /// What each file of a take of main, of these feeds and of the microphones must hold, by the name's ending.
  func played(_ names: [String] = all) -> [(ending: String, source: [[Float]])] {
    let files: [(ending: String, source: [[Float]])] = [
      ("", [run.left, run.right]), ("-anna", Array(run.feeds[1...1])), ("-room", Array(run.feeds[3...6])),
      ("-microphones", sound),
    ]
    return files.filter { (names + ["", "microphones"]).contains(String($0.ending.dropFirst())) }
  }

  func stem(_ result: TakeWriter.Result) -> String {
    folder.path + "/" + result.sidecarName.replacing(".json", with: "")
  }

  /// Feeds to record, and whether the microphones are.
  static let choices: [(main: Bool, feeds: [String], raw: Bool)] = [
    (true, ["room", "anna"], true), (false, ["room", "anna"], false), (false, ["room"], true),
    (true, [], true),
    (true, ["anna"], false),
  ]

  @Test(
    "a take of several feeds has a file for each, all of the same frames, and the shortest of their pre-rolls",
    arguments: choices)
  mutating func feeds(choice: (main: Bool, feeds: [String], raw: Bool)) throws {
    try startFeeds()
    for _ in 0..<20 { run.process(Self.period) }
    let recorded = feeds.filter { choice.feeds.contains($0.setup.name) }
    let result = try take(
      try writer(main: choice.main, choice.feeds) { $0.raw = choice.raw }, periods: 100)
    let preRoll = choice.feeds.contains("room") ? 6 : 10
    #expect(result.sidecar.preRollFrames == preRoll * Self.period && result.fault == nil)
    let span = (20 - preRoll) * Self.period..<120 * Self.period
    var files = 1
    for (ending, source) in played() {
      let path = stem(result) + ending + ".wav"
      let isRecorded =
        ending.isEmpty
        ? choice.main : ending == "-microphones" ? choice.raw : choice.feeds.contains { "-" + $0 == ending }
      guard isRecorded else {
        #expect(access(path, F_OK) != 0)
        continue
      }
      files += 1
      #expect(try differences(AudioClip(path: path), source, span) == 0, "\(ending)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == files)
    let document = try Sidecar.read(stem(result) + ".json")
    #expect(document == result.sidecar && document.state == .complete && document.frames == span.count)
    #expect(document.channels == (choice.main ? 2 : 0))
    #expect(document.feeds ?? [] == recorded.map(\.setup))
    #expect(Set((document.files[0].feeds ?? [:]).keys) == Set(choice.feeds))
    #expect(result.path == folder.path.resolved + "/" + document.files[0].first)
    let listed = TakeFolder(path: folder.path).takes()
    #expect(listed.map(\.frames) == [span.count] && listed.map(\.microphones) == [choice.raw])
    #expect(listed.map(\.channels) == [choice.main ? 2 : choice.feeds.contains("anna") ? 1 : 4])
    let names = TakeFolder(path: folder.path).newestNames(10)
    #expect(names == [document.files[0].first])
  }

  @Test("each file of a take says what it holds")
  mutating func contents() throws {
    try startFeeds()
    let result = try take(try writer(Self.all), periods: 2)
    for (ending, content) in [
      ("", "Back stereo"), ("-anna", "Back cardioid"),
      ("-room", "Back Ambisonics of order 1: ACN channel order, SN3D normalisation (AmbiX)"),
      ("-microphones", "microphones"),
    ] {
      let text = try #require(BroadcastExtension.description(at: stem(result) + ending + ".wav"))
      #expect(text.hasPrefix("\(Self.setup.device) \(content)"), "\(ending)")
    }
  }

  @Test("the sidecar of a take of main alone says nothing of feeds")
  mutating func mainAlone() throws {
    let result = try take(try writer(), periods: 2)
    let text = try String(contentsOfFile: result.path.replacing(".wav", with: ".json"), encoding: .utf8)
    #expect(!text.contains("feeds") && text.contains("\"outputs\""))
  }

  @Test("a feed's name is a word that names no other file of a take")
  func feedNames() {
    for name in ["anna", "room2", "X", "Mains", String(repeating: "a", count: 32)] {
      #expect(FeedSetting.isName(name), "\(name)")
    }
    let others = [
      "", "main", "microphones", "Microphones", "2", "2nd", "a-b", "a_2", "a.b", "a/b", "ä", "a b", "..",
      String(repeating: "a", count: 33), "a\n", "a\0",
    ]
    for name in others { #expect(!FeedSetting.isName(name), "\(name)") }
  }

  @Test("a take of several feeds is split at the same frames in every file, none larger than asked for")
  mutating func splitFeeds() throws {
    try startFeeds()
    let writer = try writer(Self.all) {
      $0.splitMegabytes = 40
      // Longer than 40 MB: the smaller limit counts.
      $0.splitMinutes = 2
    }
    let result = try take(writer, periods: 20, timing: [10: .stall(90 * 48_000)])
    // The widest file has four channels of 4 bytes.
    #expect(result.sidecar.files.map(\.frames).dropLast().allSatisfy { $0 == (40_000_000 - 4096 - 512) / 16 })
    #expect(result.sidecar.files.count == 2)
    for files in result.sidecar.files {
      #expect(files.names.count == 4)
      for name in files.names {
        let path = folder.path + "/" + name
        #expect(try AudioFileReader(path: path).frames == files.frames)
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect(try #require(size) <= 40_000_000)
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 9)
  }

  @Test("every file of a take is converted whose format allows it, and the others stay WAV with a note")
  mutating func convertFeeds() throws {
    let wide = TakeFeed(
      FeedSetup(FeedSetting(name: "wide", Self.selection(.ambix2)), layout: nil), firstOutput: 0)
    let engine = Engine(microphones: 3, taps: 1, sampleRate: 48000)
    engine.prepare(period: Self.period)
    let filters = FilterSet(coefficients: (0..<9).map { _ in [[0.5], [0], [0.25]] })
    #expect(engine.startFeed(with: filters, firstOutput: 0) != nil)
    run = OfflineRun(engine, microphones: sound, feedOutputs: 9)
    var options = TakeOptions()
    options.raw = true
    options.format = .flac
    let writer = TakeWriter(
      folder: folder.path.resolved,
      plan: TakePlan(
        outputs: 2, feeds: [wide], sampleRate: 48000, options: options, setup: Self.setup,
        preRoll: engine.preRoll))
    let result = try take(writer, periods: 20)
    #expect(result.sidecar.notes.count == 1 && result.fault == nil)
    #expect(result.sidecar.notes[0].contains("-wide.wav stays WAV: flac supports at most 8 channels"))
    let names = result.sidecar.files[0].names.map { $0.split(separator: "-").last ?? "" }
    #expect(names == ["1.flac", "wide.wav", "microphones.flac"])
    for name in result.sidecar.files[0].names {
      #expect(try AudioClip(path: folder.path + "/" + name).frames == result.frames)
    }
  }

  @Test(
    "B-format stays WAV where the others become Opus, whose encoder would couple its channels, and the take says why"
  )
  mutating func opusOfFeeds() throws {
    try startFeeds()
    let result = try take(try writer(Self.all) { $0.format = .opus }, periods: 40)
    let name = result.sidecarName.dropLast(5)
    #expect(result.sidecar.notes.count == 2 && result.fault == nil, "\(result.sidecar.notes)")
    #expect(
      result.sidecar.notes[0].hasPrefix(
        "\(name)-room.wav stays WAV: opus would couple the channels of B-format"))
    #expect(
      result.sidecar.files[0].names == [
        "\(name).opus", "\(name)-anna.opus", "\(name)-room.wav", "\(name)-microphones.wav",
      ])
    var options = TakeOptions()
    options.format = .opus
    let plan = TakePlan(
      outputs: 0, feeds: [feeds[0]], sampleRate: 48000, options: options, setup: Self.setup,
      preRoll: run.engine.preRoll)
    #expect(plan.convertedFormat == nil && plan.conversionObstacle?.contains("B-format") == true)
  }

  @Test("a change of a feed empties its pre-roll, and a take of the others keeps theirs")
  mutating func preRollsOfFeeds() throws {
    try startFeeds()
    for _ in 0..<20 { run.process(Self.period) }
    // Anna is the second feed that was started.
    _ = try run.engine.change(feed: 2, to: FilterSet(coefficients: [[[1], [0], [0]]]), gain: 1)
    for _ in 0..<18 { run.process(Self.period) }
    let first = try take(try writer(main: false, ["anna"]) { $0.raw = false }, periods: 2)
    #expect(first.sidecar.preRollFrames == 3 * Self.period)
    for _ in 0..<20 { run.process(Self.period) }
    _ = try run.engine.change(feed: 2, to: FilterSet(coefficients: [[[1], [0], [0]]]), gain: 1)
    for _ in 0..<18 { run.process(Self.period) }
    let second = try take(try writer(["room"]), periods: 2)
    #expect(second.sidecar.preRollFrames == 6 * Self.period)
    for _ in 0..<20 { run.process(Self.period) }
    _ = try run.engine.change(to: FilterSet(coefficients: [[[1], [0], [0]], [[0], [1], [0]]]), gain: 1)
    for _ in 0..<18 { run.process(Self.period) }
    // The microphones' is not main's.
    let third = try take(try writer(main: false, ["anna"]), periods: 2)
    #expect(third.sidecar.preRollFrames == 10 * Self.period)
    for _ in 0..<18 { run.process(Self.period) }
    let fourth = try take(try writer(Self.all), periods: 2)
    #expect(fourth.sidecar.preRollFrames == 6 * Self.period)
  }

  @Test("a take whose pre-roll one feed's disk thread still reads begins without, and releases nothing")
  mutating func heldPreRollOfAFeed() throws {
    try startFeeds()
    for _ in 0..<20 { run.process(Self.period) }
    // A take of room whose disk thread has not read its pre-roll.
    let slow = TakeRing(outputs: 0, places: [3, 4, 5, 6], capacityFrames: 1000)
    _ = try run.engine.beginTake(into: slow)
    run.process(Self.period)
    _ = try run.engine.endTake()
    for _ in 0..<12 { run.process(Self.period) }
    #expect(slow.start?.preRoll == 6 * Self.period)
    let room = try #require(feeds[0].preRoll)
    let held = room.read(age: 0, frames: 6 * Self.period, outputs: 4, microphones: 0)
    #expect(try take(writer(Self.all), periods: 3).sidecar.preRollFrames == 0)
    for _ in 0..<12 { run.process(Self.period) }
    #expect(room.read(age: 0, frames: 6 * Self.period, outputs: 4, microphones: 0) == held)
    // What does not record room has its own.
    let other = try take(
      writer(["anna"]), periods: 3)
    #expect(other.sidecar.preRollFrames == 10 * Self.period)
    for _ in 0..<12 { run.process(Self.period) }
    #expect(room.read(age: 0, frames: 6 * Self.period, outputs: 4, microphones: 0) == held)
    room.release()
    for _ in 0..<3 { run.process(Self.period) }
    #expect(try take(writer(Self.all), periods: 3).sidecar.preRollFrames == 3 * Self.period)
  }
}

extension String {
  fileprivate var resolved: String { TakeFolder.resolve(self) }
}
