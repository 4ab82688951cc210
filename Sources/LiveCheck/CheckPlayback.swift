import Glibc
import GuidedCheck
import JackClient
import JackTools
import Messages
import Settings

/// Plays the outputs of a check on the JACK server's playback ports, so that the user can listen to them.
///
/// Thread: any that may wait; `play` returns after the last voice.
package struct CheckPlayback {
  private let server: String?
  private let ports: [String]
  private let requests: ServerRequests
  private let stops: StopCount
  package let sampleRate: Int

  /// Reads the server's sample rate and finds its first two playback ports.
  /// - Parameters:
  ///   - server: name of the JACK server; nil for the default one.
  ///   - stops: ends the playback early.
  /// - Throws: `Failure` if there is no server, or it has fewer than two playback ports.
  package init(server: String?, stops: StopCount) throws {
    self.server = server
    self.stops = stops
    requests = ServerRequests(stops: stops)
    let probe = try requests.ask { try JackConnection(name: "check-\(getpid())", server: server) }
    defer { probe.close() }
    sampleRate = probe.sampleRate
    ports = Array(probe.physicalPlaybackPorts.prefix(2))
    guard ports.count == 2 else {
      throw Failure(.failed, "this JACK server has fewer than two playback ports; leave out --play")
    }
  }

  /// Plays `output` to its end, or until a stop is requested.
  /// - Parameter say: called with a heading, and with the name of each case when it begins.
  /// - Throws: `Failure` if the ports cannot be connected or the server goes.
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
