import Control
import Foundation
import JackClient

/// Plays what came out of a check, to listen to.
struct CheckPlayback {
  private let server: String?
  private let ports: [String]
  let sampleRate: Int

  init(server: String?) throws {
    self.server = server
    let probe = try JackConnection(name: "check-\(getpid())", server: server)
    defer { probe.close() }
    sampleRate = probe.sampleRate
    ports = Array(probe.physicalPlaybackPorts.prefix(2))
    guard ports.count == 2 else {
      throw Failure(.failed, "this JACK server has no two playback ports to play on; leave out --play")
    }
  }

  func play(_ check: Check, stops: SignalCount, say: (String) -> Void) throws {
    let player = try SignalPlayer(
      name: "check-\(getpid())", server: server, channels: [check.heard.left, check.heard.right])
    guard player.connect(to: ports) else {
      throw Failure(.failed, "\(ports.joined(separator: " and ")) could not be connected; leave out --play")
    }
    say("\nListen: in each case from the left, the right, in front and behind.")
    player.start()
    var announced = 0
    while !player.isFinished, stops.count == 0 {
      try Self.requireServer(player.graph)
      if announced < check.scene.cases.count,
        player.framesPlayed >= check.scene.frames(ofCase: announced).lowerBound
      {
        say("  \(check.scene.cases[announced].name)")
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

/// A picture to write, as users name it.
enum PictureFile {
  static func check(_ path: String) throws(Failure) {
    guard (try? PlotFormat(word: URL(filePath: path).pathExtension)) != nil else {
      throw Failure(.usage, "\(path) cannot be drawn; give a name that ends in .png or .svg")
    }
    let folder = URL(filePath: path).deletingLastPathComponent().path
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      throw Failure(.failed, "there is no folder \(folder) for the picture; make it, or give another name")
    }
  }
}
