import Acoustics
import AudioFiles
import FilterBanks
import FilterDesign
import Foundation
import LiveSupport
import Presets
import Realtime
import Recording
import Rendering
import Settings
import TestSupport
import Testing

/// Takes with their microphones, recorded by an engine as in a graph, which `pinna render` computes again.
@Suite("pinna render of whole takes") struct TakeReproductionTests {
  static let period = 256
  /// Silence, until when a microphone is invalid, and the pre-roll; in the gate half of them.
  private static let dropouts: [(Range<Int>, Int?, Int)] =
    [
      (-300..<700, nil, 0), (-9000 ..< -200, 20_000, 0), (-9000..<5000, 20_000, 2560),
      (-20_000..<100, 25_000, 2560),
    ] + (isNightly ? moreDropouts : [])
  private static let moreDropouts: [(Range<Int>, Int?, Int)] = [
    (-9000..<5000, nil, 0), (-20_000..<100, 25_000, 0), (-300..<700, nil, 2560), (-9000 ..< -200, nil, 2560),
  ]
  let home: VerbHome
  let device: Device
  let sets: FilterSets
  let fallback: FilterSets

  init() throws {
    home = try VerbHome()
    try home.home.add(
      PinnaHome.pair.replacing("[portrait]", with: "[portrait, portraitUpsideDown]"), named: "pair")
    try #require(try home.pinna("design", "pair").status == 0)
    device = try DeviceFile.read(YAMLReader(path: home.home.configFolder + "/pinna/devices/pair.yaml"))
    let cache = home.cacheFolder + "/pinna/filters"
    sets = FilterSets(try FilterBank.cached(device: device, sampleRate: 48000, cache: cache))
    let without = device.without(microphones: ["left-end"])
    fallback = FilterSets(
      try FilterBank.cached(device: without, sampleRate: 48000, cache: cache).replacing(for: device))
  }

  struct Options {
    var preRollFrames = 0
    var splitMinutes: Int?
    var stall = 5000
    var highPass: Double? = 80
    var hasMain = true
    /// Frames, counted from the take's first, in which the first microphone sends zeros.
    var silence: Range<Int>?
    /// How long before the take the second microphone sends an invalid sample.
    var invalidFramesBefore: Int?
    /// Of the feeds that are recorded besides main.
    var names = ["anna", "ben"]
  }

  /// Records main (stereo), anna (omnidirectional, with fallbacks) and ben (stereo in another orientation) out of sound
  /// that has begun long before.
  /// - Returns: the path without ending.
  func record(_ options: Options = Options()) throws -> String {
    var noise = SeededNoise(seed: 77)
    let engine = sets.makeEngine(
      preRoll: options.preRollFrames > 0
        ? PreRoll(microphones: 2, capacityFrames: options.preRollFrames) : nil)
    func filters(_ sets: FilterSets, _ pattern: PolarPattern, _ orientation: InputOrientation) throws
      -> FilterSet
    {
      try sets.filters(
        for: Selection(dataSource: "Front", polarPattern: pattern, inputOrientation: orientation), of: device)
    }
    func amplitude(_ gain: Double) -> Float { Float(Decibels(gain).amplitude) }
    engine.start(with: try filters(sets, .stereo, .portrait), gain: amplitude(-3), highPass: options.highPass)
    func preRoll(_ outputs: Int) -> PreRoll? {
      options.preRollFrames > 0
        ? PreRoll(outputs: outputs, microphones: 0, capacityFrames: options.preRollFrames) : nil
    }
    let (annas, bens) = (preRoll(1), preRoll(2))
    let anna = try #require(
      engine.startFeed(
        with: try filters(sets, .omnidirectional, .portrait), firstOutput: 2, gain: amplitude(1.5),
        highPass: options.highPass, preRoll: annas))
    _ = engine.startFeed(
      with: try filters(sets, .stereo, .portraitUpsideDown), firstOutput: 0, gain: 1, preRoll: bens)
    engine.prepare(period: Self.period)
    var signal = (0..<2).map { _ in noise.samples(400 * Self.period + 100, amplitude: 0.25) }
    let takeStart = 101 * Self.period
    for frame in options.silence ?? 0..<0 { signal[0][takeStart + frame] = 0 }
    if let frames = options.invalidFramesBefore { signal[1][takeStart - frames] = .nan }
    var run = OfflineRun(engine, microphones: signal, firstFrame: 98_765, feedOutputs: 3)
    // An odd number of short periods first, so that the take begins anywhere on the clock.
    for _ in 0..<takeStart / Self.period { run.process(Self.period) }
    var take = TakeOptions()
    take.raw = true
    take.splitMinutes = options.splitMinutes
    func setting(
      _ name: String, _ pattern: PolarPattern, _ orientation: InputOrientation, _ gain: Double,
      _ highPass: Double?
    ) -> FeedSetting {
      FeedSetting(
        name: name,
        Selection(dataSource: "Front", polarPattern: pattern, inputOrientation: orientation),
        gain: Decibels(gain), highPass: highPass.map { .on(Hertz($0)) } ?? .off)
    }
    let writer = TakeWriter(
      folder: TakeFolder.resolve(home.path),
      plan: TakePlan(
        outputs: options.hasMain ? 2 : 0,
        feeds: [
          TakeFeed(
            FeedSetup(setting("anna", .omnidirectional, .portrait, 1.5, options.highPass), layout: nil),
            firstOutput: 2, preRoll: annas),
          TakeFeed(
            FeedSetup(setting("ben", .stereo, .portraitUpsideDown, 0, nil), layout: nil), firstOutput: 0,
            preRoll: bens),
        ].filter { options.names.contains($0.setup.name) }, sampleRate: 48000, options: take,
        setup: TakeSetup(
          FeedValues(setting(FeedSetting.main, .stereo, .portrait, -3, options.highPass)),
          TakeCircumstances(
            preset: "pair", device: "pair", microphones: ["left-end", "right-end"], latencyFrames: 0,
            array: RecordedDevice(device) { _ in nil })), preRoll: engine.preRoll))
    _ = try engine.beginTake(into: writer.opened())
    var stall = Timing()
    stall.skippedFrames = options.stall
    for n in 0..<280 {
      if n == 120 {
        _ = try engine.substitute(
          feed: anna, filters(fallback, .omnidirectional, .portrait), gain: amplitude(1.5),
          highPass: options.highPass)
      }
      if n == 200 {
        _ = try engine.substitute(
          feed: anna, filters(sets, .omnidirectional, .portrait), gain: amplitude(1.5),
          highPass: options.highPass)
      }
      run.process(Self.period, timing: n == 60 ? stall : Timing())
      for case .substituted(_, _, let frame?) in engine.drainReports() {
        writer.addFallback(
          frame: frame + writer.preRollFrames, without: n < 160 ? ["left-end"] : [], feed: "anna")
      }
      // Not faster than the disk.
      if n % 50 == 0 { usleep(100_000) }
    }
    _ = try engine.endTake()
    run.process(Self.period)
    let result = try writer.finished()
    #expect(result.sidecar.fallbacks?.count == 2 && result.sidecar.gaps.count == (options.stall > 0 ? 1 : 0))
    return home.path + "/" + result.sidecarName.dropLast(5)
  }

  /// The number of samples of two files that differ; all if their shapes do.
  static func differences(_ a: String, _ b: String, from first: Int = 0) throws -> Int {
    let (a, b) = (try AudioClip(path: a), try AudioClip(path: b))
    guard a.channels.map(\.count) == b.channels.map(\.count) else { return .max }
    return zip(a.channels, b.channels).reduce(0) { sum, pair in
      sum + TestSupport.differences(pair.0, pair.1, from: first)
    }
  }

  func render(_ words: String...) throws {
    let outcome = try home.pinna(["render", "--force"] + words)
    #expect(outcome.status == 0, "\(outcome)")
  }

  @Test(
    "R58: every feed of a take is computed again bit for bit, gaps and fallbacks included",
    arguments: [nil, 80.0])
  func bitForBit(highPass: Double?) throws {
    let take = try record(Options(highPass: highPass))
    let out = home.path + "/out.wav"
    for (ending, words) in [
      ("", [String]()), ("-anna", []), ("-ben", []), ("-anna", ["--feed", "anna"]), ("", ["--feed", "main"]),
    ] {
      let source = words.isEmpty ? take + ending + ".wav" : take + "-microphones.wav"
      unlink(out)
      let outcome = try home.pinna(["render", "--force", source, out] + words)
      #expect(outcome.status == 0, "\(outcome)")
      #expect(try Self.differences(out, take + ending + ".wav") == 0, "\(ending) \(words)")
    }
    try render(take + ".json", "--into", home.path + "/all")
    for (name, ending) in [("main", ""), ("anna", "-anna"), ("ben", "-ben")] {
      #expect(try Self.differences("\(home.path)/all/\(name).wav", take + ending + ".wav") == 0, "\(name)")
    }
  }

  @Test("render --takes gives every file of a take again bit for bit, without main, split or whole", .long)
  func batch() throws {
    for (options, names) in [
      (Options(), ["", "-anna", "-ben"]), (Options(hasMain: false), ["-anna", "-ben"]),
      (
        Options(splitMinutes: 1, stall: 75 * 48_000, hasMain: false),
        ["-anna", "-ben", "_2-anna", "_2-ben"]
      ),
    ] {
      let take = try record(options)
      let (folder, out) = (take + "-folder", take + "-out")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      let stem = URL(filePath: take).lastPathComponent
      for name in home.contents("")
      where name.hasPrefix(stem + ".") || name.hasPrefix(stem + "-mic")
        || name.hasPrefix(stem + "_") || names.contains(where: { name == "\(stem)\($0).wav" })
      {
        #expect(rename("\(home.path)/\(name)", "\(folder)/\(name)") == 0)
      }
      let outcome = try home.pinna("render", "--takes", folder, "--into", out)
      // A machine that is busy for two seconds is told about, and nothing else.
      let isProgress = /pinna: (render|rendering 1 take): ([0-9]+ s so far|[0-9]+ %.*)/
      let sentences = outcome.error.split(separator: "\n").filter { $0.wholeMatch(of: isProgress) == nil }
      #expect(outcome.status == 0 && sentences.isEmpty, "\(outcome)")
      let frames = try Sidecar.read("\(folder)/\(stem).json").frames
      let answer = try outcome.json()
      #expect(answer["frames"] as? Int == frames && answer["state"] as? String == "rendered", "\(outcome)")
      #expect((answer["outputs"] as? [String])?.sorted() == names.map { "\(out)/\(stem)\($0).wav" }.sorted())
      for name in names {
        #expect(
          try Self.differences("\(out)/\(stem)\(name).wav", "\(folder)/\(stem)\(name).wav") == 0, "\(name)")
      }
      #expect(try home.pinna("render", "--takes", folder, "--into", out).output.contains("\"skipped\""))
      #expect(
        try home.pinna("render", "--takes", folder, "--into", out + "2", "--print-jobs").output.split(
          separator: " && "
        ).count == names.count)
    }
  }

  @Test(
    "render --takes with a feed's name gives that feed alone; with another device's preset, one file of each take"
  )
  func batchOfOneFeed() throws {
    let take = try record(Options(stall: 0))
    let (stem, folder) = (URL(filePath: take).lastPathComponent, home.path + "/takes")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    for name in home.contents("") where name.hasPrefix(stem) {
      #expect(rename("\(home.path)/\(name)", "\(folder)/\(name)") == 0)
    }
    let named = try home.pinna("render", "--takes", folder, "--into", home.path + "/anna", "--feed", "anna")
    #expect(named.status == 0 && home.contents("anna") == [stem + ".wav"], "\(named)")
    #expect(try Self.differences("\(home.path)/anna/\(stem).wav", "\(folder)/\(stem)-anna.wav") == 0)
    let device = try home.pinna("render", "--takes", folder, "--into", home.path + "/own", "--device", "pair")
    #expect(device.status == 0 && home.contents("own") == [stem + ".wav"], "\(device)")
  }

  @Test(
    "R6: the engine's memory at the end of a file that was killed before it got its name is not taken for sound"
  )
  func unfinished() throws {
    let path = try record() + "-microphones.wav"
    let frames = try AudioFileReader(path: path).frames
    #expect(rename(path, path + ".part") == 0)
    #expect(try UnfinishedWAVFile(path: path).frames == frames)
  }

  @Test(
    "R58: a take stands alone: without the array's file, and with another in its place, it is the same bit for bit; a change is told",
    .long
  )
  func alone() throws {
    let take = try record()
    let file = home.home.configFolder + "/pinna/devices/pair.yaml"
    let (preset, calibration) = (
      home.home.configFolder + "/pinna/pair.yaml", home.home.configFolder + "/pinna/calibration/pair.yaml"
    )
    let text = try String(contentsOfFile: file, encoding: .utf8)
    try #require(text.contains("80"))
    for change in ["none", "edited", "broken", "calibrated", "other microphones", "gone"] {
      switch change {
      case "edited":
        try text.replacing("80", with: "95").write(toFile: file, atomically: true, encoding: .utf8)
      case "broken": try Data("nothing".utf8).write(to: URL(filePath: file))
      case "calibrated":
        try Data(text.utf8).write(to: URL(filePath: file))
        try home.home.folder.write("", to: "x")
        try FileManager.default.createDirectory(
          atPath: home.home.configFolder + "/pinna/calibration", withIntermediateDirectories: true)
        try Data(
          """
          format: 1
          device: pair
          date: "2026-11-29"
          method: "none"
          microphones:
            left-end: {gain: 3, delay: 20}

          """.utf8
        ).write(to: URL(filePath: calibration))
      case "other microphones":
        unlink(calibration)
        try text.replacing("left-end", with: "west").write(toFile: file, atomically: true, encoding: .utf8)
      case "gone":
        unlink(file)
        unlink(preset)
      default: break
      }
      for ending in ["", "-anna", "-ben"] {
        let out = home.path + "/out.wav"
        unlink(out)
        let outcome = try home.pinna("render", take + ending + ".wav", out)
        #expect(outcome.status == 0, "\(change): \(outcome)")
        #expect(try Self.differences(out, take + ending + ".wav") == 0, "\(change) \(ending)")
        let isTold = outcome.error.contains("pair has changed since this take was recorded")
        #expect(isTold == !["none", "broken", "gone"].contains(change), "\(change): \(outcome)")
      }
    }
    // The sidecar alone, with its take, in another place.
    let batch = try home.shell(
      "mkdir elsewhere && mv \(take)* elsewhere && $PINNA render --takes elsewhere --into batch")
    #expect(batch.status == 0, "\(batch)")
  }

  @Test(
    "a take that was renamed as a whole is computed again bit for bit, split, from any of its files", .long)
  func renamed() throws {
    let take = try record(Options(splitMinutes: 1, stall: 75 * 48_000))
    let old = URL(filePath: take).lastPathComponent
    let folder = home.path + "/renamed"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    for name in home.contents("") where name.hasPrefix(old) {
      #expect(rename("\(home.path)/\(name)", "\(folder)/\(name.replacing(old, with: "May 1st-b_2"))") == 0)
    }
    let new = folder + "/May 1st-b_2"
    for piece in ["", "_2"] {
      for ending in ["", "-anna", "-ben"] {
        let out = "\(home.path)/out.wav"
        let source = ending.isEmpty ? "\(new)\(piece)-microphones.wav" : "\(new)\(piece)\(ending).wav"
        let outcome = try home.pinna("render", "--force", source, out)
        #expect(outcome.status == 0 && !outcome.error.contains("silence came"), "\(outcome)")
        #expect(try Self.differences(out, "\(new)\(piece)\(ending).wav") == 0, "\(piece)\(ending)")
      }
    }
    try render(new + ".json", "--into", home.path + "/all")
    #expect(try Self.differences(home.path + "/all/ben.wav", new + "-ben.wav") == 0)
    let batch = try home.pinna("render", "--takes", folder, "--into", home.path + "/batch")
    #expect(batch.status == 0, "\(batch)")
    #expect(try Self.differences(home.path + "/batch/May 1st-b_2_2-anna.wav", new + "_2-anna.wav") == 0)
    let list = try home.pinna("takes", "list", "--dir", folder)
    #expect(list.status == 0 && list.output.contains("May 1st-b_2.wav"), "\(list)")
    // Only the sidecar has another name: its files are those that it lists.
    #expect(rename(new + ".json", folder + "/alone.json") == 0)
    for name in home.contents("renamed") where name.hasPrefix("May 1st-b_2") {
      rename("\(folder)/\(name)", "\(folder)/\(name.replacing("May 1st-b_2", with: old))")
    }
    try render(folder + "/alone.json", "--into", home.path + "/listed")
    #expect(try Self.differences(home.path + "/listed/anna.wav", "\(folder)/\(old)-anna.wav") == 0)
  }

  @Test("the pieces of a split take are computed again bit for bit, also one that begins within a gap", .long)
  func pieces() throws {
    let take = try record(Options(splitMinutes: 1, stall: 75 * 48_000))
    for piece in ["", "_2"] {
      for ending in ["", "-anna", "-ben"] {
        let out = "\(home.path)/out\(piece)\(ending).wav"
        try render("\(take)\(piece)\(ending).wav", out)
        #expect(try Self.differences(out, "\(take)\(piece)\(ending).wav") == 0, "\(piece)\(ending)")
      }
    }
  }

  @Test(
    "a take that begins in a dropout, or while a microphone is muted, is computed again bit for bit", .long,
    arguments: Self.dropouts)
  func dropout(silence: Range<Int>, invalid: Int?, preRoll: Int) throws {
    var options = Options(preRollFrames: preRoll)
    (options.silence, options.invalidFramesBefore) = (silence, invalid)
    let take = try record(options)
    for ending in ["", "-anna", "-ben"] {
      let out = home.path + "/out\(ending).wav"
      try render(take + ending + ".wav", out)
      #expect(try Self.differences(out, take + ending + ".wav", from: preRoll) == 0, "\(ending)")
    }
  }

  @Test(
    "a take with pre-roll is computed again bit for bit from the length of the filters on",
    arguments: [1000, 2560])
  func preRoll(frames: Int) throws {
    let take = try record(Options(preRollFrames: frames))
    #expect(try Sidecar.read(take + ".json").preRollFrames == frames)
    for ending in ["", "-anna", "-ben"] {
      let out = home.path + "/out\(ending).wav"
      try render(take + ending + ".wav", out)
      // Without a high-pass after the filters' length and two periods, if that is less.
      let first = ending == "-ben" ? min(frames, sets.bank.tapCount + 2 * Self.period) : frames
      #expect(try Self.differences(out, take + ending + ".wav", from: first) == 0, "\(ending)")
    }
  }

  @Test(
    "the microphones of a take without main give the feed that is named, or the only one; of several the choice is asked for"
  )
  func withoutMain() throws {
    let take = try record(Options(hasMain: false))
    try render(take + "-ben.wav", home.path + "/ben.wav")
    #expect(try Self.differences(home.path + "/ben.wav", take + "-ben.wav") == 0)
    for ending in ["-microphones.wav", ".json"] {
      let asked = try home.pinna("render", take + ending, home.path + "/no.wav")
      #expect(asked.status == 2 && asked.isOneSentence && asked.error.contains("anna, ben"), "\(asked)")
      #expect(asked.error.contains("--feed") && access(home.path + "/no.wav", F_OK) != 0, "\(asked)")
    }
    for feed in ["anna", "ben"] {
      let out = "\(home.path)/named-\(feed).wav"
      try render(take + "-microphones.wav", out, "--feed", feed)
      #expect(try Self.differences(out, "\(take)-\(feed).wav") == 0)
    }
    try render(take + "-microphones.wav", home.path + "/main.wav", "--feed", "main")
    #expect(try AudioClip(path: home.path + "/main.wav").channels.count == 2)
    let one = try record(Options(hasMain: false, names: ["anna"]))
    try render(one + "-microphones.wav", home.path + "/only.wav")
    #expect(try Self.differences(home.path + "/only.wav", one + "-anna.wav") == 0)
    try render(take + ".json", "--into", home.path + "/all")
    #expect(home.contents("all") == ["anna.wav", "ben.wav"])
  }

  @Test("feeds of a file are rendered in one pass, as each of them alone")
  func feedFile() throws {
    let take = try record()
    try home.home.folder.write(
      """
      title: May be a preset
      feeds:
        carla: {polarPattern: omnidirectional, gain: -6, highPass: off}
        dora: {inputOrientation: portraitUpsideDown}
        emil: {pattern: omnidirectional, gain: -6 dB, high-pass: off}
      """, to: "feeds.yaml")
    try render(take + ".wav", "--feeds", home.path + "/feeds.yaml", "--into", home.path + "/all")
    #expect(home.contents("all") == ["carla.wav", "dora.wav", "emil.wav", "main.wav"])
    #expect(try Self.differences(home.path + "/all/main.wav", take + ".wav") == 0)
    try render(
      take + ".wav", home.path + "/carla.wav", "--pattern", "omnidirectional", "--gain", "-6", "--high-pass",
      "off")
    // Emil is carla in the words of commands.
    for name in ["carla", "emil"] {
      #expect(try Self.differences(home.path + "/carla.wav", "\(home.path)/all/\(name).wav") == 0, "\(name)")
    }
    for (text, complaint) in [
      ("feeds: {main: {gain: 1}}", "main"), ("feeds: {a: {gain: loud}}", "gain"), ("gain: 1", "feeds"),
      ("feeds: {a: {patterns: stereo}}", "unknown key \"patterns\""),
      ("feeds: {a: {pattern: round}}", "round"), ("feeds: {a: {gain: 1 Hz}}", "gain"),
      ("feeds: {a: {pattern: stereo, polarPattern: stereo}}", "twice"),
    ] {
      try home.home.folder.write(text, to: "bad.yaml")
      let bad = try home.pinna(
        "render", take + ".wav", "--feeds", home.path + "/bad.yaml", "--into", home.path + "/no")
      #expect(bad.status != 0 && bad.isOneSentence && bad.error.contains(complaint), "\(bad)")
    }
    #expect(home.contents("no") == [])
  }

  @Test("timed changes are applied, and what cannot be is refused by line")
  func automation() throws {
    // Changes come at their times in the file, which has the gap of a stall before them.
    let take = try record()
    try home.home.folder.write(
      """
      - {at: 0, gain: -10}
      - {at: 0.5, pattern: omnidirectional}
      - {at: 1, mute: on}
      """, to: "automation.yaml")
    try render(take + ".wav", home.path + "/out.wav", "--automation", home.path + "/automation.yaml")
    let clip = try AudioClip(path: home.path + "/out.wav")
    #expect(clip.channels.count == 2 && clip.channels[0][22_000] != clip.channels[1][22_000])
    let isMono = (40_000..<48_000).allSatisfy { abs(clip.channels[0][$0] - clip.channels[1][$0]) < 1e-6 }
    #expect(isMono)
    // The high-pass rings on after the fade.
    let (before, after) = (clip.channels[0][47_000..<48_000], clip.channels[0][49_000..<50_000])
    #expect(level(Array(after)) < level(Array(before)) - 10)
    #expect(clip.channels[0][60_000...].allSatisfy { abs($0) < 1e-6 })
    for (text, complaint) in [
      ("- {at: 1, pattern: stereo}\n- {at: 0.5, gain: 0}", "order"), ("- {gain: 1}", "at"),
      ("- {at: 1, source: Front}", "data-source"), ("- {at: 1, dataSource: Nowhere}", "Nowhere"),
      ("- {at: 1, dataSource: Front, data-source: Front}", "twice"), ("- {at: 1, gain: 99}", "gain"),
      ("- {at: 1, gain: 1 Hz}", "gain"), ("at: 1", "list"),
    ] {
      try home.home.folder.write(text, to: "bad.yaml")
      let bad = try home.pinna(
        "render", take + ".wav", home.path + "/no.wav", "--automation", home.path + "/bad.yaml")
      #expect(bad.status != 0 && bad.isOneSentence && bad.error.contains(complaint), "\(bad)")
    }
    #expect(!home.contents("").contains("no.wav"))
  }
}
