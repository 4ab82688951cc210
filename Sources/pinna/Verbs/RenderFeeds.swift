import Acoustics
import AudioFiles
import Messages
import Presets
import Rendering
import Settings
import Simulation

extension Verb {
  /// A feed to render, and its file.
  struct NamedFeed {
    let path: String
    var feed: RenderTake.Feed
    /// "main", or what its file is called after.
    let name: String
    /// How its B-format is written.
    let ambisonics: AmbisonicFormat?

    var setting: Setting { feed.setting }

    init(_ path: String, _ feed: RenderTake.Feed, _ arguments: Arguments, name: String) throws {
      (self.path, self.feed, self.name) = (path, feed, name)
      let order = feed.setting.main.selection.polarPattern.ambisonicsOrder
      ambisonics = try order.map { try arguments.ambisonicFormat(order: $0, path: path) }
    }

    /// The names of its channels, as takes have them.
    func trackNames(_ count: Int) -> [String] {
      let channels = ambisonics?.channels.map {
        $0.number < 4 ? ["W", "Y", "Z", "X"][$0.number] : "\($0.number)"
      }
      return FeedSetting.trackNames(channels ?? Array(["left", "right"].prefix(count)), of: name)
    }

    /// What was written, for people.
    func sentence(of sound: SoundOutput) -> String {
      "\(sound.sentence)\(ambisonics.map { ", \($0.phrase)" } ?? ""); \(ChangeReport(setting).text)"
    }
  }

  static func feeds(
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
    func recorded(_ feed: String = FeedSetting.main, path: String) throws -> NamedFeed {
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
      if SettingKey.angles.contains(where: { arguments.has("--\($0.rawValue)") }) {
        setting.main.selection.follows = []
      }
      return try NamedFeed(
        path, RenderTake.Feed(setting, recorded: feed, isAsRecorded: isOfTake && !isOther), arguments,
        name: feed)
    }
    guard let folder = arguments["--into"] else {
      let name = try arguments["--feed"] ?? (isOfTake ? take?.feedOfFile() : take?.feed)
      if arguments["--feed"] != nil, !isOfTake {
        throw Failure(
          .usage,
          "--feed names a feed of a take whose microphones were recorded; \(arguments.operands[0]) is of none"
        )
      }
      let feed = name.flatMap { FeedSetting.isMain($0) ? nil : $0 } ?? FeedSetting.main
      return [try recorded(feed, path: arguments.operands[1])]
    }
    func all(_ names: [String]) throws -> [NamedFeed] {
      try names.map { try recorded($0, path: "\(folder)/\($0).\(ending)") }
    }
    if let talkers {
      let main = try recorded(path: folder)
      return try talkers.names.map { name in
        var setting = main.setting
        (setting.main.part, setting.main.muted, setting.seats) = (.one(name), false, talkers.seats)
        (setting.main.frame, setting.main.talkers) = (nil, Decibels(0))
        return try NamedFeed(
          "\(folder)/\(talkers.fileName(name)).\(ending)",
          RenderTake.Feed(setting, times: talkers.times(of: name)), arguments, name: name)
      }
    }
    if let given = arguments["--feeds"] {
      if isOfTake, let take, let names = try take.feeds(named: given) { return try all(names) }
      let main = try recorded(path: "\(folder)/main.\(ending)")
      return [main]
        + (try FeedsFile.read(given, main: main.setting).map { feed in
          var setting = main.setting
          setting.main = feed.named(FeedSetting.main)
          return try NamedFeed(
            "\(folder)/\(feed.name).\(ending)", RenderTake.Feed(setting), arguments, name: feed.name)
        })
    }
    guard isOfTake, let take else {
      throw Failure(
        .usage, "--into alone renders the feeds of a take; name the feeds to render in a file with --feeds")
    }
    return try all(take.sidecar.feedNames)
  }

  /// What to render with: the preset or device that is given, or else what a take was recorded with.
  private static func setting(
    _ arguments: Arguments, of take: TakeMicrophones?, feed: String, _ pipe: AudioFileReader?,
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
