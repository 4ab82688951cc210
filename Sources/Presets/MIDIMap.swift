import Acoustics
import Settings

/// What the faders, knobs, encoders, buttons and pads of a MIDI device change.
public struct MIDIMap: Hashable, Sendable {
  /// What a control changes.
  public enum Target: NamedWord, Hashable {
    /// A setting of a feed.
    case setting(SettingKey)
    case lookAzimuth, lookElevation
    /// Starts and ends takes.
    case record
    /// Marks the present place of a take.
    case marker

    public static let kind = "MIDI target"
    /// A look is two controls, and what follows a pose is no control's.
    public static let allCases =
      SettingKey.ofFeeds.filter { ![.look, .follow].contains($0) }.map { setting($0) }
      + [.lookAzimuth, .lookElevation, .record, .marker]

    public var rawValue: String {
      switch self {
      case .setting(let key): key.rawValue
      case .lookAzimuth: "look-azimuth"
      case .lookElevation: "look-elevation"
      case .record: "record"
      case .marker: "marker"
      }
    }

    public init?(rawValue: String) {
      guard let found = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
      self = found
    }

    /// What it changes of a feed, which each change fades; nil for takes.
    public var key: SettingKey? {
      switch self {
      case .setting(let key): key
      case .lookAzimuth, .lookElevation: .look
      case .record, .marker: nil
      }
    }

    public var isSetting: Bool { key != nil }

    /// What kind of value it has, with the scale of a control whose file gives none.
    public var standardScale: Scale {
      switch self {
      case .setting(.highPass): .words(["off", "80"])
      // A knob that is turned to the right looks, or turns, to the right.
      case .lookAzimuth, .setting(.yaw), .setting(.roll):
        .range(
          Range(limits: -180...180, unit: "degrees", from: 180, to: -180, click: 5, step: 5, isCircle: true))
      case .lookElevation:
        .range(Range(limits: Look.elevations, unit: "degrees", from: -90, to: 90, click: 5, step: 5))
      case .record: .toggle
      case .marker: .trigger
      case .setting(let key):
        switch key.row.kind {
        case .number(let limits, let unit, _):
          // A fader of decibels ends at 0.
          .range(
            Range(
              limits: limits, unit: unit, from: limits.lowerBound,
              to: limits.contains(0) && unit == "dB" ? 0 : limits.upperBound,
              click: unit == "dB" ? 1 : (limits.upperBound - limits.lowerBound) / 20,
              step: unit == "dB" ? 0.1 : (limits.upperBound - limits.lowerBound) / 100))
        case .flag: .toggle
        case .word(let words, _), .text(let words, _): .words(words)
        case .name, .look, .follow: .words([])
        }
      }
    }
  }

  /// What a control's motion becomes.
  public enum Scale: Hashable, Sendable {
    case range(Range)
    /// Off below 64. A pad switches over.
    case toggle
    /// Something that happens at each press.
    case trigger
    /// The words of equal parts of 0 to 127; a pad or an encoder chooses the next. Empty for all data sources of the
    /// device.
    case words([String])
  }

  /// A setting whose values are numbers: what a fader or an encoder moves through.
  public struct Range: Hashable, Sendable {
    /// What the setting accepts.
    public let limits: ClosedRange<Double>
    public let unit: String
    /// The values at a fader's ends, 0 and 127; linear between them.
    public var from: Double
    public var to: Double
    /// Change per click of an encoder.
    public var click: Double
    /// What a fader's values are multiples of.
    public let step: Double
    /// Whether both limits are the same value, so that an encoder between them goes round.
    public let isCircle: Bool

    package init(
      limits: ClosedRange<Double>, unit: String, from: Double, to: Double, click: Double, step: Double = 0.1,
      isCircle: Bool = false
    ) {
      (self.limits, self.unit, self.from, self.to, self.click) = (limits, unit, from, to, click)
      (self.step, self.isCircle) = (step, isCircle)
    }
  }

  /// What tells a control's messages from those of others.
  public enum Source: Hashable, Sendable, CustomStringConvertible {
    /// The number of a control change, from 0 to 127.
    case controller(Int)
    /// The number of a note, from 0 to 127.
    case note(Int)

    public var description: String {
      switch self {
      case .controller(let number): "controller \(number)"
      case .note(let number): "note \(number)"
      }
    }
  }

  /// How an endless encoder tells its clicks in the value of a control change.
  public enum RelativeEncoding: String, NamedWord {
    /// 1 is a click up, 127 one down.
    case twosComplement = "twos-complement"
    /// 65 is a click up, 63 one down.
    case binaryOffset = "binary-offset"
    /// 1 is a click up, 65 one down.
    case signBit = "sign-bit"
    public static let kind = "relative encoding"

    /// Clicks up in the value `wire`; negative for down.
    public func clicks(_ wire: Int) -> Int {
      switch self {
      case .twosComplement: wire < 64 ? wire : wire - 128
      case .binaryOffset: wire - 64
      case .signBit: wire < 64 ? wire : 64 - wire
      }
    }
  }

  public struct Controller: Hashable, Sendable {
    public let source: Source
    /// Nil for positions.
    public let encoding: RelativeEncoding?
    public let target: Target
    /// Name of the feed whose value it sets.
    public let feed: String
    public let scale: Scale

    public init(
      _ source: Source, _ target: Target, of feed: String = FeedSetting.main, scale: Scale? = nil,
      encoding: RelativeEncoding? = nil
    ) {
      self.source = source
      self.encoding = encoding
      self.target = target
      self.feed = feed
      self.scale = scale ?? target.standardScale
    }

    /// What it sets, in words: "gain", "gain of anna".
    public var targetName: String {
      feed == FeedSetting.main ? target.rawValue : "\(target.rawValue) of \(feed)"
    }
  }

  /// The channel that is listened to, from 1 to 16; nil for all.
  public var channel: Int?
  /// Name of the bank that program changes choose from; nil for all presets.
  public var bank: String?
  public var controllers: [Controller]

  public init(channel: Int? = nil, bank: String? = nil, controllers: [Controller] = []) {
    self.channel = channel
    self.bank = bank
    self.controllers = controllers
  }

  public func listens(to channel: Int) -> Bool { self.channel.map { $0 == channel } ?? true }

  /// The controller whose messages come from `source`.
  public func controller(_ source: Source) -> Controller? { controllers.first { $0.source == source } }
}
