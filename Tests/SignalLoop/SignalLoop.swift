import AudioFiles
import Foundation
import JackClient
import JackTools
import LiveSupport

/// `signal-loop [--freewheel] IN.wav OUT.wav SINK… -- SOURCE…`: plays IN.wav into the sink ports, one channel each, and
/// records what comes out of the source ports; then come the microphones as they were played. OUT.wav begins with the
/// first frame of IN.wav, and is half a second longer.
///
/// A process of its own: which libjack it loads decides whether it joins JACK or PipeWire.
@main
enum SignalLoop {
  static func main() {
    JackConnection.silenceLibrary()
    var status: Int32 = 0
    do { try run() } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      status = 1
    }
    // libjack's exit handlers may wait for a server that a test is about to stop.
    fflush(nil)
    _exit(status)
  }

  private static func run() throws {
    var words = Array(CommandLine.arguments.dropFirst())
    let freewheels = words.first == "--freewheel"
    if freewheels { words.removeFirst() }
    let input = try AudioClip(path: words[0])
    let ports = words.dropFirst(2).split(separator: "--").map(Array.init)
    let channels = try capture(input, sinks: ports[0], sources: ports[1], freewheels: freewheels)
    try AudioClip(sampleRate: input.sampleRate, channels: channels).write(wav: words[1])
  }

  /// - Returns: the channels of the sources, then those that were played.
  static func capture(
    _ input: AudioClip, sinks: [String], sources: [String], freewheels: Bool
  ) throws -> [[Float]] {
    let player = try SignalPlayer(name: "loop-player", server: nil, channels: input.channels)
    let recorder = try SignalRecorder(
      name: "loop-recorder", server: nil, channels: sources.count + input.channels.count,
      capacityFrames: input.frames + 60 * input.sampleRate)
    guard waitUntil(seconds: 10, { (sinks + sources).allSatisfy(player.graph.hasPort) }) else {
      throw SupportError("these ports are not all there: \(sinks + sources)")
    }
    guard player.connect(to: sinks), recorder.connect(from: sources + player.portNames) else {
      throw SupportError("the ports cannot be connected")
    }
    guard !freewheels || player.graph.setFreewheel(true) else {
      throw SupportError("the server does not freewheel")
    }
    let settled = recorder.frames + input.sampleRate / 2
    guard waitUntil(seconds: 20, { recorder.frames >= settled }) else {
      throw SupportError("the graph stands still")
    }
    player.start()
    guard waitUntil(seconds: 60, { player.isFinished }) else { throw SupportError("the player stands still") }
    let end = recorder.frames + input.sampleRate
    guard waitUntil(seconds: 20, { recorder.frames >= end }) else {
      throw SupportError("the recorder stands still")
    }
    if freewheels { player.graph.setFreewheel(false) }
    guard let first = player.startFrame else { throw SupportError("nothing was played") }
    return recorder.channels(from: first, count: input.frames + input.sampleRate / 2)
  }
}
