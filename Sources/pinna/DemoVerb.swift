import Acoustics
import AudioFiles
import Control
import Foundation
import JackClient
import Session
import Simulation

extension Verb {
  static let demo = Verb(
    name: "demo", summary: "all of it on a private dummy server with a simulated scene, in under a minute",
    options: [
      Option("--preset", "NAME", "preset to show (default: phone5)"),
      Option("--keep", "DIR", "keep the recordings there"), jsonOption,
    ]
  ) { arguments in
    let library = PresetLibrary.standard
    let preset = try library.preset(named: arguments["--preset"] ?? "phone5")
    let demo = try Demo(
      preset: preset, device: try library.device(named: preset.device), keep: arguments["--keep"],
      isQuiet: arguments.isJSON)
    let results = try demo.perform()
    print(arguments.isJSON ? try document(results.json) : results.table)
    return results.isRight ? .done : .failed
  }
}

/// One performance: server, processor, talkers and recorder of its own; all are stopped at its end.
final class Demo {
  private let preset: Preset
  private let device: Device
  private let scene: DemoScene
  /// The processor's name. jackd keeps sockets of servers and clients side by side, so that a client must not be
  /// called like its server.
  private let name = "demo-\(getpid())"
  private var serverName: String { "pinna-\(name)" }
  private let isQuiet: Bool
  private let folder: String
  private let keeps: Bool
  private let rate = 48000
  /// INT and TERM, which must not leave the server and the processor behind: they are process groups of their own.
  private let interruptions = SignalCount()

  init(preset: Preset, device: Device, keep: String?, isQuiet: Bool) throws {
    self.preset = preset
    self.device = device
    self.isQuiet = isQuiet
    keeps = keep != nil
    folder = keep ?? FileManager.default.temporaryDirectory.appending(path: "pinna-demo-\(getpid())").path
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw Failure(.failed, "cannot make the folder \(folder) for the recordings; give another with --keep")
    }
    let cases = device.filterCases.compactMap { filterCase in
      filterCase.inputOrientation.map {
        Selection(dataSource: filterCase.dataSource, polarPattern: .stereo, inputOrientation: $0)
      }
    }
    guard !cases.isEmpty else { throw Failure(.unsupported, "\(device.name) has no stereo to show") }
    scene = try DemoScene(device: device, cases: cases, sampleRate: rate)
    // Designed here, so that the progress is seen; the processor finds it in the cache.
    _ = try FilterSets(device: device, sampleRate: rate, progress: WorkProgress.designing(device.name))
  }

  func perform() throws -> DemoResults {
    Signals.onStop { [interruptions] in interruptions.next() }
    say("Starting a private JACK server and Pinna, preset \(preset.name) …")
    let server = try PrivateServer(name: serverName, sampleRate: rate, period: 256)
    defer { server.stop() }
    let processor = try startProcessor()
    defer { stop(processor) }
    try awaitProcessor(processor)
    defer { if !keeps { try? FileManager.default.removeItem(atPath: folder) } }

    let total = scene.microphones.frames
    let recorder = try SignalRecorder(
      name: "listener", server: serverName, channels: 3, capacityFrames: total + 10 * rate)
    let talkers = try SignalPlayer(
      name: "talkers", server: serverName, channels: scene.microphones.channels + [DemoHearing.clock(total)])
    guard recorder.connect(from: ArrayClient.outputNames.map { "\(name):\($0)" } + [talkers.portNames.last!]),
      talkers.connect(to: device.microphones.map { "\(name):\($0.name)" } + [recorder.portNames.last!])
    else { throw Failure(.failed, "the demo's own graph could not be connected") }

    say("Four voices speak in each of \(scene.cases.count) cases; the case changes while sound flows.")
    talkers.start()
    var refusal: String?
    var take: String?
    for (n, selection) in scene.cases.enumerated() {
      let answer = try change(to: selection)
      say("  \(n + 1). \(answer)")
      if n == scene.cases.count / 2 { (take, refusal) = try record(during: talkers) }
      try wait(for: talkers, seconds: Double(n + 1) * DemoScene.caseSeconds - 0.05)
    }
    while recorder.frames < total / 2 || !talkers.isFinished { usleep(10_000) }
    usleep(300_000)
    guard let start = talkers.startFrame else { throw Failure(.failed, "the talkers never spoke") }
    let heard = DemoHearing(
      recorder.channels(from: start, count: recorder.frames), reference: scene.microphones.channels[0])
    if keeps {
      try AudioClip(sampleRate: rate, channels: [heard.left, heard.right]).write(wav: folder + "/outputs.wav")
      try scene.microphones.write(wav: folder + "/microphones.wav")
    }
    return DemoResults(
      scene: scene, heard: heard, take: take, refusal: refusal, kept: keeps ? folder : nil)
  }

  /// A take of one voice, and a change that must be refused meanwhile.
  private func record(during talkers: SignalPlayer) throws -> (take: String?, refusal: String?) {
    let client = ControlClient(name: name)
    _ = try client.request(OSCMessage("/pinna/record/start", [.string(folder)]))
    usleep(1_000_000)
    let refused = try client.request(OSCMessage("/pinna/set/pattern", [.string("omnidirectional")]))
    usleep(500_000)
    let stopped = try client.request(OSCMessage("/pinna/record/stop"))
    let document = AnswerDocument(stopped.text)
    guard stopped.status == .done, refused.status == .refused else {
      throw Failure(.failed, "a change during a take was not refused: \(refused.text)")
    }
    say(
      "     a take; a change during it is refused: pattern omnidirectional → status \(refused.status.rawValue)"
    )
    let clip = try AudioClip(path: document.string("take"))
    return (
      "\(clip.frames) frames, \(clip.channels.count) channels, peak "
        + String(format: "%.1f dBFS", 20 * log10(Double(clip.channels.joined().map(\.magnitude).max() ?? 0))),
      refused.text
    )
  }

  private func change(to selection: Selection) throws -> String {
    let words = [
      "data-source", selection.dataSource, "pattern", selection.polarPattern.rawValue, "orientation",
      selection.inputOrientation.rawValue,
    ]
    let answer = try ControlClient(name: name).request(OSCMessage("/pinna/set", words.map { .string($0) }))
    guard answer.status == .done else { throw Failure(answer.status, answer.text) }
    return AnswerDocument(answer.text).changeText
  }

  private func wait(for talkers: SignalPlayer, seconds: Double) throws {
    let deadline = ContinuousClock.now + .seconds(30)
    while talkers.framesPlayed < min(Int(seconds * Double(rate)), talkers.frames) {
      guard interruptions.count == 0 else { throw Failure(.failed, "the demo was interrupted") }
      guard ContinuousClock.now < deadline else {
        throw Failure(.failed, "the private JACK server stands still; is this machine very busy?")
      }
      usleep(5000)
    }
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
