import Acoustics
import ArrayCheck
import AudioFiles
import FoundationEssentials
import Glibc
import Messages
import Presets
import Rendering
import Settings
import Text

extension Verb {
  private static let arrayOption = Option(
    "--device", "DEVICE", "the array: the name of a device, or a device file")

  private static let liveOption = Option(
    "--live", nil, "listen to the microphones in the JACK graph, in place of a file")
  private static let liveNameOption = Option(
    "--name", "NAME", "live: take what is connected to this running Pinna (default: pinna)")
  private static let liveServerOption = Option(
    "--server", "NAME", "live: the JACK server (default: the default one)")

  static let arrayCheck = Verb(
    name: "array check", operands: ["[FILE.wav]"],
    summary:
      "check from ordinary sound whether an array is healthy and wired as its device says; status 1 if not",
    options: [
      arrayOption, liveOption,
      Option(
        "--guided", nil, "live: ask for a tap on every microphone in turn, and say which channel answers"),
      Option(
        "--seconds", "N", "live: how long to listen, with --guided to each microphone, 2 to 60 (default: 10)"),
      liveNameOption, liveServerOption, jsonOption,
    ]
  ) { arguments in
    var device = try arrayDevice(arguments)
    if arguments.has("--guided") {
      let verdict = TapVerdict(of: device, answers: try ArraySound.taps(arguments, device: device))
      arguments.print(json: ArrayCheckText.json(verdict), text: ArrayCheckText.table(verdict))
      return verdict.isWell ? .done : .failed
    }
    let clip = try ArraySound.listen(arguments, device: device).clip
    if let path = arguments.operands.first { device = SimulatedSound.device(device, in: path) }
    let verdict = try ArrayCheck.verdict(
      on: clip.channels, of: device, sampleRate: clip.sampleRate,
      progress: WorkProgress.soundField(device.name))
    arguments.print(json: ArrayCheckText.json(verdict), text: ArrayCheckText.table(verdict))
    return verdict.isWell ? .done : .failed
  }

  static let arrayCalibrate = Verb(
    name: "array calibrate", operands: ["[FILE.wav]"],
    summary:
      "measure gain, delay and polarity of an array's microphones in sound from all around, and keep them",
    options: [
      arrayOption, liveOption,
      Option("--seconds", "N", "live: how long to listen, 2 to 60 (default: 10)"), liveNameOption,
      liveServerOption, Option("--yes", nil, "write the calibration without asking"),
      Option("--yes-simulated", nil, "the same, even if the sound is of pinna simulate"), jsonOption,
    ]
  ) { arguments in
    let library = PresetLibrary.standard
    let device = try arrayDevice(arguments)
    guard let path = library.calibrationPath(of: device) else {
      throw Failure(.failed, "there is no folder for calibrations; set XDG_CONFIG_HOME or HOME")
    }
    let (clip, source) = try ArraySound.listen(arguments, device: device)
    let isConfirmed = arguments.has("--yes-simulated")
    guard source != .simulated || isConfirmed else {
      throw Failure(
        .failed,
        "\(arguments.operands.first ?? "what is connected") is of pinna simulate, so the deviations in it are not those of "
          + "your \(device.name); calibrate with sound of the array itself, or add --yes-simulated")
    }
    let measured = try ArrayCalibration(
      of: device, signals: clip.channels, sampleRate: clip.sampleRate, date: today(), source: source,
      progress: WorkProgress.soundField(device.name))
    // Without it the calibration can still be written.
    let benefit = try? CalibrationBenefit(
      of: device.with(calibration: nil), calibration: measured.calibration, sampleRate: clip.sampleRate)
    let document = ArrayCheckText.json(measured) + ["benefit": benefit?.json]
    if !arguments.isJSON {
      Tool.say(([ArrayCheckText.table(measured)] + (benefit?.lines ?? [])).joined(separator: "\n"))
    }
    guard arguments.has("--yes") || isConfirmed || confirms(path) else {
      if arguments.isJSON { Tool.say(json: (document + ["written": false]).text) }
      Tool.complain(
        isatty(STDIN_FILENO) == 1
          ? "nothing was written" : "nothing was written, because nobody can be asked; add --yes")
      return .failed
    }
    try CalibrationFile.write(measured.calibration, of: device, to: path)
    arguments.print(
      json: document + ["written": true, "file": path],
      text: "Written to \(path). It applies wherever \(device.name) is used; remove the file to undo it.")
    return .done
  }

  private static func arrayDevice(_ arguments: Arguments) throws -> Device {
    guard let word = arguments["--device"] else {
      throw Failure(
        .usage, "no device is given; add --device NAME, or --device FILE.yaml for one of your own")
    }
    return try device(word, in: PresetLibrary.standard)
  }

  /// Whether the user lets `path` be written; not without a terminal.
  private static func confirms(_ path: String) -> Bool {
    guard isatty(STDIN_FILENO) == 1 else { return false }
    let exists = FileManager.default.fileExists(atPath: path)
    Output.show("\(exists ? "Replace" : "Write this to") \(path.printable)? [y/N] ")
    return ["y", "yes"].contains((readLine() ?? "").lowercased().trimmed())
  }

  /// The day by the local calendar: "2026-11-23".
  private static func today() -> String {
    var now = time(nil)
    var parts = tm()
    localtime_r(&now, &parts)
    func padded(_ value: Int32) -> String { (value < 10 ? "0" : "") + "\(value)" }
    return "\(parts.tm_year + 1900)-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
  }
}

/// Where the sound of `pinna array` comes from.
private enum ArraySound {
  /// The channel that answers a tap on each microphone, in the JACK graph.
  static func taps(_ arguments: Arguments, device: Device) throws -> [TapAnswer?] {
    try arguments.refuseWithoutLive("--guided")
    try refuseFile(arguments)
    return try LiveArraySound(arguments, device: device).taps()
  }

  private static func refuseFile(_ arguments: Arguments) throws(Failure) {
    guard let file = arguments.operands.first else { return }
    throw Failure(.usage, "--live listens to the graph; remove \(file), or --live")
  }

  /// One channel per microphone or all channels of the product, and where the sound comes from.
  static func listen(
    _ arguments: Arguments, device: Device
  ) throws -> (clip: AudioClip, source: Calibration.Source) {
    if arguments.has("--live") {
      try refuseFile(arguments)
      let (clip, isSimulated) = try LiveArraySound(arguments, device: device).record()
      return (clip, isSimulated ? .simulated : .live)
    }
    try arguments.refuseWithoutLive("--seconds", "--name", "--server")
    guard let path = arguments.operands.first else {
      throw Failure(.usage, "no recording is given; give FILE.wav with one channel per microphone, or --live")
    }
    try TakeMicrophones(path, tell: Tool.complain)?.check(device)
    let file = try MicrophoneFile(path, of: device, "give a recording with one channel per microphone")
    let limit = ArrayCheck.framesUsed(channels: file.reader.channels, sampleRate: file.reader.sampleRate)
    let clip = AudioClip(
      sampleRate: file.reader.sampleRate, channels: try file.reader.channels(frames: limit))
    if clip.frames == limit, try !file.reader.read(frames: 1).isEmpty {
      Tool.complain("\(path) is longer than \(limit / clip.sampleRate) s; only these are judged")
    }
    if let remark = file.reader.headerRemark { Tool.complain(remark) }
    return (clip, BroadcastExtension.simulatedScene(at: path) == nil ? .file : .simulated)
  }
}
