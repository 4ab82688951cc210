import Acoustics
import Glibc
import GuidedCheck
import JackClient
import JackTools
import Messages
import Settings

/// A guided check of a running Pinna in a JACK graph. One JACK client plays the scene's voices into Pinna's
/// microphones, another one records its outputs. The cases are selected one after another while the scene plays.
///
/// `deinit` disconnects both clients and then closes them.
package final class GraphCheck {
  private let name: String
  private let scene: CheckScene
  private let talkers: SignalPlayer
  private let recorder: SignalRecorder
  private var wires: [(String, String)] = []
  private let interruptions: StopCount
  private let requests: ServerRequests
  private let warn: (String) -> Void

  /// - Parameters:
  ///   - name: client name of the running Pinna.
  ///   - microphones: names of its microphones, each with its channel in the scene.
  ///   - interruptions: ends the check early.
  ///   - warn: called with a sentence if the clients cannot be disconnected at the end.
  /// - Throws: `Failure` or `JackError` if the clients cannot be opened or connected.
  package init(
    name: String, server: String?, scene: CheckScene, microphones: [(name: String, channel: Int)],
    interruptions: StopCount, warn: @escaping (String) -> Void
  ) throws {
    self.warn = warn
    self.name = name
    self.scene = scene
    self.interruptions = interruptions
    let requests = ServerRequests(stops: interruptions)
    self.requests = requests
    let total = scene.microphones.frames
    let own = "check-\(getpid())"
    let capacity = total + 10 * scene.sampleRate
    recorder = try requests.ask {
      try SignalRecorder(
        name: "\(own)-listener", server: server, channels: 3, capacityFrames: capacity)
    }
    let channels = microphones.map { scene.microphones.channels[$0.channel] } + [CheckOutput.clock(total)]
    talkers = try requests.ask {
      try SignalPlayer(
        name: "\(own)-talkers", server: server, channels: channels, microphones: microphones.map(\.name))
    }
    wires =
      Array(zip(talkers.portNames, microphones.map { "\(name):\($0.name)" } + [recorder.portNames[2]]))
      + Array(zip(ArrayClient.outputNames.map { "\(name):\($0)" }, recorder.portNames))
    let isConnected = try requests.ask { [wires, talkers] in
      wires.allSatisfy { talkers.graph.connect($0.0, $0.1) }
    }
    guard isConnected else {
      throw Failure(
        .failed,
        "the check's player and recorder cannot be connected to \(name); make sure that \(name) is still running"
      )
    }
  }

  deinit {
    do {
      try requests.ask { [wires, talkers] in
        for wire in wires { talkers.graph.disconnect(wire.0, wire.1) }
      }
    } catch { return warn(error.description) }
    // Pinna must notice the disconnections before the clients close. It would regard connections that disappear with
    // a client as lost, warn of them, and restore them when a client of that name appears.
    usleep(400_000)
  }

  /// Plays the scene, selects each case when its time comes, and records the outputs.
  /// - Parameter onSelection: called after each selection with the index of the case and Pinna's answer.
  /// - Throws: `Failure` if Pinna refuses a selection, the check is interrupted, or the server goes or stalls; errors
  ///   of `onSelection`.
  package func listen(_ onSelection: (Int, ChangeReport) throws -> Void) throws -> CheckOutput {
    talkers.start()
    for (n, one) in scene.cases.enumerated() {
      let words = [
        "data-source", one.selection.dataSource, "pattern", one.selection.polarPattern.rawValue,
        "orientation",
        one.selection.inputOrientation.rawValue,
      ]
      try onSelection(n, try RunningPinna.set(name, words))
      try wait(seconds: Double(n + 1) * CheckScene.caseSeconds - 0.05)
    }
    while !talkers.isFinished { try wait(seconds: .infinity) }
    usleep(300_000)
    guard let start = talkers.startFrame else {
      throw Failure(.failed, "the JACK server never ran the check's player; start the check again")
    }
    return CheckOutput(recorder.channels(from: start, count: recorder.frames), reference: scene.reference)
  }

  /// Waits until the player has played the first `seconds` of the scene, or all of it.
  private func wait(seconds: Double) throws {
    let end = min(seconds * Double(scene.sampleRate), Double(talkers.frames))
    let deadline = ContinuousClock.now + .seconds(30)
    while Double(talkers.framesPlayed) < end {
      guard interruptions.count == 0 else {
        throw Failure(.failed, "the check was interrupted before its last voice; start it again")
      }
      try CheckPlayback.requireServer(talkers.graph)
      guard ContinuousClock.now < deadline else {
        throw Failure(
          .failed,
          "the JACK server has stalled, or this machine is too busy; try again, or restart the server")
      }
      usleep(5000)
    }
  }
}
