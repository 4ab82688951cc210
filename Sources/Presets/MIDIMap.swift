import Acoustics

/// What the controllers (control change messages) of a MIDI device change.
public struct MIDIMap: Hashable, Sendable {
  /// What a controller changes.
  public enum Target: String, NamedWord {
    case gain, mute, orientation, pattern
    case dataSource = "data-source"
    case highPass = "high-pass"
    /// Starts and ends takes.
    case record
    public static let kind = "MIDI target"
  }

  /// How the values 0 to 127 of a controller become values of its target.
  public enum Scale: Hashable, Sendable {
    /// Gain in decibels at the values 0 and 127; linear between them.
    case decibels(from: Double, to: Double)
    /// Off below 64.
    case toggle
    /// The words of equal parts of 0 to 127. Empty for all data sources of the device.
    case words([String])
  }

  public struct Controller: Hashable, Sendable {
    /// From 0 to 127.
    public let number: Int
    public let target: Target
    public let scale: Scale

    public init(number: Int, target: Target, scale: Scale? = nil) {
      self.number = number
      self.target = target
      self.scale = scale ?? Self.standardScale(of: target)
    }

    /// Whether somebody moves this controller. Devices send bank select (0, 32) with programs, and channel mode messages
    /// (120 to 127) by themselves.
    public static func isMovable(_ number: Int) -> Bool { number != 0 && number != 32 && number < 120 }

    /// The scale of a target whose file gives none.
    static func standardScale(of target: Target) -> Scale {
      switch target {
      case .gain: .decibels(from: -60, to: 0)
      case .mute, .record: .toggle
      case .orientation: .words(InputOrientation.allCases.map(\.rawValue))
      case .pattern: .words(PolarPattern.allCases.map(\.rawValue))
      case .dataSource: .words([])
      case .highPass: .words(["off", "80"])
      }
    }

    /// The target's value at the controller's value `wire`, as `pinna set` takes it.
    /// - Parameter dataSources: names of the data sources of the device in use; not empty.
    public func value(at wire: Int, dataSources: [String]) -> String {
      switch scale {
      case .decibels(let from, let to):
        // In steps of 0.1 dB.
        return "\(((from + (to - from) * Double(wire) / 127) * 10).rounded() / 10)"
      case .toggle: return wire >= 64 ? "on" : "off"
      case .words(let words):
        let choices = words.isEmpty ? dataSources : words
        return choices[wire * choices.count / 128]
      }
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
}
