import Acoustics
import AudioFiles
import Glibc
import JackClient
import JackTools
import Messages
import Settings

/// Records what the microphones of an array send into the JACK graph.
struct LiveArraySound {
  let device: Device
  private let pinna: String
  private let server: String?
  let seconds: Int
  private let isQuiet: Bool
  let stops = StopCount()

  init(_ arguments: Arguments, device: Device) throws(Failure) {
    self.device = device
    pinna = arguments.name
    server = arguments["--server"]
    seconds = try arguments.integer("--seconds", in: 2...60) ?? 10
    isQuiet = arguments.isJSON
  }

  /// - Returns: one channel per microphone, and whether it is the sound of `pinna simulate`.
  func record() throws -> (clip: AudioClip, isSimulated: Bool) {
    try withSources { requests, rate, sources in try record(requests, rate: rate, sources: sources) }
  }

  /// Calls `body` with the server's sample rate and the ports that deliver the microphones, in the device's order.
  func withSources<Result>(_ body: (ServerRequests, Int, [String]) throws -> Result) throws -> Result {
    Signals.onStop { [stops] in stops.next() }
    let requests = ServerRequests(stops: stops)
    let probe = try requests.ask { [server, clientName] in
      try JackConnection(name: clientName, server: server)
    }
    let rate = probe.sampleRate
    let sources: [String]
    do {
      defer { probe.close() }
      sources = try self.sources(in: probe)
    }
    return try body(requests, rate, sources)
  }

  private var clientName: String { "array-\(getpid())" }

  /// A recorder of `sources` that has begun to record.
  /// - Parameter name: the end of its client's name.
  func recorder(
    _ requests: ServerRequests, name: String, sources: [String], frames: Int
  ) throws -> SignalRecorder {
    let recorder = try requests.ask { [server, clientName] in
      try SignalRecorder(
        name: "\(clientName)-\(name)", server: server, channels: sources.count, capacityFrames: frames)
    }
    guard try requests.ask({ recorder.connect(from: sources) }) else {
      throw Failure(.failed, "the capture ports \(sources[0]) … could not be connected; try again")
    }
    return recorder
  }

  private func record(
    _ requests: ServerRequests, rate: Int, sources: [String]
  ) throws -> (clip: AudioClip, isSimulated: Bool) {
    let frames = seconds * rate
    let recorder = try recorder(requests, name: "in", sources: sources, frames: frames)
    WorkProgress.begin("listening to the microphones")
    if !isQuiet { Tool.complain("listening for \(seconds) s: speak from several sides, or play music") }
    let start = recorder.frames
    let end = ContinuousClock.now + .seconds(seconds + 10)
    while recorder.frames < frames, stops.count == 0, .now < end { usleep(20_000) }
    guard recorder.frames == frames else {
      throw Failure(
        .failed, "the recording was interrupted after \((recorder.frames - start) / rate) s; try again")
    }
    let isSimulated = sources.contains { SignalPlayer.isSimulated($0, in: recorder.graph) }
    return (AudioClip(sampleRate: rate, channels: recorder.channels(at: 0, count: frames)), isSimulated)
  }

  /// The ports that deliver the microphones: those connected to a running Pinna, those that the device file names, or
  /// the capture channels of the sound card.
  private func sources(in graph: JackConnection) throws(Failure) -> [String] {
    let microphones = device.microphones.map { "\(pinna):\($0.name)" }
    let connected = microphones.map { graph.connections(of: $0).first }
    let open = zip(microphones, connected).filter { $1 == nil }.map(\.0)
    if open.isEmpty { return connected.compactMap { $0 } }
    // Another device's microphones may have some of the names.
    if open.count < microphones.count, microphones.allSatisfy(graph.hasPort) {
      throw Failure(
        .failed,
        "\(open.joined(separator: ", ")) \(open.count == 1 ? "is" : "are") not connected, and the other microphones of "
          + "\(pinna) are; connect all of them, or none to listen to the sound card")
    }
    if device.capturePorts.count == device.microphones.count { return device.capturePorts }
    let physical = graph.physicalCapturePorts.map {
      CapturePort(name: $0, client: graph.clientName(ofPort: $0), aliases: graph.aliases(of: $0))
    }
    let ports = device.captureWiring(from: physical).compactMap { $0?.name }
    guard ports.count == device.microphones.count else {
      throw Failure(
        .failed,
        "\(device.name) needs capture channel \(device.captureChannels.max() ?? 0), but the server has "
          + "\(physical.count) capture ports; connect the array's ports to a running Pinna first, or start the server on "
          + "the array")
    }
    return ports
  }
}
