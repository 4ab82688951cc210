import Acoustics
import JackClient
import Messages
import Settings

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
