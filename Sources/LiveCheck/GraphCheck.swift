import Acoustics
import Control
import Foundation
import GuidedCheck
import JackClient
import JackTools

/// The voices of a check as a JACK client that plays into a running Pinna's microphones, and a recorder of its outputs.
/// Case after case is selected while sound flows. The last release disconnects both, as a user would.
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
  ///   - name: of the running Pinna.
  ///   - microphones: its microphones, of the scene's channels.
  ///   - interruptions: counts what is to end this early.
  ///   - warn: called with a sentence where the clients could not be disconnected.
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
      throw Failure(.failed, "the check's own graph could not be connected; is \(name) still running?")
    }
  }

  deinit {
    do {
      try requests.ask { [wires, talkers] in
        for wire in wires { talkers.graph.disconnect(wire.0, wire.1) }
      }
    } catch { return warn(error.description) }
    // Pinna must see the connections go before the clients: it waits for a client that takes its connections along.
    usleep(400_000)
  }

  /// - Parameter during: called when a case sounds, with its number and Pinna's answer to its selection.
  package func listen(_ during: (Int, ChangeReport) throws -> Void) throws -> CheckOutput {
    talkers.start()
    for (n, one) in scene.cases.enumerated() {
      try during(n, try select(one.selection))
      try wait(seconds: Double(n + 1) * CheckScene.caseSeconds - 0.05)
    }
    while !talkers.isFinished { try wait(seconds: .infinity) }
    usleep(300_000)
    guard let start = talkers.startFrame else { throw Failure(.failed, "the talkers never spoke") }
    return CheckOutput(recorder.channels(from: start, count: recorder.frames), reference: scene.reference)
  }

  private func select(_ selection: Selection) throws -> ChangeReport {
    let words = [
      "data-source", selection.dataSource, "pattern", selection.polarPattern.rawValue, "orientation",
      selection.inputOrientation.rawValue,
    ]
    return try RunningPinna.set(name, words)
  }

  private func wait(seconds: Double) throws {
    let end = min(seconds * Double(scene.sampleRate), Double(talkers.frames))
    let deadline = ContinuousClock.now + .seconds(30)
    while Double(talkers.framesPlayed) < end {
      guard interruptions.count == 0 else {
        throw Failure(.failed, "interrupted before the last voice had spoken; start it again")
      }
      try CheckPlayback.requireServer(talkers.graph)
      guard ContinuousClock.now < deadline else {
        throw Failure(.failed, "the JACK server stands still; is this machine very busy?")
      }
      usleep(5000)
    }
  }
}
