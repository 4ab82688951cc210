import Acoustics
import AudioFiles
import FilterBanks
import Glibc
import GuidedCheck
import JackTools
import LiveCheck
import Messages
import Presets
import Settings

extension Verb {
  static let check = Verb(
    name: "check",
    summary:
      "check that voices from left, right, front and behind come out correctly, in every case of a device",
    options: [
      Option("--preset", "NAME", "check this preset's device, without a server (default: phone5)"),
      Option("--array", "DEVICE", "the device in the simulated sound field (default: the preset's own)"),
      Option(
        "--look", "AZ[,EL]|off",
        "check a mono pattern that looks there, in degrees as for set (default: the preset's)"),
      lookPatternOption, lookSourceOption, settingOptions([.adapt], " (default: off)")[0],
      Option("--live", nil, "check the running Pinna; its microphones must not be connected"), nameOption,
      Option("--server", "NAME", "JACK server of --live and --play (default: the default one)"),
      Option("--play", nil, "then play the result on the system's playback ports"),
      Option("--picture", "FILE", "also draw where each voice came out; .png or .svg"),
      Option("--force", nil, "replace the file of --picture"), jsonOption,
    ]
  ) { arguments in
    let stops = StopCount()
    let isLive = arguments.has("--live")
    // Without --live nothing polls `stops`, so the default action of the signals ends the program at once.
    if isLive { Signals.onStop { stops.next() } }
    let picture = try arguments["--picture"].map {
      try OutputFile(picture: $0, replacing: arguments.has("--force"))
    }
    let playback =
      arguments.has("--play") ? try CheckPlayback(server: arguments["--server"], stops: stops) : nil
    let run =
      isLive
      ? try CheckRun(live: arguments, stops: stops)
      : try CheckRun(offline: arguments, sampleRate: playback?.sampleRate ?? 48000)
    WorkProgress.begin("finding where each voice came out")
    let results = CheckResults(run.check.scene, run.output)
    let fixed = run.fixed.map { CheckResults(run.check.scene, $0) }
    if let picture {
      try CheckPicture(results, beside: fixed, device: run.device, name: run.device.name).write(picture)
    }
    let feeds =
      run.preset.map { $0.feedRemarks(run.check.cases.map(\.filterCase), on: run.device) } ?? []
    if arguments.isJSON {
      Tool.say(
        json: (results.json + [
          "device": run.device.name, "array": run.array.name, "live": isLive,
          "adaptation": run.adaptation > 0 ? run.adaptation : nil,
          "fixedCases": fixed?.cases.map(\.json), "remarks": run.check.remarks,
          "feeds": feeds.isEmpty ? nil : feeds,
        ]).text)
    } else {
      Tool.say(results.table)
      if let fixed { Tool.say(results.angles(beside: fixed)) }
      for sentence in feeds { Tool.say(sentence) }
      for remark in run.check.remarks { Tool.say("The array was \(remark).") }
      if let picture { Tool.say("The picture is \(picture.path).") }
    }
    if let playback {
      if !isLive { Signals.onStop { stops.next() } }
      try playback.play(run.output, of: run.check.scene) { if !arguments.isJSON { Tool.say($0) } }
    }
    return results.isRight ? .done : .failed
  }
}

/// One run of `pinna check`.
private struct CheckRun {
  /// Nil for that of a running Pinna.
  let preset: Preset?
  let device: Device
  /// The device in the sound field.
  let array: Device
  let check: DeviceCheck
  /// How far stereo follows the sound.
  let adaptation: Double
  let output: CheckOutput
  /// What the filters give that do not follow the sound; nil if `output` is that.
  var fixed: CheckOutput?

  init(offline arguments: Arguments, sampleRate: Int) throws {
    try arguments.refuseWithoutLive("--name")
    let strength = try arguments["--adapt"].map { try Change(.adapt, $0) }
    let library = PresetLibrary.standard
    let given = try arguments.presetAndDevice(in: library)
    given.preset.complainOfPose()
    let selection = try arguments.look(of: given.preset, on: given.device)
    preset = given.preset
    adaptation =
      if case .set(_, let value)? = strength { value.number ?? 0 } else { given.preset.main.adaptation }
    // The whole device in the field, one case of it through the filters.
    device = try selection.flatMap { try given.device.ownDevice(of: $0) } ?? given.device
    array = try arguments["--array"].map { try library.device(named: $0) } ?? given.device
    check = try Self.check(device, look: selection?.look, in: array, sampleRate: sampleRate)
    output = try check.output(adaptation: adaptation, progress: WorkProgress.step("rendering"))
    if adaptation > 0, check.cases.contains(where: \.isStereo) {
      fixed = try check.output(progress: WorkProgress.step("rendering without adaptation"))
    }
  }

  init(live arguments: Arguments, stops: StopCount) throws {
    guard ["--look", "--pattern", "--data-source"].allSatisfy({ arguments[$0] == nil }) else {
      throw Failure(.usage, "--live checks the device's own cases; remove --look, or --live")
    }
    guard arguments["--adapt"] == nil else {
      throw Failure(.usage, "--live checks the fixed filters; remove --adapt, or --live")
    }
    adaptation = 0
    guard arguments["--preset"] == nil else {
      throw Failure(.usage, "--live checks what the running Pinna uses; remove --preset, or --live")
    }
    let running = try RunningPinna(name: arguments.name)
    let library = PresetLibrary.standard
    preset = nil
    device = try library.device(named: running.device)
    array = try arguments["--array"].map { try library.device(named: $0) } ?? device
    try running.checkCalibration(of: device)
    try running.checkMicrophones(of: device, server: arguments["--server"], stops: stops)
    check = try Self.check(device, in: array, sampleRate: running.sampleRate)
    let graph = try GraphCheck(
      name: arguments.name, server: arguments["--server"], scene: check.scene,
      microphones: zip(device.microphones, check.channels).map { ($0.name, $1) }, interruptions: stops,
      warn: Tool.complain)
    defer { running.restore(warn: Tool.complain) }
    try running.prepare()
    let cases = check.cases
    /// A check in a graph takes as long as its voices. A pipe gets the plain line.
    func left(_ cases: Int) -> String {
      guard isatty(STDERR_FILENO) == 1 else { return "" }
      return "; " + TimeLeft.text(seconds: Double(cases) * CheckScene.caseSeconds)
    }
    WorkProgress.begin("playing the voices")
    output = try graph.listen { n, _ in
      if !arguments.isJSON {
        Tool.complain("case \(n + 1) of \(cases.count): \(cases[n].name)" + left(cases.count - n))
      }
    }
  }

  private static func check(
    _ device: Device, look: Look? = nil, in array: Device, sampleRate: Int
  ) throws -> DeviceCheck {
    let designing = WorkProgress.designing(device.name)
    let simulating = WorkProgress.soundField(array.name)
    return try DeviceCheck(
      of: device, look: look, in: array, sampleRate: sampleRate, bodyCache: CacheFolder.bodies,
      progress: { step, part in
        switch step {
        case .designing: designing(part)
        case .simulating: simulating(part)
        }
      }, mixing: WorkProgress.step("adding voices"))
  }
}
