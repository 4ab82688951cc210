import Acoustics
import AudioFiles
import Control
import FilterBanks
import Foundation
import GuidedCheck
import JackClient
import JackTools
import LiveCheck
import Presets
import Rendering
import Simulation

extension Verb {
  static let demo = Verb(
    name: "demo",
    summary: "show everything on a private dummy server with a simulated scene, in under a minute",
    options: [
      Option("--preset", "NAME", "preset to show (default: phone5)"),
      Option("--keep", "DIR", "keep the recordings and the picture in this folder"), jsonOption,
    ]
  ) { arguments in
    try JackLibrary.useJACK2()
    let library = PresetLibrary.standard
    let preset = try library.preset(named: arguments["--preset"] ?? "phone5")
    let demo = try Demo(
      preset: preset, device: try library.device(named: preset.device), keep: arguments["--keep"],
      isQuiet: arguments.isJSON)
    return try demo.perform() ? .done : .failed
  }
}

/// One run of the demo, with its own server, processor, simulator and recorder. They are stopped at its end.
final class Demo {
  private let preset: Preset
  private let device: Device
  private let scene: CheckScene
  /// The processor's name. It must differ from the server's: jackd keeps the sockets of servers and clients in one
  /// folder.
  private let name = "demo-\(getpid())"
  private var serverName: String { "pinna-\(name)" }
  private let isQuiet: Bool
  private let folder: String
  private let keeps: Bool
  private let rate = 48000
  /// Counts INT and TERM. The server and the processor have their own process groups, so the demo must stop them.
  private let interruptions = StopCount()

  init(preset: Preset, device: Device, keep: String?, isQuiet: Bool) throws {
    self.preset = preset
    self.device = device
    self.isQuiet = isQuiet
    keeps = keep != nil
    let requested = try OutputPath.absolute(
      keep ?? FileManager.default.temporaryDirectory.appending(path: "pinna-demo-\(getpid())").path)
    do {
      try FileManager.default.createDirectory(atPath: requested, withIntermediateDirectories: true)
    } catch {
      throw Failure(
        .failed, "cannot create the folder \(requested) for the recordings; give another with --keep")
    }
    folder = try OutputPath.withoutLinks(requested)
    // Designing here shows the progress. The processor then finds the filters in the cache.
    let sets = try FilterSets(
      device: device, sampleRate: rate, progress: WorkProgress.designing(device.name))
    let cases = CheckCase.all(of: sets.bank.offered(of: device)).filter(\.isStereo)
    guard !cases.isEmpty else {
      throw Failure(
        .unsupported, "\(device.name) offers no stereo, which the demo needs; give another preset")
    }
    scene = try CheckScene(
      array: device, cases: cases, sampleRate: rate, progress: WorkProgress.soundField(device.name))
  }

  /// - Returns: whether every voice came out as expected.
  func perform() throws -> Bool {
    Signals.onStop { [interruptions] in interruptions.next() }
    say("Starting a private JACK server and Pinna, preset \(preset.name) …")
    // A synchronous server waits for its clients. On a busy machine no client misses a period, and the take is
    // complete.
    let server = try PrivateServer(name: serverName, sampleRate: rate, period: 256, synchronous: true)
    defer { server.stop() }
    let processor = try startProcessor()
    defer { stop(processor) }
    try awaitProcessor(processor)
    defer { if !keeps { try? FileManager.default.removeItem(atPath: folder) } }

    let graph = try GraphCheck(
      name: name, server: serverName, scene: scene,
      microphones: device.microphones.enumerated().map { ($1.name, $0) }, interruptions: interruptions,
      warn: Tool.complain)
    say("Four voices speak in each of \(scene.cases.count) cases; the case changes while sound flows.")
    var take = (text: "", refusal: "")
    let output = try graph.listen { n, answer in
      say("  \(n + 1). \(answer.text)")
      if n == scene.cases.count / 2 { take = try record() }
    }
    if keeps {
      try AudioClip(sampleRate: rate, channels: [output.left, output.right]).write(
        wav: folder + "/outputs.wav")
      try scene.microphones.write(wav: folder + "/microphones.wav")
    }
    let results = CheckResults(scene, output)
    let picture = try draw(results)
    if isQuiet {
      print((results.json + ["take": take.text, "refused": take.refusal, "picture": picture]).text)
    } else {
      say("\n" + results.table)
      say("Take: \(take.text). Refused during it: \(take.refusal)")
      say(keeps ? "The recordings are in \(folder)." : "Keep the recordings with: pinna demo --keep DIR")
      say("A picture of where each voice came out is \(picture).")
    }
    return results.isRight
  }

  /// Draws the results in the folder of the recordings, or in the cache folder if those are not kept.
  /// - Returns: the path of the picture.
  private func draw(_ results: CheckResults) throws -> String {
    let pictureFolder = keeps ? folder : CacheFolder.path
    try FileManager.default.createDirectory(atPath: pictureFolder, withIntermediateDirectories: true)
    let path = pictureFolder + "/demo.png"
    try CheckPicture(results, of: preset.name).write(path)
    return path
  }

  /// Records a take of one voice, and requests a change that must be refused during it.
  private func record() throws -> (text: String, refusal: String) {
    let client = ControlClient(name: name)
    let started = try client.request(OSCMessage("/pinna/record/start", [.string(folder)]))
      .document(TakeStartAnswer.self)
    usleep(1_000_000)
    let refused = try client.request(OSCMessage("/pinna/set/pattern", [.string("omnidirectional")]))
    usleep(500_000)
    let stopped = try client.request(OSCMessage("/pinna/record/stop"))
    guard refused.status == .refused else {
      throw Failure(.failed, "a change during a take was not refused: \(refused.text)")
    }
    guard stopped.status == .done else { throw Failure(stopped.status, stopped.text) }
    say(
      "     a take; a change during it is refused: pattern omnidirectional → status \(refused.status.rawValue)"
    )
    let clip = try AudioClip(path: started.take)
    let peak = 20 * log10(Double(clip.channels.joined().map(\.magnitude).max() ?? 0))
    return (
      "\(clip.frames) frames, \(clip.channels.count) channels, peak " + String(format: "%.1f dBFS", peak),
      refused.text
    )
  }

  private func startProcessor() throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["run", "--server", serverName, "--name", name, "--preset", preset.name]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  private func awaitProcessor(_ process: Process) throws {
    for _ in 0..<200 {
      if let answer = try? ControlClient(name: name).request(OSCMessage("/pinna/status")),
        answer.status == .done
      {
        return
      }
      guard process.isRunning else { break }
      usleep(50_000)
    }
    throw Failure(.failed, "the processor did not start; try: pinna run --preset \(preset.name)")
  }

  private func stop(_ process: Process) {
    _ = try? ControlClient(name: name).request(OSCMessage("/pinna/stop"), seconds: 3)
    if process.isRunning { process.terminate() }
    process.waitUntilExit()
  }

  private func say(_ line: String) {
    if !isQuiet { Tool.say(line) }
  }
}
