import AudioFiles
import FilterBanks
import Glibc
import JackClient
import JackTools
import Messages
import Presets
import Settings
import Simulation

extension Verb {
  static let simulate = Verb(
    name: "simulate", operands: ["SCENE.yaml", "[OUT.wav]"],
    summary: "simulate a scene: its device's microphone signals, in a file or live on JACK ports",
    options: [
      Option("--rate", "HZ", "sample rate of the file (default: 48000)"),
      forceOption,
      Option("--live", nil, "play on JACK ports named after the microphones, at the server's rate"),
      Option("--connect", nil, "live: connect the ports to the running Pinna's microphones"),
      Option("--loop", nil, "live: repeat until Ctrl-C"), nameOption,
      Option("--client", "NAME", "live: JACK client name of the scene (default: scene)"),
      Option("--server", "NAME", "live: the JACK server (default: the default one)"), jsonOption,
    ]
  ) { arguments in
    if arguments.has("--live") { return try LiveScene(arguments).play() }
    try arguments.refuseWithoutLive("--connect", "--loop")
    guard arguments.operands.count == 2 else {
      throw Failure(.usage, "pinna simulate takes SCENE.yaml OUT.wav, or --live; see: pinna simulate --help")
    }
    let output = arguments.operands[1]
    try OutputPath.check(output, against: arguments.operands[0], replacing: arguments.has("--force"))
    let rate = try arguments.integer("--rate", in: Scene.sampleRates) ?? 48000
    let scene = try scene(arguments.operands[0])
    try OutputPath.check(
      output, channels: scene.device.microphones.count, sampleRate: rate, areMicrophones: true)
    let clip = try microphones(of: scene, sampleRate: rate)
    let written = try clip.write(
      output, areMicrophones: true, broadcast: .simulated(scene.title), replacing: arguments.has("--force"))
    arguments.print(
      json: report(scene, clip) + ["output": output],
      text:
        "\(written.sentence): \(scene.device.microphones.map(\.name).joined(separator: ", "))"
    )
    return .done
  }

  static func scene(_ path: String) throws -> Scene {
    let example = PresetLibrary.standard.folders.map { $0 + "/scenes/phone5-voices.yaml" }
      .first { access($0, R_OK) == 0 }
    try InputPath.check(path, "give a scene file" + (example.map { ", such as \($0)" } ?? ""))
    let scene = try Scene(file: path, library: .standard)
    for remark in scene.remarks { Tool.complain(remark) }
    return scene
  }

  static func microphones(of scene: Scene, sampleRate: Int) throws -> AudioClip {
    let clip = try scene.microphones(
      sampleRate: sampleRate, bodyCache: CacheFolder.bodies,
      progress: WorkProgress.soundField(scene.device.name), mixing: WorkProgress.step("adding voices"))
    if let overload = clip.overload(names: scene.device.microphones.map(\.name)) { Tool.complain(overload) }
    return clip
  }

  static func report(_ scene: Scene, _ clip: AudioClip) -> JSONObject {
    [
      "device": scene.device.name, "frames": clip.frames, "sampleRate": clip.sampleRate,
      "microphones": scene.device.microphones.map(\.name),
    ]
  }
}

/// `pinna simulate --live`: plays a scene as a JACK client.
struct LiveScene {
  private let arguments: Arguments
  private let server: String?
  private let client: String
  private let stops = StopCount()

  init(_ arguments: Arguments) throws(Failure) {
    guard arguments.operands.count == 1, arguments["--rate"] == nil else {
      throw Failure(
        .usage, "--live plays at the server's rate and writes no file; remove OUT.wav and --rate, or --live")
    }
    self.arguments = arguments
    server = arguments["--server"]
    client = arguments["--client"] ?? "scene"
  }

  /// Waits while the running Pinna designs filters: it has no ports yet.
  private func waitForFilters() {
    let show = WorkProgress.show("waiting until \(arguments.name) has designed its filters")
    var isWaiting = false
    while stops.count == 0,
      let answer = try? ControlClient(name: arguments.name).request(OSCMessage("/pinna/status"), seconds: 5),
      let status: StatusReport = try? answer.document(), status.server == .joining
    {
      show(min(0.99, status.change?.progress ?? 0))
      isWaiting = true
      usleep(500_000)
    }
    if isWaiting { show(1) }
  }

  func play() throws -> ExitStatus {
    Signals.onStop { [stops] in stops.next() }
    let scene = try Verb.scene(arguments.operands[0])
    let microphones = scene.device.microphones.map(\.name)
    // Errors of the server and of the ports are reported before anything is computed.
    let requests = ServerRequests(stops: stops)
    let probe = try requests.ask { [client, server] in try JackConnection(name: client, server: server) }
    let rate = probe.sampleRate
    if arguments.has("--connect") {
      waitForFilters()
      try MicrophonePorts.check(arguments.name, microphones, of: scene.device.name, in: probe)
    }
    probe.close()
    let clip = try Verb.microphones(of: scene, sampleRate: rate)
    guard stops.count == 0 else { return .done }
    let repeats = arguments.has("--loop")
    let source = try requests.ask { [client, server] in
      try SignalPlayer(
        name: client, server: server, channels: clip.channels, microphones: microphones, repeats: repeats,
        isSimulated: true)
    }
    if arguments.has("--connect") {
      let ports = microphones.map { "\(arguments.name):\($0)" }
      guard try requests.ask({ source.connect(to: ports) }) else {
        throw Failure(.failed, "the microphones of \(arguments.name) could not be connected; try again")
      }
    }
    WorkProgress.unwatch()
    Tool.complain("\(client) is in the graph: \(scene.title); stop with Ctrl-C")
    source.start()
    while stops.count == 0, repeats || !source.isFinished {
      guard !source.graph.isServerGone else {
        throw Failure(.noServer, "the JACK server has gone; start it again, then pinna simulate")
      }
      usleep(20_000)
    }
    // The last period was handed to JACK. Wait until it has been played.
    usleep(UInt32(2_000_000 * source.graph.period / rate))
    if arguments.isJSON {
      Tool.say(json: (Verb.report(scene, clip) + ["client": client, "played": source.framesPlayed]).text)
    }
    return .done
  }
}
