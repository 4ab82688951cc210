import JackClient
import Messages
import Settings
import Text

/// The microphone ports of a running Pinna, as another client sees them.
///
/// Thread: any but JACK's own. Never waits for the server.
package enum MicrophonePorts {
  /// Checks that a Pinna with all of `microphones` is in the graph.
  /// - Parameters:
  ///   - name: name of its JACK client.
  ///   - device: name of the device that `microphones` belong to, for the error message.
  ///   - graph: any client in the graph.
  /// - Throws: status `notRunning` if there is no such Pinna, `failed` if it lacks a microphone.
  package static func check(
    _ name: String, _ microphones: [String], of device: String, in graph: JackConnection
  )
    throws(Failure)
  {
    guard ArrayClient.outputNames.allSatisfy({ graph.hasPort("\(name):\($0)") }) else {
      let option = name == "pinna" ? "" : " --name \(name)"
      throw Failure(
        .notRunning, "no Pinna named \(name.quoted) is in this JACK graph; start one with: pinna run\(option)"
      )
    }
    if let missing = microphones.first(where: { !graph.hasPort("\(name):\($0)") }) {
      throw Failure(
        .failed,
        "\(name) has no microphone \"\(missing)\", because its device is not \(device); change to a preset of \(device)"
      )
    }
  }
}
