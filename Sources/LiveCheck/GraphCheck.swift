import Acoustics
import Control
import Foundation
import JackClient

/// A running Pinna in a JACK graph that hears the voices of a check, and a recorder of what comes out. It selects case
/// after case while sound flows. Its connections are taken away when it is let go of, as somebody would who wants to.
final class GraphCheck {
  private let name: String
  private let scene: CheckScene
  private let talkers: SignalPlayer
  private let recorder: SignalRecorder
  private var wires: [(String, String)] = []
  private let interruptions: SignalCount

  /// - Parameters:
  ///   - name: of the running Pinna.
  ///   - microphones: its microphones, of the scene's channels.
  ///   - interruptions: counts what is to end this early.
  init(
    name: String, server: String?, scene: CheckScene, microphones: [(name: String, channel: Int)],
    interruptions: SignalCount
  ) throws {
    self.name = name
    self.scene = scene
    self.interruptions = interruptions
    let total = scene.microphones.frames
    let own = "check-\(getpid())"
    recorder = try SignalRecorder(
      name: "\(own)-listener", server: server, channels: 3, capacityFrames: total + 10 * scene.sampleRate)
    talkers = try SignalPlayer(
      name: "\(own)-talkers", server: server,
      channels: microphones.map { scene.microphones.channels[$0.channel] } + [Hearing.clock(total)],
      microphones: microphones.map(\.name))
    wires =
      Array(zip(talkers.portNames, microphones.map { "\(name):\($0.name)" } + [recorder.portNames[2]]))
      + Array(zip(ArrayClient.outputNames.map { "\(name):\($0)" }, recorder.portNames))
    guard wires.allSatisfy({ talkers.graph.connect($0.0, $0.1) }) else {
      throw Failure(.failed, "the check's own graph could not be connected; is \(name) still running?")
    }
  }

  deinit {
    for wire in wires { talkers.graph.disconnect(wire.0, wire.1) }
    // Pinna takes a connection for lost, and wants it back, that goes with its other end.
    usleep(400_000)
  }

  /// - Parameter during: called when a case sounds, with its number and what Pinna answered to its selection.
  func listen(_ during: (Int, String) throws -> Void) throws -> Hearing {
    talkers.start()
    for (n, one) in scene.cases.enumerated() {
      try during(n, try select(one.selection))
      try wait(seconds: Double(n + 1) * CheckScene.caseSeconds - 0.05)
    }
    while !talkers.isFinished { try wait(seconds: .infinity) }
    usleep(300_000)
    guard let start = talkers.startFrame else { throw Failure(.failed, "the talkers never spoke") }
    return Hearing(recorder.channels(from: start, count: recorder.frames), reference: scene.reference)
  }

  private func select(_ selection: Selection) throws -> String {
    let words = [
      "data-source", selection.dataSource, "pattern", selection.polarPattern.rawValue, "orientation",
      selection.inputOrientation.rawValue,
    ]
    return try RunningPinna.set(name, words).changeText
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
