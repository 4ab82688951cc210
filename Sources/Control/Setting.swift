import Acoustics
import Presets

/// What is chosen at one moment: a preset's device, what is selected on it, and how loud it comes out.
public struct Setting: Hashable, Sendable {
  public var preset: String
  /// The preset's device.
  public var home: Device
  /// The input in the route: `home`, or another one that was chosen instead.
  public private(set) var device: Device
  public var selection: Selection
  /// What was selected last on inputs that are not in the route, by their UIDs.
  private var remembered: [String: Selection] = [:]
  public var gain: Decibels
  public var muted = false
  public var output = OutputChoice.standard

  public init(preset: Preset, device: Device) {
    self.preset = preset.name
    home = device
    self.device = device
    selection = preset.selection
    gain = preset.gain
  }

  /// The amplitude that everything is multiplied by.
  var amplitude: Float { muted ? 0 : Float(gain.amplitude) }

  /// Left and right edges; nil for mono patterns.
  public var layout: StereoLayout? {
    guard selection.polarPattern == .stereo,
      let source = try? device.dataSource(named: selection.dataSource)
    else { return nil }
    return HeadFrame(forward: source.forward, orientation: selection.inputOrientation)?.layout
  }

  /// Takes over what another setting remembers of inputs, and what is selected on the one that it has in the route. This
  /// one's own input keeps the selection that it has.
  mutating func remember(_ other: Setting) {
    remembered.merge(other.remembered) { $1 }
    remembered[other.device.uid] = other.selection
    remembered[device.uid] = nil
  }

  /// Another input in the route: with what was selected on it last, or else with what is selected now, as far as the
  /// input has it.
  public mutating func choose(_ input: Device) {
    guard input != device else { return }
    remembered[device.uid] = selection
    device = input
    // A device file that was edited meanwhile may not have it any more.
    if let last = remembered.removeValue(forKey: input.uid), (try? input.filterCase(for: last)) != nil {
      selection = last
      return
    }
    let source = (try? input.dataSource(named: selection.dataSource)) ?? input.dataSources[0]
    selection.dataSource = source.name
    if !source.polarPatterns.contains(selection.polarPattern) {
      selection.polarPattern = source.defaultPolarPattern
    }
  }

  /// Applies changes given as words: data-source, pattern, orientation, gain, mute.
  /// (An input is chosen with `choose`.)
  public mutating func apply(_ changes: [Change]) throws {
    for change in changes {
      let (key, value) = (change.key, change.value)
      switch key {
      case "data-source": selection.dataSource = try device.dataSource(named: value).name
      case "pattern": selection.polarPattern = try PolarPattern(word: value)
      case "orientation": selection.inputOrientation = try InputOrientation(word: value)
      case "gain": gain = try Self.gain(value)
      case "mute": muted = try Switch(word: value) == .on
      case "output": output = try OutputChoice(word: value)
      default: throw UnknownWord(kind: "setting", word: key, choices: Self.keys)
      }
    }
  }

  /// What can be changed, as words; each is an option of `pinna set`.
  public static let keys = ["input", "data-source", "pattern", "orientation", "gain", "mute", "output"]

  private static func gain(_ text: String) throws -> Decibels {
    guard let number = Double(text), Preset.gainRange.contains(number) else {
      throw Failure(
        .usage,
        "a gain of \"\(text)\" dB is not usable; give a number from \(Int(Preset.gainRange.lowerBound)) to \(Int(Preset.gainRange.upperBound))"
      )
    }
    return Decibels(number)
  }
}

/// One change, as words.
public struct Change: Hashable, Sendable {
  public let key: String
  public let value: String

  public init(_ key: String, _ value: String) {
    self.key = key
    self.value = value
  }

  static let input = "input"
  static let output = "output"
  /// Not a setting of its own: it sets all of them.
  static let preset = "preset"

  /// Of what is heard from where, rather than how loud.
  var isRouting: Bool { !["gain", "mute"].contains(key) }
}

enum Switch: String, NamedWord {
  case on, off
  static let kind = "switch"
}
