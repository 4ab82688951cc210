import AudioFiles
import FoundationEssentials
import Glibc
import JackTools
import Messages
import Presets
import Realtime
import Rendering
import Settings
import Text

extension Verb {
  /// What follows a pose has none to follow in a file, and what is muted is not worth a file.
  static let renderKeys = SettingKey.ofFeeds.filter { ![.follow, .mute].contains($0) }

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
    let take = pipe == nil ? TakeMicrophones(source, tell: Tool.complain) : nil
    let isOfTalkers = arguments.flags.contains("--talkers")
    if isOfTalkers, let take, take.sidecar.files.count > 1 {
      throw Failure(
        .unsupported,
        "the take of \(source) is split into \(take.sidecar.files.count) files, and --talkers renders one; render a talker "
          + "of each with --part, or record without --split-minutes")
    }
    let talkers = try isOfTalkers ? TalkerFiles(source) : nil
    var named = try feeds(arguments, of: take, talkers, pipe, in: PresetLibrary.standard)
    let device = named[0].setting.device
    for feed in named {
      try OutputPath.check(
        feed.path, against: source, isAmbisonic: feed.ambisonics != nil, replacing: replaces)
      try device.check(feed.setting.main.selection)
    }
    let isRecordedArray = take != nil && !arguments.has("--preset") && !arguments.has("--device")
    try take?.check(device, recordedIn: isRecordedArray ? .standard : nil)
    let input =
      try pipe.map { try MicrophoneFile($0, of: device) }
      ?? MicrophoneFile(
        take?.path ?? source, of: device,
        "give a sound file with one channel per microphone, or create one with: pinna simulate")
    let rate = input.reader.sampleRate
    let period = try arguments.integer("--period", in: 1...Partitioning.longestPeriod) ?? take?.period ?? 1024
    let isa = arguments.has("--isa") ? nil : take?.instructionSet
    let instructionSet = try isa ?? arguments.instructionSet()
    var automation: [(frame: Int, setting: Setting)] = []
    if let file = arguments["--automation"] {
      automation = try AutomationFile.read(file, sampleRate: rate, start: &named[0].feed.setting)
    }
    let parts = named.map(\.feed).filter { !$0.isAsRecorded }.map(\.setting) + automation.map(\.setting)
    let places = try places(of: parts.map(\.main.part), named[0].feed.setting, arguments, take, talkers)
    for feed in named {
      let settings = [feed.setting] + automation.map(\.setting)
      let channels = settings.map(\.main.selection.polarPattern.outputs).max() ?? 1
      try OutputPath.check(
        feed.path, channels: channels, sampleRate: rate, isAmbisonic: feed.ambisonics != nil)
    }
    let render = try RenderTake(
      named.map(\.feed), of: take, automation: automation, sampleRate: rate, period: period,
      progress: WorkProgress.designing)
    if render.hasFallbacks {
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
    let outputs = try zip(render.channels, named).map { channels, named in
      try RenderedFile(
        named.path, channels: channels, sampleRate: rate,
        labels: take.map { labels($0, arguments, named.trackNames(channels)) } ?? SoundLabels(),
        ambisonics: named.ambisonics, replacing: replaces, stops)
    }
    try RenderedFile.finish(outputs) {
      try render.play(places: places, instructionSet: instructionSet, next: input.next) {
        for (output, channels) in zip(outputs, $0) { try output.write(channels) }
      }
    }
    if let list { try list.file.write(list.text.utf8) }
    let remarks = input.remarks + (list?.remarks ?? []) + outputs.flatMap(\.remarks)
    for remark in remarks { Tool.complain(remark) }
    let written = zip(outputs, named).map { output, named -> JSONObject in
      [
        "output": named.path, "frames": output.sound.frames, "channels": output.sound.channels,
        "peak": Double(output.sound.peak),
      ]
    }
    let one = written[0] + (named[0].ambisonics?.json(named[0].setting.main.selection) ?? [:])
    arguments.print(
      json: (arguments["--into"] == nil ? one : ["outputs": written]) + [
        "sampleRate": rate, "remarks": remarks,
      ],
      text: zip(outputs, named).map { $1.sentence(of: $0.sound) }.joined(separator: "\n"))
    return .done
  }

  /// What a file says that is rendered of a take: when that was recorded, its title and markers.
  private static func labels(_ take: TakeMicrophones, _ arguments: Arguments, _ trackNames: [String])
    -> SoundLabels
  {
    let mark = RenderMark(of: take.path, take.sidecar, arguments, RenderMark.digests(arguments))
    return SoundLabels(
      broadcast: mark.broadcast(of: take.broadcast), title: take.sidecar.title, trackNames: trackNames,
      cues: take.sidecar.cues(in: take.files))
  }

  private static func openStandardInput(_ stops: StopCount) throws -> AudioFileReader {
    try StandardStream.checkInput()
    return try AudioFileReader(standardInputWhile: { stops.count == 0 })
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
}
