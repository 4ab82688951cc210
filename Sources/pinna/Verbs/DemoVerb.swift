import Acoustics
import AudioFiles
import FoundationEssentials
import Glibc
import JackClient
import JackTools
import LiveCheck
import Messages
import Presets
import Processor
import Settings
import Text
import Threads

extension Verb {
  static let demo = Verb(
    name: "demo",
    summary:
      "show everything with a simulated scene, in under a minute: on a private dummy server, or offline without jackd",
    options: [
      Option("--preset", "NAME", "preset to show (default: phone5)"),
      Option("--keep", "DIR", "keep the recordings and the picture in this folder"),
      Option("--force", nil, "replace those of an earlier demo in it"), jsonOption,
    ]
  ) { arguments in
    let isLive = PrivateServer.isPossible
    if isLive { try JackLibrary.useJACK2() }
    let (preset, device) = try arguments.presetAndDevice(in: .standard)
    let stage = try DemoStage(
      preset: preset, device: device, keep: arguments["--keep"], replaces: arguments.has("--force"),
      isQuiet: arguments.isJSON)
    let isRight = isLive ? try Demo(stage).perform() : try stage.performOffline()
    return isRight ? .done : .failed
  }
}

/// One run of the demo in a graph, with its own server, processor, simulator and recorder. They are stopped at its end.
final class Demo {
  private let stage: DemoStage
  /// The processor's name. It must differ from the server's: jackd keeps the sockets of servers and clients in one
  /// folder.
  private let name = "demo-\(getpid())"
  private var serverName: String { "pinna-\(name)" }
  /// Counts INT and TERM. The server and the processor have their own process groups, so the demo must stop them.
  private let interruptions = StopCount()

  init(_ stage: DemoStage) { self.stage = stage }

  /// - Returns: whether every voice came out as expected.
  func perform() throws -> Bool {
    defer { stage.clear() }
    Signals.onStop { [interruptions] in interruptions.next() }
    stage.say("Starting a private JACK server and Pinna, preset \(stage.preset.name) …")
    // A synchronous server waits for its clients. On a busy machine no client misses a period, and the take is
    // complete.
    let server = try PrivateServer(
      name: serverName, sampleRate: DemoStage.sampleRate, period: 256, synchronous: true)
    defer { server.stop() }
    let processor = try startProcessor()
    defer { stop(processor) }
    try awaitProcessor(processor)

    let graph = try GraphCheck(
      name: name, server: serverName, scene: stage.scene,
      microphones: stage.device.microphones.enumerated().map { ($1.name, $0) }, interruptions: interruptions,
      warn: Tool.complain)
    stage.announce()
    WorkProgress.begin("playing the voices")
    var take = (text: "", refusal: "")
    let output = try graph.listen { n, answer in
      stage.say("  \(n + 1). \(answer.text)")
      if n == stage.scene.cases.count / 2 { take = try record() }
    }
    return try stage.show(output, take: take)
  }

  /// Records a take of one voice, and requests a change that must be refused during it.
  private func record() throws -> (text: String, refusal: String) {
    let client = ControlClient(name: name)
    let started = try client.request(OSCMessage("/pinna/record/start", [.string(stage.folder)]))
      .document(TakeStartAnswer.self)
    usleep(1_000_000)
    let refused = try client.request(OSCMessage("/pinna/set/pattern", [.string("omnidirectional")]))
    usleep(500_000)
    let stopped = try client.request(OSCMessage("/pinna/record/stop"))
    guard refused.status == .refused else {
      throw Failure(.failed, "a change during a take was not refused: \(refused.text)")
    }
    guard stopped.status == .done else { throw Failure(stopped.status, stopped.text) }
    stage.say(
      "     a take; a change during it is refused: pattern omnidirectional → status \(refused.status.rawValue)"
    )
    let clip = try AudioClip(path: started.take)
    let peak = 20 * log10(Double(clip.channels.joined().map(\.magnitude).max() ?? 0))
    return (
      "\("frame".counted(clip.frames)), \("channel".counted(clip.channels.count)), peak "
        + String(format: "%.1f dBFS", peak),
      refused.text
    )
  }

  private func startProcessor() throws -> ChildProcess {
    try ChildProcess(
      URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path,
      ["run", "--server", serverName, "--name", name, "--preset", stage.preset.name],
      // A session manager's client is the user's Pinna, not this one.
      environment: ProcessInfo.processInfo.environment.filter { $0.key != "NSM_URL" })
  }

  private func awaitProcessor(_ process: ChildProcess) throws {
    for _ in 0..<200 {
      if let answer = try? ControlClient(name: name).request(OSCMessage("/pinna/status")),
        answer.status == .done
      {
        return
      }
      guard process.isRunning else { break }
      usleep(50_000)
    }
    throw Failure(.failed, "the processor did not start; try: pinna run --preset \(stage.preset.name)")
  }

  private func stop(_ process: ChildProcess) {
    _ = try? ControlClient(name: name).request(OSCMessage("/pinna/stop"), seconds: 3)
    process.terminate()
    process.waitUntilExit()
    // Its state file: no later run has this name.
    if let memory = RunMemoryFile.path(name: name) { try? FileManager.default.removeItem(atPath: memory) }
  }
}
