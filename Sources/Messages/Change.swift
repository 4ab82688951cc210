import Acoustics
import Text

/// One change of what is heard. Words become changes where they arrive: from OSC, MIDI controllers, session managers
/// and the command line.
public enum Change: Hashable, Sendable {
  /// A preset by its name, which sets all values at once.
  case preset(String)
  /// An input by its UID.
  case input(String)
  /// A data source by its name.
  case dataSource(String)
  case pattern(PolarPattern)
  case orientation(InputOrientation)
  /// Nil for the data source's forward.
  case look(Look?)
  /// Of the device, in degrees.
  case roll(Double)
  /// Of the listener, in degrees.
  case yaw(Double)
  case follow(Set<Followed>)
  /// Within `Decibels.outputGains`.
  case gain(Decibels)
  case highPass(HighPass)
  /// How far the filters of stereo follow the sound, 0…1.
  case adapt(Double)
  case mute(Bool)
  case output(OutputChoice)
  /// The microphone to listen to alone, by its name; nil for the selection.
  case listen(String?)

  /// What a change changes, as commands and OSC paths call it. Each is an option of `pinna set`.
  public enum Key: String, NamedWord {
    case input
    case dataSource = "data-source"
    case pattern, orientation, look, roll, yaw, follow, gain
    case highPass = "high-pass"
    case adapt, mute, output, listen

    public static let kind = "setting"
  }

  /// - Throws: `UnknownWord`, or a `Failure` with the usable numbers. Names are not looked up: devices and their inputs
  ///   know them.
  public init(_ key: Key, _ word: String) throws {
    switch key {
    case .input: self = .input(word)
    case .dataSource: self = .dataSource(word)
    case .pattern: self = .pattern(try PolarPattern(word: word))
    case .orientation: self = .orientation(try InputOrientation(word: word))
    case .look: self = .look(try Self.look(word))
    case .roll: self = .roll(try Self.angle(word, "roll"))
    case .yaw: self = .yaw(try Self.angle(word, "yaw"))
    case .follow: self = .follow(try Self.followed(word))
    case .gain: self = .gain(try Self.gain(word))
    case .highPass: self = .highPass(try Self.highPass(word))
    case .adapt: self = .adapt(try Self.strength(word))
    case .mute: self = .mute(try Switch(argument: word) == .on)
    case .output: self = .output(try OutputChoice(word: word))
    case .listen: self = .listen(word == "off" ? nil : word)
    }
  }

  /// The changes that alternating keys and values name.
  /// - Throws: as `init`; also for a key that there is not.
  package static func list(_ words: ArraySlice<String>) throws -> [Change] {
    try stride(from: words.startIndex, to: words.endIndex - 1, by: 2).map {
      try Change(Key(word: words[$0]), words[$0 + 1])
    }
  }

  /// Nil for a preset.
  package var key: Key? {
    switch self {
    case .preset: nil
    case .input: .input
    case .dataSource: .dataSource
    case .pattern: .pattern
    case .orientation: .orientation
    case .look: .look
    case .roll: .roll
    case .yaw: .yaw
    case .follow: .follow
    case .gain: .gain
    case .highPass: .highPass
    case .adapt: .adapt
    case .mute: .mute
    case .output: .output
    case .listen: .listen
    }
  }

  /// Whether it affects the route, rather than only the level or the high-pass.
  package var isRouting: Bool {
    switch self {
    case .gain, .highPass, .adapt, .mute: false
    case .preset, .input, .dataSource, .pattern, .orientation, .look, .roll, .yaw, .follow, .output, .listen:
      true
    }
  }

  /// Whether it may put another device into the route.
  package var choosesDevice: Bool {
    switch self {
    case .preset, .input: true
    case .dataSource, .pattern, .orientation, .look, .roll, .yaw, .follow, .gain, .highPass, .adapt, .mute,
      .output, .listen:
      false
    }
  }

  private static func gain(_ text: String) throws(Failure) -> Decibels {
    let gains = Decibels.outputGains
    guard let number = text.decimal(unit: "dB"), gains.contains(number) else {
      throw Failure(
        .usage,
        "the gain \(text.quoted) is not usable; give a number of decibels from \(Int(gains.lowerBound)) to "
          + "\(Int(gains.upperBound)), such as -6"
      )
    }
    return Decibels(number)
  }

  /// "60", "60,10", or "off".
  private static func look(_ text: String) throws(Failure) -> Look? {
    if text.lowercased() == "off" { return nil }
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map {
      $0.trimmingPrefix { $0 == " " }
    }
    let numbers = parts.compactMap { String($0).decimal(unit: "degrees") }
    guard numbers.count == parts.count, (1...2).contains(numbers.count),
      let look = Look(azimuth: numbers[0], elevation: numbers.count == 2 ? numbers[1] : 0)
    else {
      throw Failure(
        .usage,
        "the look \(text.quoted) is not usable; give off, or an azimuth in degrees and, after a comma, an elevation from "
          + "-90 to 90, such as 60 or 60,-10; left and up are positive")
    }
    return look
  }

  private static func angle(_ text: String, _ name: String) throws(Failure) -> Double {
    guard let number = text.decimal(unit: "degrees"), (-360...360).contains(number) else {
      throw Failure(
        .usage,
        "the \(name) \(text.quoted) is not usable; give a number of degrees from -360 to 360, such as -15")
    }
    return number
  }

  /// "roll,yaw", or "off".
  private static func followed(_ text: String) throws -> Set<Followed> {
    if text.lowercased() == "off" { return [] }
    return Set(
      try text.split(separator: ",", omittingEmptySubsequences: false).map {
        try Followed(word: String($0.trimmingPrefix { $0 == " " }))
      })
  }

  /// "off", or a number from 0 to 1.
  private static func strength(_ text: String) throws(Failure) -> Double {
    if text.lowercased() == "off" { return 0 }
    guard let number = text.decimal, (0...1).contains(number) else {
      throw Failure(
        .usage,
        "the strength \(text.quoted) is not usable; give off, or a number from 0 to 1: how far stereo follows the sound"
      )
    }
    return number
  }

  private static func highPass(_ text: String) throws(Failure) -> HighPass {
    if text.lowercased() == "off" { return .off }
    let range = HighPass.range
    guard let number = text.decimal(unit: "Hz"), range.contains(number) else {
      throw Failure(
        .usage,
        "the high-pass \(text.quoted) is not usable; give off, or a number of hertz from \(Int(range.lowerBound)) to "
          + "\(Int(range.upperBound)), such as 80"
      )
    }
    return .on(Hertz(number))
  }
}

extension [Change] {
  /// The preset that they choose; nil if none does.
  package var preset: String? {
    compactMap { if case .preset(let name) = $0 { name } else { nil } }.last
  }

  /// UID of the input that they choose; nil if none does.
  package var input: String? {
    compactMap { if case .input(let uid) = $0 { uid } else { nil } }.last
  }
}

package enum Switch: String, NamedWord {
  case on, off
  package static let kind = "switch"

  /// A word, or the 1 or 0 that a toggle of a control surface sends.
  package init(argument text: String) throws(UnknownWord) {
    switch text.decimal {
    case 1: self = .on
    case 0: self = .off
    default: self = try Switch(word: text)
    }
  }
}
