import Acoustics
import Text

/// What a feed plays, `main` or another: a case, and how it is heard.
public struct FeedSetting: Hashable, Sendable {
  /// The name of the feed that always exists.
  public static let main = "main"

  public let name: String
  public var selection: Selection
  public var gain: Decibels
  public var highPass: HighPass
  /// How far the filters of stereo follow the sound, 0…1.
  public var adaptation: Double
  /// How much of the wind is taken out, 0…1.
  public var wind: Double
  /// Which part of the sound it plays.
  public var part = FeedPart.whole
  /// The azimuths within which a talker counts; nil for all.
  public var frame: FeedFrame?
  /// By how much talkers, and the rest, are louder than in the whole.
  public var talkers = Decibels(0)
  public var room = Decibels(0)
  public var muted = false

  public init(
    name: String = main, _ selection: Selection, gain: Decibels = Decibels(0), highPass: HighPass = .off,
    adaptation: Double = 0, wind: Double = 0
  ) {
    self.name = name
    self.selection = selection
    self.gain = gain
    self.highPass = highPass
    self.adaptation = adaptation
    self.wind = wind
  }

  public var isMain: Bool { name == Self.main }

  /// The same under another name.
  public func named(_ name: String) -> FeedSetting {
    var feed = FeedSetting(name: name)
    for key in SettingKey.ofFeeds { if let value = key.row.feed?.value(self) { feed.set(key, value) } }
    return feed
  }

  /// How loud it plays who speaks, and the rest: linear gains. Both are 1 for the whole.
  public var partGains: (talkers: Double, room: Double) {
    switch part {
    case .whole: (talkers.amplitude, room.amplitude)
    case .talkers, .one: (talkers.amplitude, 0)
    case .room: (0, room.amplitude)
    }
  }

  /// Whether it plays who speaks and the rest as loud.
  public var isWhole: Bool { partGains == (1, 1) }

  /// Whether filters that follow the sound for `other` may play on until this one has its own: both want wind taken out or a
  /// part, and only look, pose, levels or strengths differ. Not where stereo alone follows directions, whose image would stay
  /// behind.
  public func continues(_ other: FeedSetting) -> Bool {
    func unturned(_ selection: Selection) -> Selection {
      var unturned = selection
      (unturned.look, unturned.pose) = (nil, .none)
      return unturned
    }
    return (wind > 0) == (other.wind > 0) && (wind > 0 || !isWhole) && part == other.part
      && isWhole == other.isWhole && frame == other.frame
      && unturned(selection) == unturned(other.selection)
  }

  /// The same with linear filters: as one microphone is listened to.
  public var linear: FeedSetting {
    var feed = self
    (feed.adaptation, feed.wind, feed.part, feed.talkers, feed.room) = (
      0, 0, .whole, Decibels(0), Decibels(0)
    )
    return feed
  }

  /// Nil for what belongs to all feeds.
  public func value(of key: SettingKey) -> SettingValue? { key.row.feed?.value(reported) }

  /// The same without a look that has no meaning.
  public var reported: FeedSetting {
    var feed = self
    feed.selection.look = selection.effectiveLook
    return feed
  }

  /// Changes what a row says, whether the device offers it or not.
  public mutating func set(_ key: SettingKey, _ value: SettingValue) { key.row.feed?.set(&self, value) }

  /// Applies the changes that belong to a feed: a look after all else, whose place in the list does not matter.
  /// - Throws: `UnknownWord` for a data source that `device` does not have; a `Failure` if the changes contradict each
  ///   other.
  public mutating func apply(_ changes: [Change], of device: Device) throws {
    for case .set(let key, let value) in changes {
      if key == .dataSource {
        selection.dataSource = try device.dataSource(named: value.word).name
        selection.look = nil
      } else if ![.pattern, .look].contains(key) {
        set(key, value)
      }
    }
    let pattern = changes[.pattern].flatMap { PolarPattern(rawValue: $0.word) }
    let look: Look?? = changes[.look].map { if case .look(let look) = $0 { look } else { nil } }
    do throws(FeedPattern.Fault) {
      try FeedPattern.check(look: look ?? nil, pattern: pattern)
    } catch { throw Failure(.usage, error.description) }
    if let pattern { selection.polarPattern = pattern }
    if selection.polarPattern.isOriented { selection.look = nil }
    if let look { selection.point(look, of: try device.dataSource(named: selection.dataSource)) }
  }

  /// The same with the device's own spelling of its data source.
  /// - Throws: `UnknownWord` or `Unsupported` if `device` does not offer it.
  public func found(on device: Device) throws -> FeedSetting {
    var feed = self
    feed.selection.dataSource = try device.dataSource(named: selection.dataSource).name
    try device.check(feed.selection)
    return feed
  }

  /// The linear output gain; 0 while muted.
  public var amplitude: Float { muted ? 0 : Float(gain.amplitude) }

  /// The names of its outputs' ports, in order: "anna"; "anna_left" and "anna_right"; for B-format "room_w", "room_y",
  /// "room_z", "room_x", then by ACN number: "room_4". Main has the same two whatever it plays.
  public var portNames: [String] {
    if isMain { return ["out_left", "out_right"] }
    return switch selection.polarPattern.outputs {
    case 1: [name]
    case 2: [name + "_left", name + "_right"]
    case let count: (0..<count).map { "\(name)_" + ($0 < 4 ? ["w", "y", "z", "x"][$0] : "\($0)") }
    }
  }

  /// The names of its outputs' channels: those of its ports without the feed's name, as "left" and "right", or "W", "Y",
  /// "Z", "X", "4"; its own name if there is one channel.
  public var channelNames: [String] {
    let names = portNames
    if names.count == 1 { return names }
    let words = names.map { String($0.dropFirst(name.count + 1)) }
    return names.count == 2 ? words : words.map { $0.uppercased() }
  }

  /// The names of a feed's channels among those of other files: "left", "anna", "room W".
  public static func trackNames(_ channels: [String], of name: String) -> [String] {
    channels.count == 1 ? [name] : isMain(name) ? channels : channels.map { "\(name) \($0)" }
  }

  /// Whether a feed may have this name: a letter, then letters and digits, 32 at most, as it stands in names of files and
  /// ports. `main` is the feed that always exists, `all` stands for every feed, and TAKE-microphones.wav is the file of the
  /// microphones.
  public static func isName(_ name: String) -> Bool {
    func isLetter(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    let bytes = Array(name.utf8)
    return (1...32).contains(bytes.count) && isLetter(bytes[0])
      && bytes.allSatisfy { isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      && ![main, "all", "microphones"].contains(name.lowercased())
  }

  /// Whether a user who writes `name` means `main`.
  public static func isMain(_ name: String) -> Bool { name.lowercased() == main }

  /// The most feeds that there can be besides `main`, and the most outputs of all, `main` included.
  public static let most = 15
  public static let mostOutputs = 64
}
