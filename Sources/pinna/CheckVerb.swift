import Acoustics
import AudioFiles
import Control
import Foundation
import JackClient
import Session

extension Verb {
  static let check = Verb(
    name: "check",
    summary:
      "whether voices from the left, right, front and behind come out there, in every case of a device",
    options: [
      Option("--preset", "NAME", "preset whose device is checked, without a server (default: phone5)"),
      Option("--array", "DEVICE", "the device that stands in the sound (default: the preset's own)"),
      Option("--live", nil, "through the running Pinna; its microphones must not be connected"), nameOption,
      Option("--server", "NAME", "of --live and --play: the JACK server (default: the default one)"),
      Option("--play", nil, "then play what came out on the system's playback ports"),
      Option("--picture", "FILE", "also draw where each voice came out, as .png or .svg"), jsonOption,
    ]
  ) { arguments in
    let stops = SignalCount()
    let isLive = arguments.has("--live")
    // Where nothing asks for stops, a signal ends the program at once.
    if isLive { Signals.onStop { stops.next() } }
    let picture = arguments["--picture"]
    if let picture { try PictureFile.check(picture) }
    let playback = arguments.has("--play") ? try CheckPlayback(server: arguments["--server"]) : nil
    let check =
      isLive
      ? try Check(live: arguments, stops: stops)
      : try Check(offline: arguments, sampleRate: playback?.sampleRate ?? 48000)
    let results = CheckResults(check.scene, heard: check.heard)
    if let picture { try CheckPicture(results, of: check.device.name).write(picture) }
    if arguments.isJSON {
      print(
        try document(
          results.json.merging([
            "device": check.device.name, "array": check.array.name, "live": isLive,
          ]) { $1 }))
    } else {
      print(results.table)
      if let picture { print("The picture is \(picture).") }
    }
    if let playback {
      if !isLive { Signals.onStop { stops.next() } }
      try playback.play(check, stops: stops) { if !arguments.isJSON { Tool.say($0) } }
    }
    return results.isRight ? .done : .failed
  }
}

/// A device that was checked: what was played to it and what came out.
struct Check {
  let device: Device
  /// What stood in the sound.
  let array: Device
  let scene: CheckScene
  let heard: Hearing

  init(offline arguments: Arguments, sampleRate: Int) throws {
    guard arguments["--name"] == nil else {
      throw Failure(.usage, "--name goes with --live; add that, or remove it")
    }
    let library = PresetLibrary.standard
    let preset = try library.preset(named: arguments["--preset"] ?? "phone5")
    device = try library.device(named: preset.device)
    array = try arguments["--array"].map { try library.device(named: $0) } ?? device
    let channels = try Self.channels(of: device, in: array)
    let sets = try FilterSets(
      device: device, sampleRate: sampleRate, progress: WorkProgress.designing(device.name))
    scene = try CheckScene(
      array: array, cases: Self.cases(of: sets.bank.offered(of: device)), sampleRate: sampleRate)
    heard = try Hearing(scene, through: sets, of: device, channels: channels)
  }

  init(live arguments: Arguments, stops: SignalCount) throws {
    guard arguments["--preset"] == nil else {
      throw Failure(.usage, "--live checks what the running Pinna uses; remove --preset, or --live")
    }
    let running = try RunningPinna(name: arguments.name)
    let library = PresetLibrary.standard
    device = try library.device(named: running.device)
    array = try arguments["--array"].map { try library.device(named: $0) } ?? device
    let channels = try Self.channels(of: device, in: array)
    try running.checkMicrophones(of: device, server: arguments["--server"])
    let sets = try FilterSets(
      device: device, sampleRate: running.sampleRate, progress: WorkProgress.designing(device.name))
    scene = try CheckScene(
      array: array, cases: Self.cases(of: sets.bank.offered(of: device)), sampleRate: running.sampleRate)
    let graph = try GraphCheck(
      name: arguments.name, server: arguments["--server"], scene: scene,
      microphones: zip(device.microphones, channels).map { ($0.name, $1) }, interruptions: stops)
    defer { running.restore() }
    try running.prepare()
    let cases = scene.cases
    heard = try graph.listen { n, _ in
      if !arguments.isJSON { Tool.complain("case \(n + 1) of \(cases.count): \(cases[n].name)") }
    }
  }

  /// Where the microphones of `device` are in `array`, by their names.
  private static func channels(of device: Device, in array: Device) throws(Failure) -> [Int] {
    var channels: [Int] = []
    for microphone in device.microphones {
      guard let channel = array.microphoneIndex(named: microphone.name) else {
        throw Failure(
          .failed,
          "\(array.name) has no microphone \"\(microphone.name)\", which \(device.name) has; give an --array with "
            + "the same microphones")
      }
      channels.append(channel)
    }
    return channels
  }

  private static func cases(of offered: Device) throws(Failure) -> [CheckCase] {
    let cases = CheckCase.all(of: offered)
    guard !cases.isEmpty else {
      throw Failure(
        .unsupported,
        "\(offered.name) offers no pattern that tells directions apart, so that there is nothing to check")
    }
    return cases
  }
}
