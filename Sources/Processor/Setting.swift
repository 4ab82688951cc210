import Acoustics
import JackClient
import Messages
import Presets

/// Everything that a user can choose: preset with its connections, input, selection, gain, high-pass, mute, output and the
/// microphone to listen to.
public struct Setting: Hashable, Sendable {
  public var preset: String
  /// The preset's device.
  public var home: Device
  /// The input in the route: `home` or another input.
  public private(set) var device: Device
  public var selection: Selection
  /// The last selections on inputs that are not in the route, by UID.
  private var remembered: [String: Selection] = [:]
  public var gain: Decibels
  public var highPass: HighPass
  /// How far the filters of stereo follow the sound, 0…1.
  public var adaptation: Double
  public var muted = false
  public var output = OutputChoice.standard
  /// The microphone that is listened to alone; nil for the selection. Never during a take.
  package private(set) var listening: String?
  /// The feeds besides `main`.
  public private(set) var feeds: [Feed]
  /// The connections of the preset.
  package let connections: [Wiring.Wire]

  public init(preset: Preset, device: Device) {
    self.preset = preset.name
    home = device
    self.device = device
    selection = preset.selection
    gain = preset.gain
    highPass = preset.highPass
    adaptation = preset.adaptation
    feeds = preset.feeds
    connections = preset.connections.map { Wiring.Wire($0.port, $0.peer) }
  }

  /// Reads a preset and its device. Waits for the disk.
  /// - Throws: what is wrong with their files.
  package init(preset name: String, in library: PresetLibrary) throws {
    let preset = try library.preset(named: name)
    self.init(preset: preset, device: try library.device(named: preset.device))
  }

  /// The linear output gain; 0 while muted.
  package var amplitude: Float { muted ? 0 : Float(gain.amplitude) }

  /// The device edges that the left and right channels point to; nil for mono patterns.
  public var layout: StereoLayout? { selection.layout(on: device) }

  /// Copies the remembered selections of `other`, and the selection on its current input. The selection on this
  /// setting's own input does not change.
  mutating func remember(_ other: Setting) {
    remembered.merge(other.remembered) { $1 }
    remembered[other.device.uid] = other.selection
    remembered[device.uid] = nil
  }

  /// Replaces the feeds besides `main`.
  package mutating func want(_ feeds: [Feed]) { self.feeds = feeds.map { $0.moved(to: device) } }

  /// - Throws: `UnknownWord` or a `Failure`, if there is no such feed besides `main`.
  package func feed(named name: String) throws -> Feed {
    if let feed = feeds.first(where: { $0.name.lowercased() == name.lowercased() }) { return feed }
    guard !feeds.isEmpty else {
      throw Failure(
        .usage, "there is no feed \(name.quoted) besides main; add one with: pinna feed add NAME")
    }
    throw UnknownWord(kind: "feed", word: name, choices: feeds.map(\.name))
  }

  /// Puts another input in the route. Restores the last selection on it; otherwise keeps as much of the current
  /// selection as the input offers.
  public mutating func choose(_ input: Device) {
    guard input != device else { return }
    remembered[device.uid] = selection
    device = input
    listening = nil
    feeds = feeds.map { $0.moved(to: input) }
    // The device file may have been edited and no longer offer it.
    if let last = remembered.removeValue(forKey: input.uid), (try? input.check(last)) != nil {
      selection = last
      return
    }
    let source = (try? input.dataSource(named: selection.dataSource)) ?? input.dataSources[0]
    selection.dataSource = source.name
    selection.look = nil
    if !source.polarPatterns.contains(selection.polarPattern) {
      selection.polarPattern = source.defaultPolarPattern
    }
  }

  /// Applies changes, but for a preset and an input, which others look up and choose first (`choose`).
  /// - Throws: on the first name that the device does not have; earlier changes are applied then.
  public mutating func apply(_ changes: [Change]) throws {
    try selection.apply(changes, of: device)
    for change in changes {
      switch change {
      case .preset, .input, .dataSource, .pattern, .orientation, .look, .roll, .yaw, .follow: break
      case .gain(let gain): self.gain = gain
      case .highPass(let highPass): self.highPass = highPass
      case .adapt(let strength): adaptation = strength
      case .mute(let isOn): muted = isOn
      case .output(let choice): output = choice
      case .listen(let name): listening = try name.map(microphone)
      }
    }
  }

  private func microphone(_ name: String) throws(UnknownWord) -> String {
    let names = device.microphones.map(\.name)
    guard names.contains(name) else {
      throw UnknownWord(kind: "microphone", word: name, choices: names + ["off"])
    }
    return name
  }

  /// The setting without listening to one microphone.
  var withoutListening: Setting {
    var setting = self
    setting.listening = nil
    return setting
  }
}

extension Selection {
  /// Applies what belongs to a selection: a look after all else, whose place in the list does not matter.
  /// - Throws: `UnknownWord` for a data source that `device` does not have; a `Failure` if the changes contradict each
  ///   other.
  mutating func apply(_ changes: [Change], of device: Device) throws {
    for case .dataSource(let name) in changes {
      dataSource = try device.dataSource(named: name).name
      look = nil
    }
    var (pattern, given): (PolarPattern?, Look??) = (nil, nil)
    for change in changes {
      switch change {
      case .pattern(let new): pattern = new
      case .orientation(let orientation): inputOrientation = orientation
      case .look(let look): given = .some(look)
      case .roll(let roll): pose = Pose(roll: roll, yaw: pose.yaw)
      case .yaw(let yaw): pose = Pose(roll: pose.roll, yaw: yaw)
      case .follow(let followed): follows = followed
      default: break
      }
    }
    do throws(FeedPattern.Fault) {
      try FeedPattern.check(look: given ?? nil, pattern: pattern)
    } catch { throw Failure(.usage, error.description) }
    if let pattern { polarPattern = pattern }
    if polarPattern.isOriented { look = nil }
    if let given { point(given, of: try device.dataSource(named: dataSource)) }
  }
}

extension Setting {
  /// The ports to connect the outputs to (left and right in turn, or one for both) and their type; the type is nil for no
  /// ports.
  /// - Parameter monitor: the ports of `pinna run --monitor`.
  package func outputTarget(monitor: [String]) -> (ports: [String], type: PortType?) {
    let headset = device.portType.isHeadset ? device.playbackPorts : []
    let speaker: ([String], PortType?) = (monitor, monitor.isEmpty ? nil : .builtInSpeaker)
    switch output {
    case .override: return speaker
    case .standard, .none, .speaker:
      guard headset.isEmpty else {
        return (headset, device.portType == .bluetoothHFP ? .bluetoothHFP : .headphones)
      }
      return output == .none ? ([], nil) : speaker
    }
  }
}
