import Control
import JackClient

/// The microphone ports of a running Pinna, as another client sees them.
package enum MicrophonePorts {
  /// Refuses where Pinna, or one of `microphones`, is not in the graph.
  package static func check(
    _ name: String, _ microphones: [String], of device: String, in graph: JackConnection
  )
    throws(Failure)
  {
    guard ArrayClient.outputNames.allSatisfy({ graph.hasPort("\(name):\($0)") }) else {
      let option = name == "pinna" ? "" : " --name \(name)"
      throw Failure(
        .notRunning, "no Pinna named \"\(name)\" is in this JACK graph; start one with: pinna run\(option)")
    }
    if let missing = microphones.first(where: { !graph.hasPort("\(name):\($0)") }) {
      throw Failure(
        .failed,
        "\(name) has no microphone \"\(missing)\", for its device is not \(device); give it a preset of \(device)"
      )
    }
  }
}
