import Control
import Foundation
import GuidedCheck
import JackClient
import JackTools

/// Plays what came out of a check, to listen to.
package struct CheckPlayback {
  private let server: String?
  private let ports: [String]
  private let requests: ServerRequests
  private let stops: StopCount
  package let sampleRate: Int

  package init(server: String?, stops: StopCount) throws {
    self.server = server
    self.stops = stops
    requests = ServerRequests(stops: stops)
    let probe = try requests.ask { try JackConnection(name: "check-\(getpid())", server: server) }
    defer { probe.close() }
    sampleRate = probe.sampleRate
    ports = Array(probe.physicalPlaybackPorts.prefix(2))
    guard ports.count == 2 else {
      throw Failure(.failed, "this JACK server has no two playback ports to play on; leave out --play")
    }
  }

  package func play(_ output: CheckOutput, of scene: CheckScene, say: (String) -> Void) throws {
    let channels = [output.left, output.right]
    let player = try requests.ask { [server] in
      try SignalPlayer(name: "check-\(getpid())", server: server, channels: channels)
    }
    guard try requests.ask({ [ports] in player.connect(to: ports) }) else {
      throw Failure(.failed, "\(ports.joined(separator: " and ")) could not be connected; leave out --play")
    }
    say("\nListen: in each case from the left, the right, in front and behind.")
    player.start()
    var announced = 0
    while !player.isFinished, stops.count == 0 {
      try Self.requireServer(player.graph)
      if announced < scene.cases.count,
        player.framesPlayed >= scene.frames(ofCase: announced).lowerBound
      {
        say("  \(scene.cases[announced].name)")
        announced += 1
      }
      usleep(20_000)
    }
  }

  static func requireServer(_ graph: JackConnection) throws(Failure) {
    guard !graph.isServerGone else {
      throw Failure(.noServer, "the JACK server has gone; start it again, then pinna check")
    }
  }
}
