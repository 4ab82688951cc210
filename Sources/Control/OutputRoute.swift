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
  /// Of `pinna run --monitor`, left and right.
  let monitor: [String]
  /// Made by us and still wanted.
  private(set) var made: Set<Wiring.Wire> = []
  private(set) var target: [String] = []
  /// Where the sound goes: a headset's earpieces, the monitor ports, or nil.
  private(set) var type: PortType?

  init(monitor: [String]) { self.monitor = monitor }

  /// What is to be made and unmade for `setting`; whether it is another way out than before.
  mutating func follow(_ setting: Setting) -> (connect: [Wiring.Wire], disconnect: [Wiring.Wire], isNew: Bool)
  {
    let before = target
    let headset = setting.device.portType.isHeadset ? setting.device.playbackPorts : []
    switch setting.output {
    case .override: (target, type) = (monitor, .builtInSpeaker)
    case .standard, .none, .speaker:
      if !headset.isEmpty {
        (target, type) = (headset, setting.device.portType == .bluetoothHFP ? .bluetoothHFP : .headphones)
      } else if setting.output == .none {
        (target, type) = ([], nil)
      } else {
        (target, type) = (monitor, .builtInSpeaker)
      }
    }
    if target.isEmpty { type = nil }
    let wanted = Set(
      zip(ArrayClient.outputNames, target.count == 1 ? [target[0], target[0]] : target).map {
        Wiring.Wire($0, $1)
      })
    let (new, old) = (wanted.subtracting(made), made.subtracting(wanted))
    made.subtract(old)
    return (new.sorted(), old.sorted(), target != before)
  }

  mutating func hasMade(_ wire: Wiring.Wire) { made.insert(wire) }
}

extension Processor {
  /// Connects the outputs to where they are to go, as far as it is there, and takes away what was made for another
  /// way. Called after changes and whenever the graph is looked at: ports that come later are found then.
  func routeOutputs() {
    guard rejoin == nil else { return }
    let (connect, disconnect, isNew) = output.follow(inForce)
    for wire in disconnect {
      wiring.forget(wire)
      client.disconnectOutput(wire)
    }
    for wire in connect where client.connectOutput(wire) { output.hasMade(wire) }
    if isNew {
      notify(
        EngineEvent(
          .outputChanged,
          output.target.isEmpty
            ? "sound goes out nowhere of itself"
            : "sound goes out to \(output.target.joined(separator: ", "))"))
    }
  }
}

/// Where the sound goes out, as `status` says it.
package struct OutputReport: Codable {
  package let choice: OutputChoice
  /// Speaker or headphones; null where we connected the outputs to nothing.
  package let portType: PortType?
  package let ports: [String]
}
