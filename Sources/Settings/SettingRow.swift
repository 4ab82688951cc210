import Acoustics
import Text

/// All that is said of one setting. What names, reads, writes, offers or explains a setting reads its row: the command line,
/// OSC, presets, MIDI, the page, the monitor, reports and sidecars.
public struct SettingRow: Sendable {
  /// What values it has.
  public enum Kind: Sendable {
    /// - Parameters:
    ///   - unit: "dB"; empty for none.
    ///   - hasOff: whether it can be off, too.
    case number(ClosedRange<Double>, unit: String, hasOff: Bool)
    case flag
    /// A word of a vocabulary, whose spellings are read.
    case word([String], @Sendable (String) throws -> String)
    /// The same, or a text that is read: a name, angles.
    case text([String], @Sendable (String) throws -> String)

    static func words<Word: NamedWord>(_ type: Word.Type) -> Kind {
      .word(Word.allCases.map(\.rawValue)) { try Word(word: $0).rawValue }
    }
    /// A name that the device knows, or none.
    case name(hasOff: Bool)
    case look
    case follow
  }

  /// Its line in `pinna monitor`.
  public struct Line: Sendable {
    public let title: String
    /// Those that choose the next value and the one before it: "d D".
    public let keys: String
    /// In words.
    public let effect: String
    /// The numbers that the keys choose among, rising or falling, the first for what is not said; 0 is off where the row has
    /// that. Of two, one key chooses the other. Empty if keys add or subtract 1, or if it is no number.
    public var steps: [Double] = []
    /// Whether its value is typed, and not chosen.
    public var isTyped = false
  }

  /// A setting that each feed has.
  public struct OfFeed: Sendable {
    /// Its key in reports and sidecars.
    public let json: String
    /// Its key in presets; nil if they do not have it.
    public let yaml: String?
    public let value: @Sendable (FeedSetting) -> SettingValue
    let set: @Sendable (inout FeedSetting, SettingValue) -> Void
    /// The value that reports, sidecars and presets leave out; nil if they have all.
    public var unsaid: SettingValue? = .off
    /// Nil if the monitor has none.
    public var line: Line?
  }

  public let kind: Kind
  /// What messages call its value: "gain".
  let noun: String
  /// What a message about an unusable value advises.
  let advice: String
  /// What stands for its value in help texts: "DB".
  public let placeholder: String
  /// Of the option.
  public let help: String
  /// What OSC takes, and what that does.
  public let arguments: String
  public let effect: String
  /// Whether it affects the route, rather than only the level or the high-pass.
  public let isRouting: Bool
  /// Whether it decides which filters a feed plays through.
  public let choosesCase: Bool
  /// Nil for what belongs to all feeds.
  public let feed: OfFeed?

  fileprivate init(
    _ kind: Kind, noun: String = "", advice: String = "", _ placeholder: String, _ help: String,
    osc arguments: String, _ effect: String, isRouting: Bool = false, choosesCase: Bool = false,
    _ feed: OfFeed? = nil
  ) {
    (self.kind, self.noun, self.advice) = (kind, noun, advice)
    (self.placeholder, self.help, self.arguments, self.effect) = (placeholder, help, arguments, effect)
    (self.isRouting, self.choosesCase, self.feed) = (isRouting || choosesCase, choosesCase, feed)
  }

  /// The words of the values that the page offers; empty if it has no list.
  public var options: [String] {
    if case .text(let words, _) = kind, feed?.line?.isTyped == false { return words }
    guard case .number(let range, _, _) = kind, let steps = feed?.line?.steps, !steps.isEmpty else {
      return []
    }
    let quarters = (0...4).map { Double($0) / 4 * range.upperBound }
    return (steps.count > 2 ? steps : quarters).map(word)
  }

  /// The word of a step.
  public func word(_ step: Double) -> String { canBeOff && step == 0 ? "off" : step.plain }

  /// Whether it is a number that can be off, too.
  public var canBeOff: Bool {
    if case .number(_, _, hasOff: true) = kind { true } else { false }
  }

  /// The value that a word of a command or of OSC says.
  /// - Throws: `UnknownWord`, or a `Failure` with the usable values.
  func value(_ text: String) throws -> SettingValue {
    let isOff = text.lowercased() == "off"
    switch kind {
    case .number(let range, let unit, let hasOff):
      if isOff, hasOff { return .off }
      guard let number = text.decimal(unit: unit), range.contains(number) else { break }
      return hasOff && number == 0 ? .off : .number(number)
    case .flag: return .flag(try Switch(argument: text) == .on)
    case .word(_, let read), .text(_, let read): return .word(try read(text))
    case .name(let hasOff): return isOff && hasOff ? .off : .word(text)
    case .look:
      if isOff { return .off }
      let parts = text.listed
      let numbers = parts.compactMap { $0.decimal(unit: "degrees") }
      guard numbers.count == parts.count, (1...2).contains(numbers.count),
        let look = Look(azimuth: numbers[0], elevation: numbers.count == 2 ? numbers[1] : 0)
      else { break }
      return .look(look)
    case .follow:
      if isOff { return .off }
      return Set(try text.listed.map { try Followed(word: $0) }).value
    }
    throw Failure(.usage, "the \(noun) \(text.quoted) is not usable; \(advice)")
  }
}

extension Set<Followed> {
  fileprivate var value: SettingValue { isEmpty ? .off : .words(sorted().map(\.rawValue)) }
}

extension SettingKey {
  public var row: SettingRow { Self.rows[self]! }

  private static let rows = Dictionary(uniqueKeysWithValues: allCases.map { ($0, makeRow($0)) })

  private static func makeRow(_ key: SettingKey) -> SettingRow {
    switch key {
    case .input:
      SettingRow(
        .name(hasOff: false), "UID", "an input; to list them, run: pinna inputs", osc: "a string",
        "change to another input",
        isRouting: true, choosesCase: true)
    case .dataSource:
      SettingRow(
        .name(hasOff: false), "NAME", "a data source of the device; to list them, run: pinna inputs",
        osc: "a string", "change the data source",
        choosesCase: true,
        .init(
          json: "dataSource", yaml: "dataSource", value: { .word($0.selection.dataSource) },
          set: { $0.selection.dataSource = $1.word }, unsaid: nil,
          line: .init(title: "Source", keys: "d D", effect: "next or previous data source")))
    case .pattern:
      SettingRow(
        .words(PolarPattern.self), "PATTERN",
        "omnidirectional, subcardioid, cardioid …, stereo",
        osc: "a string", "change the polar pattern", choosesCase: true,
        .init(
          json: "polarPattern", yaml: "polarPattern", value: { .word($0.selection.polarPattern.rawValue) },
          set: { feed, value in
            if let pattern = PolarPattern(rawValue: value.word) { feed.selection.polarPattern = pattern }
          }, unsaid: nil,
          line: .init(title: "Pattern", keys: "p P", effect: "next or previous polar pattern")))
    case .orientation:
      SettingRow(
        .words(InputOrientation.self), "ORIENTATION",
        "portrait, portraitUpsideDown, landscapeLeft, landscapeRight", osc: "a string",
        "change the input orientation", choosesCase: true,
        .init(
          json: "inputOrientation", yaml: "inputOrientation",
          value: { .word($0.selection.inputOrientation.rawValue) },
          set: { feed, value in
            if let orientation = InputOrientation(rawValue: value.word) {
              feed.selection.inputOrientation = orientation
            }
          }, unsaid: nil,
          line: .init(title: "Orientation", keys: "o O", effect: "next or previous orientation")))
    case .look:
      SettingRow(
        .look, noun: "look",
        advice:
          "give off, or an azimuth in degrees and, after a comma, an elevation from -90 to 90, such as 60 or 60,-10; "
          + "left and up are positive", "AZ[,EL]|off",
        "where a mono pattern looks: degrees from the data source's forward, left and up positive",
        osc: "azimuth and elevation in degrees, or off", "look there with a mono pattern", choosesCase: true,
        .init(
          json: "look", yaml: "look", value: { $0.selection.look.map { .look($0) } ?? .off },
          set: { feed, value in
            if case .look(let look) = value { feed.selection.look = look } else { feed.selection.look = nil }
          },
          line: .init(
            title: "Look", keys: "← → ↑ ↓", effect: "turn the look, or yaw and roll, by 5°, Shift 1°; 0: none"
          )))
    case .roll:
      angle(
        "roll", "how the device rolls: stereo and B-format stay level",
        "keep stereo and B-format level while the device rolls", value: \.roll
      ) { Pose(roll: $1, yaw: $0.yaw) }
    case .yaw:
      angle(
        "yaw", "where the listener of stereo and B-format turns; left is positive",
        "turn the listener of stereo and B-format", value: \.yaw
      ) { Pose(roll: $0.roll, yaw: $1) }
    case .follow:
      SettingRow(
        .follow, "WHAT",
        "roll, yaw, look: what follows a head tracker; talker: the look follows who speaks; or off",
        osc: "roll, yaw, look, talker, several with commas, or off",
        "what follows the pose that comes in, or who speaks", choosesCase: true,
        .init(
          json: "follow", yaml: "follow", value: { $0.selection.follows.value },
          set: { feed, value in
            guard case .words(let words) = value else {
              feed.selection.follows = []
              return
            }
            feed.selection.follows = Set(words.compactMap(Followed.init))
          },
          line: .init(title: "Follow", keys: "u U", effect: "follow the head tracker, or who speaks")))
    case .gain:
      SettingRow(
        .number(Decibels.outputGains, unit: "dB", hasOff: false), noun: "gain",
        advice: "give a number of decibels from -60 to 24, such as -6", "DB",
        "gain in decibels, from -60 to 24", osc: "a number in dB", "change the gain",
        .init(
          json: "gainDB", yaml: "gain", value: { .number($0.gain.value) },
          set: { $0.gain = Decibels($1.number ?? 0) }, unsaid: nil,
          line: .init(title: "Gain", keys: "+ -", effect: "gain up or down by 1 dB")))
    case .highPass:
      SettingRow(
        .number(HighPass.range, unit: "Hz", hasOff: true), noun: "high-pass",
        advice: "give off, or a number of hertz from 20 to 400, such as 80", "HZ|off",
        "high-pass of the outputs against wind and rumble, from 20 to 400 Hz", osc: "off, or a corner in Hz",
        "change the high-pass",
        .init(
          json: "highPassHz", yaml: "highPass",
          value: { $0.highPass.frequency.map { .number($0.value) } ?? .off },
          set: { feed, value in
            if case .number(let corner) = value {
              feed.highPass = .on(Hertz(corner))
            } else {
              feed.highPass = .off
            }
          },
          line: .init(
            title: "High-pass", keys: "h H", effect: "high-pass: next or previous corner, or off",
            steps: [0, 40, 60, 80, 100, 120, 160, 200, 300])))
    case .adapt:
      SettingRow(
        .number(0...1, unit: "", hasOff: true), noun: "strength",
        advice: "give off, or a number from 0 to 1: how far stereo follows the sound", "STRENGTH|off",
        "let stereo follow the sound, from 0 to 1", osc: "off, or a number from 0 to 1",
        "let stereo follow the sound",
        .init(
          json: "adaptation", yaml: "adapt", value: { $0.adaptation > 0 ? .number($0.adaptation) : .off },
          set: { $0.adaptation = $1.number ?? 0 },
          line: .init(
            title: "Adapt", keys: "a", effect: "let stereo follow the sound, or not", steps: [0, 1])))
    case .wind:
      SettingRow(
        .number(0...1, unit: "", hasOff: true), noun: "strength",
        advice: "give off, or a number from 0 to 1: how much of the wind is taken out", "STRENGTH|off",
        "take wind out, from 0 to 1", osc: "off, or a number from 0 to 1", "take wind out",
        .init(
          json: "wind", yaml: "wind", value: { $0.wind > 0 ? .number($0.wind) : .off },
          set: { $0.wind = $1.number ?? 0 },
          line: .init(title: "Wind", keys: "w", effect: "take wind out, or not", steps: [0, 1])))
    case .part:
      SettingRow(
        .text(FeedPart.words) { try FeedPart(word: $0).word }, "PART",
        "which part of the sound: whole, talkers, room, or one talker by number or name", osc: "a string",
        "play that part of the sound",
        .init(
          json: "part", yaml: "part", value: { .word($0.part.word) },
          set: { feed, value in if let part = try? FeedPart(word: value.word) { feed.part = part } },
          unsaid: .word("whole"),
          line: .init(title: "Part", keys: "b B", effect: "whole, talkers, room, or one who is named")))
    case .frame:
      SettingRow(
        .text(["off"]) { $0.lowercased() == "off" ? "off" : try FeedFrame(word: $0).word }, "AZ,WIDTH|off",
        "talkers outside this range of azimuths, in degrees, belong to the room",
        osc: "off, or azimuth and width with a comma", "take talkers outside for the room",
        .init(
          json: "frame", yaml: "frame", value: { .word($0.frame?.word ?? "off") },
          set: { $0.frame = try? FeedFrame(word: $1.word) }, unsaid: .word("off"),
          line: .init(title: "Frame", keys: "g", effect: "type which azimuths talkers are in", isTyped: true))
      )
    case .room:
      part(
        "room", "how loud the room is that talkers speak in: decibels, from -30 to 0", "play the room softer",
        json: "roomDB", \.room,
        .init(
          title: "Room", keys: "e E", effect: "room softer, by steps, or louder",
          steps: [0, -6, -12, -20, -30]))
    case .talkers:
      part(
        "talkers", "how loud talkers are: decibels, from -30 to 0", "play talkers softer", json: "talkersDB",
        \.talkers,
        .init(
          title: "Talkers", keys: "t T", effect: "talkers softer, by steps, or louder",
          steps: [0, -6, -12, -20, -30]))
    case .mute:
      SettingRow(
        .flag, "on|off", "fade the outputs out, or in again", osc: "on or off, 1 or 0", "fade out or in",
        .init(
          json: "muted", yaml: nil, value: { .flag($0.muted) }, set: { $0.muted = $1 == .flag(true) },
          unsaid: nil,
          line: .init(title: "Mute", keys: "m", effect: "mute, or sound again")))
    case .output:
      SettingRow(
        .words(OutputChoice.self), "OUTPUT",
        "where sound goes: standard, none, speaker (the monitor ports), override",
        osc: "standard, none, speaker or override", "send the sound elsewhere", isRouting: true)
    case .listen:
      SettingRow(
        .name(hasOff: true), "MICROPHONE|off", "play one microphone alone, outside takes",
        osc: "a microphone's name, or off", "listen to one microphone alone, outside takes", isRouting: true)
    case .seat:
      SettingRow(
        .text(["off"]) { text in
          text.lowercased() == "off"
            ? "off"
            : try Seat.list(text.split(separator: ";", omittingEmptySubsequences: false).map(String.init))
              .map(\.word).joined(separator: ";")
        }, Seat.placeholder + "|off",
        "who sits there, in degrees from the front: names the talker who is nearest; may be given several times; off: nobody",
        osc: "a string: NAME=AZ[,EL], several with semicolons, or off", "name whoever speaks from there")
    }
  }

  /// A row of the level of a part.
  private static func part(
    _ name: String, _ help: String, _ effect: String, json: String,
    _ level: WritableKeyPath<FeedSetting, Decibels> & Sendable, _ line: SettingRow.Line
  ) -> SettingRow {
    SettingRow(
      .number(-30...0, unit: "dB", hasOff: false), noun: "level of the \(name)",
      advice: "give a number of decibels from -30 to 0, such as -12", "DB", help, osc: "a number in dB",
      effect,
      .init(
        json: json, yaml: name, value: { .number($0[keyPath: level].value) },
        set: { $0[keyPath: level] = Decibels($1.number ?? 0) }, unsaid: .number(0), line: line))
  }

  /// A row of an angle of the pose.
  private static func angle(
    _ name: String, _ help: String, _ effect: String, value: @escaping @Sendable (Pose) -> Double,
    _ turned: @escaping @Sendable (Pose, Double) -> Pose
  ) -> SettingRow {
    SettingRow(
      .number(Look.azimuths, unit: "degrees", hasOff: false), noun: name,
      advice: "give a number of degrees from -360 to 360, such as -15", "DEGREES", help, osc: "degrees",
      effect, choosesCase: true,
      .init(
        json: name, yaml: name, value: { .number(value($0.selection.pose)) },
        set: { $0.selection.pose = turned($0.selection.pose, $1.number ?? 0) }, unsaid: .number(0)))
  }
}
