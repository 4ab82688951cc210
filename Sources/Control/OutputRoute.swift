import Acoustics
import JackClient

/// The requested destination of the outputs.
public enum OutputChoice: String, NamedWord, Codable {
  /// The ports of `pinna run --monitor`, or the earpieces if the input is a headset.
  case standard
  /// No ports, or the earpieces if the input is a headset. Connections made by others stay.
  case none
  /// Like `standard`, but requested explicitly.
  case speaker
  /// The monitor ports, even if the input is a headset.
  case override

  public static let kind = "output"
}

/// The destination of the outputs, and the connections that Pinna makes for it.
///
/// A value; the worker of `JackAudioClient` mutates it.
struct OutputRoute {
  var connections = OwnConnections()
  private var target: [String] = []

  /// The ports to connect the outputs to (left and right in turn, or one for both) and their type; the type is nil for no
  /// ports. Any thread.
  /// - Parameter monitor: the ports of `pinna run --monitor`.
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

  /// Changes the target. Worker.
  /// - Returns: the connections to remove, and whether the target differs from the previous one.
  mutating func follow(_ target: [String]) -> (disconnect: [Wiring.Wire], isNew: Bool) {
    let pairs = target.count == 1 ? [target[0], target[0]] : target
    let wanted = pairs.enumerated().map { Wiring.Wire(ArrayClient.outputNames[$0 % 2], $1) }
    defer { self.target = target }
    return (connections.follow(wanted), target != self.target)
  }
}

/// The destination of the outputs, as reported by `status`.
package struct OutputReport: Codable, Sendable {
  package let choice: OutputChoice
  /// Speaker or headphones; null if Pinna connected the outputs to nothing.
  package let portType: PortType?
  package let ports: [String]

  init(_ setting: Setting, monitor: [String]) {
    choice = setting.output
    (ports, portType) = OutputRoute.target(of: setting, monitor: monitor)
  }
}
