import Acoustics
import JackClient

/// Which way the sound goes out, as it is asked for.
public enum OutputChoice: String, NamedWord, Codable {
  /// The monitor ports that `pinna run` was given, if any.
  case standard
  /// Nowhere but where others connected the outputs to.
  case none
  /// The monitor ports, unless a headset takes the output along.
  case speaker
  /// The monitor ports, whatever is worn.
  case override

  public static let kind = "output"
}

/// The connections of the outputs that the choice of an output makes, and takes away again. What others connected
/// stays.
struct OutputRoute {
  /// Made by us and still wanted.
  private(set) var made: Set<Wiring.Wire> = []
  private var target: [String]?

  /// Ports that the outputs go to, left and right or one for both, and what is there: a headset's earpieces, the monitor
  /// ports, or nil.
  /// - Parameter monitor: of `pinna run --monitor`.
  static func target(of setting: Setting, monitor: [String]) -> (ports: [String], type: PortType?) {
    let headset = setting.device.portType.isHeadset ? setting.device.playbackPorts : []
    let speaker: ([String], PortType?) = (monitor, monitor.isEmpty ? nil : .builtInSpeaker)
    switch setting.output {
    case .override: return speaker
    case .standard, .none, .speaker:
      guard headset.isEmpty else {
        return (headset, setting.device.portType == .bluetoothHFP ? .bluetoothHFP : .headphones)
      }
      return setting.output == .none ? ([], nil) : speaker
    }
  }

  /// What is to be made and unmade for `target`; whether that is another way out than before.
  mutating func follow(_ target: [String]) -> (connect: [Wiring.Wire], disconnect: [Wiring.Wire], isNew: Bool)
  {
    let wanted = Set(
      zip(ArrayClient.outputNames, target.count == 1 ? [target[0], target[0]] : target).map {
        Wiring.Wire($0, $1)
      })
    let (new, old) = (wanted.subtracting(made), made.subtracting(wanted))
    made.subtract(old)
    defer { self.target = target }
    return (new.sorted(), old.sorted(), target != self.target ?? [])
  }

  mutating func hasMade(_ wire: Wiring.Wire) { made.insert(wire) }
}

/// Where the sound goes out, as `status` says it.
package struct OutputReport: Codable, Sendable {
  package let choice: OutputChoice
  /// Speaker or headphones; null where we connected the outputs to nothing.
  package let portType: PortType?
  package let ports: [String]

  init(_ setting: Setting, monitor: [String]) {
    choice = setting.output
    (ports, portType) = OutputRoute.target(of: setting, monitor: monitor)
  }
}
