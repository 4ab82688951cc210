import Acoustics
import Adaptation
import AudioFiles
import FoundationEssentials
import Glibc
import JackTools
import Messages
import Presets
import Processor
import Realtime
import Rendering
import Settings
import Text

extension Verb {
  /// What follows a pose has none to follow in a file, and what is muted is not worth a file.
  private static let renderKeys = SettingKey.ofFeeds.filter { ![.follow, .mute].contains($0) }

  static let render = Verb(
    name: "render", operands: ["MICS.wav", "[OUT.wav]"],
    many: ("--takes", "--takes FOLDER [FOLDER …] --into DIR"), takesStandardStreams: true,
    summary:
      "do offline what run does: microphone signals from one file, or those of a take, to left and right or B-format in another, .wav, .flac or .opus, B-format also .caf or .amb; - is standard input or output, WAV",
    options: [
      Option("--preset", "NAME", "preset (default: what a take was recorded with, or phone5)"), deviceOption,
    ]
      + options(
        renderKeys, talkers: "a file for each talker of a take, and TAKE.rttm, in the folder of --into") + [
        Option(
          "--format", "FORMAT",
          "\(Arguments.ambix): B-format instead of the pattern; float, flac, opus: of the files of --into, as record start has it"
        ), orderOption,
        normalisationOption,
        Option("--feed", "NAME", "the feed of a take to render (default: that of the given file, or main)"),
        Option(
          "--feeds", "NAMES|FILE",
          "into the folder of --into: of a take these feeds, with commas, or all; else main and the feeds of this YAML file"
        ),
        Option(
          "--into", "DIR",
          "write DIR/NAME.wav for each feed: those of --feeds, or of the take; with --takes, the folder of the outputs"
        ),
        Option("--automation", "FILE", "changes at times, as YAML: - {at: 2.5, pattern: cardioid}"),
        Option("--period", "FRAMES", "period of the engine (default: a take's own, or 1024)"),
        isaOption, hrtfOption, forceOption,
        Option(
          "--takes", "FOLDER",
          "render all takes in this folder, in those within it and in further operands; what is complete in the folder of --into is skipped"
        ),
        Option("--jobs", "N", "takes: how many at a time (default: one per core)"),
        Option("--print-jobs", nil, "takes: print a shell command for each instead, for a scheduler"),
        jsonOption,
      ]
  ) { arguments in
    guard !arguments.has("--takes") else { return try RenderBatch(arguments).run() }
    try checkRender(arguments)
    let source = arguments.operands[0]
    let stops = StopCount()
    let replaces = arguments.has("--force")
    if arguments.operands.last == StandardStream.word, arguments.operands.count > 1 { Output.divert() }
    let pipe = try source == StandardStream.word ? openStandardInput(stops) : nil
    let take = pipe == nil ? TakeMicrophones(source) : nil
    let talkers = try arguments.flags.contains("--talkers") ? TalkerFiles(source) : nil
    var named = try feeds(arguments, of: take, talkers, pipe, in: PresetLibrary.standard)
    let device = named[0].setting.device
    for feed in named {
      try OutputPath.check(
        feed.path, against: source, isAmbisonic: feed.ambisonics != nil, replacing: replaces)
      try device.check(feed.setting.main.selection)
    }
    let places = try places(of: named, arguments, take, talkers)
    let isRecordedArray = take != nil && !arguments.has("--preset") && !arguments.has("--device")
    try take?.check(device, recordedIn: isRecordedArray ? .standard : nil)
    let input =
      try pipe.map { try MicrophoneFile($0, of: device) }
      ?? MicrophoneFile(
        take?.path ?? source, of: device,
        "give a sound file with one channel per microphone, or create one with: pinna simulate")
    let rate = input.reader.sampleRate
    let period = try arguments.integer("--period", in: 1...Partitioning.longestPeriod) ?? take?.period ?? 1024
    for n in named.indices {
      named[n].gate = talkers?.gate(
        named[n].name, from: take?.files.frame ?? 0, sampleRate: rate)
    }
    let isa = arguments.has("--isa") ? nil : take?.instructionSet
    let instructionSet = try isa ?? arguments.instructionSet()
    var automation: [(frame: Int, setting: Setting)] = []
    if let file = arguments["--automation"] {
      automation = try AutomationFile.read(file, sampleRate: rate, start: &named[0].setting)
    }
    for feed in named {
      let settings = [feed.setting] + automation.map(\.setting)
      let channels = settings.map(\.main.selection.polarPattern.outputs).max() ?? 1
      try OutputPath.check(
        feed.path, channels: channels, sampleRate: rate, isAmbisonic: feed.ambisonics != nil)
    }
    func designed(_ device: Device) throws -> FilterSets {
      try FilterSets(device: device, sampleRate: rate, progress: WorkProgress.designing(device.name))
    }
    // What is designed on demand, alone, needs none of the device's own filters.
    let own = try named.map { try device.ownDevice(of: $0.setting.main.selection) }
    let isAlone =
      named.count == 1 && automation.isEmpty && take?.sidecar.turns == nil
      && named[0].setting.main.selection.pose == .none
    let alone = isAlone ? own[0] : nil
    let sets = try designed(alone ?? device)
    var onDemand = FilterChoice()
    func demand(_ selection: Selection, without missing: Set<String> = []) throws {
      for key in FilterChoice.keys(for: selection, of: device, sampleRate: rate, without: missing) {
        guard !onDemand.contains(key), let own = try device.ownDevice(of: key.selection) else { continue }
        if missing.isEmpty {
          onDemand.keep(own == alone ? sets : try designed(own), for: key)
        } else {
          onDemand.keep(
            try FilterSets(
              fallbackFor: own, without: missing, sampleRate: rate,
              progress: WorkProgress.designing(device.name)),
            for: key)
        }
      }
    }
    // The memory of the filters, of a crossfade, and of the lowest high-pass.
    let start = take?.start(sets.bank.tapCount + rate, period: period) ?? TakeMicrophones.Start()
    /// The engine has no frames in gaps.
    func engineFrames(before frame: Int) -> Int {
      guard let take else { return frame }
      return take.gaps.engineFrames(before: take.files.frame + frame)
        - take.gaps.engineFrames(before: take.files.frame)
    }
    var fallbacks: [Set<String>: FilterSets] = [:]
    let feeds = try named.indices.map { n in
      var feed = FilterSets.Feed(named[n].setting.main)
      feed.changes = automation.map { (start.frames + engineFrames(before: $0.frame), $0.setting.main) }
      if let take {
        feed.substitutions = try take.substitutions(
          of: named[n].recorded, named[n].setting.main.selection, device, sampleRate: rate, start, &fallbacks)
      }
      for selection in [feed.play.selection] + feed.changes.map(\.play.selection) {
        for missing in [[]] + feed.substitutions.map(\.missing) { try demand(selection, without: missing) }
        for substitution in feed.substitutions {
          guard let turned = substitution.turned else { continue }
          try demand(turned, without: substitution.missing)
        }
      }
      if let take, named[n].isAsRecorded {
        feed.highPass = take.highPass(of: named[n].recorded, start)
      }
      return feed
    }
    let plays = feeds.flatMap { [$0.play] + $0.changes.map(\.play) }
    let follows = plays.contains(where: \.followsDirections)
    let model =
      plays.contains(where: \.followsSound)
      ? try AdaptiveModel(device, sampleRate: rate, findsDirections: follows) : nil
    if !fallbacks.isEmpty {
      Tool.complain("this take was recorded with microphones missing; its fallback filters are repeated")
    }
    if let folder = arguments["--into"] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
    let list = try talkers.map { talkers in
      let list = talkers.list
      let path = "\(arguments["--into"]!)/\(list.name)"
      return (file: try OutputFile(path, replacing: replaces), text: list.text, remarks: list.remarks)
    }
    let outputs = try zip(feeds, named).map { feed, named in
      try RenderedFile(
        named.path, channels: feed.channels, sampleRate: rate, of: take,
        labels: take?.labels(arguments, named.trackNames(feed.channels)) ?? SoundLabels(),
        ambisonics: named.ambisonics,
        replacing: replaces, stops)
    }
    var first = start.frames > 0 ? start.microphones : nil
    var position = take?.files.frame ?? 0
    try RenderedFile.finish(outputs) {
      try sets.render(
        feeds, of: device, onDemand: onDemand, model: model, places: places,
        framesBefore: start.frames, clock: start.clock,
        inputs: take?.inputs(start),
        period: period, instructionSet: instructionSet,
        next: {
          defer { first = nil }
          if let first { return first }
          guard let part = try input.next() else { return nil }
          defer { position += part[0].count }
          return take?.gaps.removed(from: part, start: position) ?? part
        },
        write: {
          for ((output, channels), n) in zip(zip(outputs, $0), named.indices) {
            try output.write(named[n].gate?.pass(channels) ?? channels)
          }
        })
    }
    if let list { try list.file.write(list.text.utf8) }
    let remarks = input.remarks + (list?.remarks ?? []) + outputs.flatMap(\.remarks)
    for remark in remarks { Tool.complain(remark) }
    guard arguments["--into"] != nil else {
      let sound = outputs[0].sound
      arguments.print(
        json: [
          "output": named[0].path, "frames": sound.frames, "channels": sound.channels, "sampleRate": rate,
          "peak": Double(sound.peak), "remarks": remarks,
        ] + (named[0].ambisonics?.json(named[0].setting.main.selection) ?? [:]),
        text: named[0].sentence(of: sound)
      )
      return .done
    }
    arguments.print(
      json: [
        "outputs": outputs.map { Written(sound: $0.sound) }, "sampleRate": rate, "remarks": remarks,
      ],
      text: zip(outputs, named).map { $1.sentence(of: $0.sound) }.joined(separator: "\n"))
    return .done
  }

  private static func openStandardInput(_ stops: StopCount) throws -> AudioFileReader {
    try StandardStream.checkInput()
    return try AudioFileReader(standardInputWhile: { stops.count == 0 })
  }

  /// One of several files, in the answer.
  private struct Written: Encodable {
    let output: String
    let frames: Int
    let channels: Int
    let peak: Double

    init(sound: SoundOutput) {
      (output, frames, channels, peak) = (sound.path, sound.frames, sound.channels, Double(sound.peak))
    }
  }

  /// Throws if options exclude each other.
  private static func checkRender(_ arguments: Arguments) throws {
    // What is wrong whatever the files hold is said before they are read.
    _ = try arguments.integer("--period", in: 1...Partitioning.longestPeriod)
    _ = try arguments.instructionSet()
    let hasFolder = arguments["--into"] != nil
    if hasFolder != (arguments.operands.count == 1) {
      throw Failure(.usage, "give either OUT.wav, or a folder for several feeds with --into")
    }
    var isGiven = false
    let ending = try arguments.soundEnding(&isGiven)
    let isStream = arguments.operands.last == StandardStream.word && ending == "wav"
    if isGiven, !hasFolder, !isStream, let output = arguments.operands.last,
      !output.lowercased().hasSuffix("." + ending)
    {
      throw Failure(
        .usage,
        "\(output) is not named as --format says; give a name that ends in .\(ending), or leave --format out")
    }
    if arguments["--feeds"] != nil, !hasFolder {
      throw Failure(.usage, "--feeds writes several files; give a folder for them with --into")
    }
    if arguments.flags.contains("--talkers") {
      guard hasFolder else {
        throw Failure(
          .usage, "--talkers without a level writes several files; give a folder for them with --into")
      }
      for option in ["--feeds", "--part", "--frame", "--device", "--preset"]
      where arguments.has(option) {
        throw Failure(.usage, "--talkers without a level and \(option) exclude each other; leave one out")
      }
    }
    for option in ["--jobs", "--print-jobs"] where arguments.has(option) {
      throw Failure(.usage, "\(option) needs --takes; add --takes FOLDER, or remove \(option)")
    }
    for option in ["--feed", "--automation"] where hasFolder && arguments[option] != nil {
      throw Failure(.usage, "\(option) and --into exclude each other; leave one out")
    }
  }

  /// A feed to render, and its file.
  struct NamedFeed {
    let path: String
    var setting: Setting
    /// Its name in the take; nil for main, and for no feed of a take.
    let recorded: String?
    /// "main", or what its file is called after.
    let name: String
    /// Whether nothing differs from what was recorded.
    let isAsRecorded: Bool
    /// How its B-format is written.
    let ambisonics: AmbisonicFormat?
    /// Of a talker's file, when there is sound.
    var gate: SoundGate?

    init(
      _ path: String, _ setting: Setting, _ arguments: Arguments, name: String, recorded: String? = nil,
      isAsRecorded: Bool = false
    ) throws {
      self.path = path
      self.setting = setting
      self.name = name
      self.recorded = recorded
      self.isAsRecorded = isAsRecorded
      let order = setting.main.selection.polarPattern.ambisonicsOrder
      ambisonics = try order.map { try arguments.ambisonicFormat(order: $0, path: path) }
    }

    /// The names of its channels, as takes have them.
    func trackNames(_ count: Int) -> [String] {
      if let ambisonics {
        let names = ambisonics.channels.map {
          $0.number < 4 ? ["W", "Y", "Z", "X"][$0.number] : "\($0.number)"
        }
        return names.map { FeedSetting.isMain(name) ? $0 : "\(name) \($0)" }
      }
      guard count == 2 else { return [name] }
      return ["left", "right"].map { FeedSetting.isMain(name) ? $0 : "\(name) \($0)" }
    }

    /// What was written, for people.
    func sentence(of sound: SoundOutput) -> String {
      "\(sound.sentence)\(ambisonics.map { ", \($0.phrase)" } ?? ""); \(ChangeReport(setting).text)"
    }
  }

  private static func feeds(
    _ arguments: Arguments, of take: TakeMicrophones?, _ talkers: TalkerFiles?, _ pipe: AudioFileReader?,
    in library: PresetLibrary
  ) throws -> [NamedFeed] {
    let changes = try Change.list(arguments.pairs(of: renderKeys.map(\.rawValue))[...])
    let ambisonics = try arguments.ambisonics()
    let ending = try arguments.soundEnding()
    if ambisonics != nil, arguments.has("--pattern") {
      throw Failure(.usage, "--format ambix takes the place of a pattern; leave out --pattern")
    }
    if arguments.has("--normalisation"), ambisonics == nil, !arguments.has("--into"),
      arguments["--feed"] == nil
    {
      throw Failure(.usage, "--normalisation applies only to B-format; add --format ambix")
    }
    let isOfTake = take != nil && !arguments.has("--preset") && !arguments.has("--device")
    func recorded(_ feed: String?, path: String) throws -> NamedFeed {
      var setting = try setting(arguments, of: take, feed: feed, pipe, in: library)
      try setting.apply(changes)
      if let ambisonics {
        setting.main.selection = setting.main.selection.with(ambisonics, on: setting.device)
        try setting.apply(changes.filter { $0.key == .orientation })
      }
      // Who asks for something else wants to hear it.
      let isOther = !changes.isEmpty || ambisonics != nil
      if isOther { setting.main.muted = false }
      // A pose that is given takes the place of those that the take followed.
      if arguments.has("--roll") || arguments.has("--yaw") { setting.main.selection.follows = [] }
      return try NamedFeed(
        path, setting, arguments, name: feed ?? FeedSetting.main, recorded: feed,
        isAsRecorded: isOfTake && !isOther)
    }
    guard let folder = arguments["--into"] else {
      let name = try arguments["--feed"] ?? (isOfTake ? take?.feedOfFile() : take?.feed)
      if arguments["--feed"] != nil, !isOfTake {
        throw Failure(
          .usage,
          "--feed names a feed of a take whose microphones were recorded; \(arguments.operands[0]) is of none"
        )
      }
      return [try recorded(name.map(FeedSetting.isMain) ?? true ? nil : name, path: arguments.operands[1])]
    }
    func all(_ names: [String?]) throws -> [NamedFeed] {
      try names.map { try recorded($0, path: "\(folder)/\($0 ?? FeedSetting.main).\(ending)") }
    }
    if let talkers {
      let main = try recorded(nil, path: folder)
      return try talkers.names.map { name in
        var setting = main.setting
        (setting.main.part, setting.main.muted, setting.seats) = (.one(name), false, talkers.seats)
        (setting.main.frame, setting.main.talkers) = (nil, Decibels(0))
        return try NamedFeed(
          "\(folder)/\(talkers.fileName(name)).\(ending)", setting, arguments, name: name)
      }
    }
    if let given = arguments["--feeds"] {
      if isOfTake, let take, let names = try take.feeds(named: given) { return try all(names) }
      let file = given
      let main = try recorded(nil, path: "\(folder)/main.\(ending)")
      return [main]
        + (try FeedsFile.read(file, main: main.setting).map { feed in
          var setting = main.setting
          setting.main = feed.named(FeedSetting.main)
          return try NamedFeed("\(folder)/\(feed.name).\(ending)", setting, arguments, name: feed.name)
        })
    }
    guard isOfTake, let take else {
      throw Failure(
        .usage, "--into alone renders the feeds of a take; name the feeds to render in a file with --feeds")
    }
    return try all(take.sidecar.feedNames)
  }

  /// - Throws: if a feed, other than one as it was recorded, plays a talker by a name that nobody has.
  private static func refuseStrangers(_ feeds: [NamedFeed], _ seats: [Seat]) throws(Failure) {
    for feed in feeds where !feed.isAsRecorded {
      guard case .one(let name) = feed.setting.main.part, Int(name) == nil,
        !seats.contains(where: { $0.name == name })
      else { continue }
      throw Failure(
        .failed,
        "nobody has the seat \(name.quoted)\(didYouMean(name, among: seats.map(\.name))); give a name of seats, or a "
          + "talker's number")
    }
  }

  /// Where those are whom a part may name, in the device frame. A number is that of the list of a take's talkers.
  private static func places(
    of feeds: [NamedFeed], _ arguments: Arguments, _ take: TakeMicrophones?, _ talkers: TalkerFiles?
  ) throws -> [String: Direction] {
    guard let take, !arguments.has("--preset"), !arguments.has("--device") else {
      try refuseStrangers(feeds, feeds[0].setting.seats)
      return feeds[0].setting.places
    }
    // Looks are from what main was when it was recorded.
    var main = try take.setting(in: .standard) { $0 }
    if let talkers { main.seats = talkers.seats }
    try refuseStrangers(feeds, main.seats)
    let numbers = feeds.filter { !$0.isAsRecorded }.compactMap { feed in
      if case .one(let name) = feed.setting.main.part, talkers == nil, Int(name) != nil { name } else { nil }
    }
    if !numbers.isEmpty {
      let numbered = try TalkerFiles(arguments.operands[0]).numbered
      if let other = numbers.first(where: { number in !numbered.contains { $0.name == number } }) {
        throw Failure(
          .failed,
          "there is no talker \(other) in \(arguments.operands[0]), which has \(numbered.count); to list them, run: "
            + "pinna talkers \(arguments.operands[0])")
      }
      main.seats += numbered
    }
    return main.places
  }

  /// What to render with: the preset or device that is given, or else what a take was recorded with.
  private static func setting(
    _ arguments: Arguments, of take: TakeMicrophones?, feed: String?, _ pipe: AudioFileReader?,
    in library: PresetLibrary
  ) throws -> Setting {
    func adapt(_ device: Device) throws -> Device {
      let device = try arguments.withHRTF(device)
      return pipe.map { SimulatedSound.device(device, in: $0) }
        ?? SimulatedSound.device(device, in: arguments.operands[0])
    }
    if let take, !arguments.has("--preset"), !arguments.has("--device") {
      return try take.setting(of: feed, in: library, adapt)
    }
    let (preset, device) = try arguments.presetAndDevice(in: library)
    return Setting(preset: preset, device: try adapt(device))
  }
}
