import Acoustics
import Adaptation
import ArrayCheck
import AudioFiles
import FoundationEssentials
import Glibc
import Messages
import Presets
import Recording
import Rendering
import Settings
import Text

extension Verb {
  static let talkers = Verb(
    name: "talkers", operands: ["[TAKE.wav]", "[OUT]"],
    many: ("--takes", "--takes FOLDER [FOLDER …] --into DIR"),
    summary:
      "tell who speaks where, of up to four; or who spoke when and where in a take or a recording of microphones",
    options: [
      Option("--follow", nil, "ten times a second, a line when it changes, until Ctrl-C"),
      Option(
        "--to", "FORMAT",
        "of a take or a recording: \(TalkerFormat.allCases.map(\.rawValue).joined(separator: ", ")) (default: csv), to OUT or to standard output"
      ),
      seatOption,
      Option(
        "--device", "DEVICE",
        "a device that the file is a recording of, by its microphones: its name, or its file"),
      Option(
        "--takes", "FOLDER",
        "of all takes in this folder, in those within it and in further operands; what is there is skipped"),
      Option("--into", "DIR", "takes: the folder of their files"),
      Option("--jobs", "N", "takes: how many at a time (default: one per core)"),
      forceOption, nameOption, jsonOption,
    ]
  ) { arguments in
    if arguments.has("--takes") { return try TalkersBatch(arguments).run() }
    for option in ["--into", "--jobs"] where arguments.has(option) {
      throw Failure(.usage, "\(option) needs --takes; add --takes FOLDER, or remove \(option)")
    }
    guard let path = arguments.operands.first else { return try tellTalkers(arguments) }
    for option in ["--follow", "--name"] where arguments.has(option) {
      throw Failure(.usage, "\(option) is of a running Pinna, and \(path) a file; leave one out")
    }
    guard !arguments.isJSON || arguments["--to"].map({ $0.lowercased() == "json" }) ?? true else {
      throw Failure(.usage, "--json and --to exclude each other; give one")
    }
    let format = try arguments.isJSON ? .json : TalkerFormat(word: arguments["--to"] ?? "csv")
    let seats = try Seat.list(arguments.options["--seat"] ?? [])
    let output = try arguments.operands.dropFirst().first.map {
      if format == .json, let sound = Sidecar.sound(besides: $0) {
        throw Failure(
          .usage,
          "\($0) has the name of the sidecar of \(sound); give another, such as \($0.dropLast(5))-talkers.json"
        )
      }
      return try OutputFile($0, replacing: arguments.has("--force"))
    }
    var recording = try TalkerRecording(path, device: arguments["--device"])
    let (text, remarks) = format.text(try recording.utterances(seats: seats), of: recording.name)
    for remark in recording.remarks + remarks { Tool.complain(remark) }
    guard let output else {
      let lines = String(text.dropLast())
      if !text.isEmpty { format == .json ? Tool.say(json: lines) : Tool.say(lines) }
      return .done
    }
    try output.write(text.utf8)
    return .done
  }

  /// Who speaks now.
  private static func tellTalkers(_ arguments: Arguments) throws -> ExitStatus {
    for option in ["--to", "--seat", "--device", "--force"] where arguments.has(option) {
      throw Failure(.usage, "\(option) is of a take or a recording; give its file: pinna talkers TAKE.wav")
    }
    guard arguments.has("--follow") else {
      return try ask(arguments, OSCMessage("/pinna/talkers"), \TalkersAnswer.text)
    }
    let client = ControlClient(name: arguments.name)
    var last = ""
    while !Output.isUnread {
      let answer = try client.request(OSCMessage("/pinna/talkers"), seconds: 30)
      let isTold = answer.status == .done
      let text =
        arguments.isJSON || !isTold ? answer.text : try (answer.document() as TalkersAnswer).text
      // What stands in the way may pass: another device, another server.
      if text != last { isTold ? Tool.say(text) : Tool.complain(text) }
      last = text
      usleep(100_000)
    }
    return .done
  }
}

/// A take, or a recording of a device's microphones, in which somebody speaks.
struct TalkerRecording {
  /// Of the take, or of the file without its ending.
  let name: String
  private let path: String
  private let take: TakeMicrophones?
  private let sidecar: Sidecar?
  private let device: String?
  private(set) var remarks: [String] = []

  /// - Parameter device: as typed; nil for that of a take.
  init(_ path: String, device: String?) throws {
    (self.path, self.device) = (path, device)
    try InputPath.check(path, "give a take, or a recording of microphones with --device")
    let found = device == nil ? try Sidecar.ofFile(at: path) : nil
    take = device == nil ? TakeMicrophones(path, tell: Tool.complain) : nil
    sidecar = found?.sidecar
    let file = path.split(separator: "/").last.map(String.init) ?? path
    name = found?.stem ?? file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
  }

  /// - Throws: if nothing can be known.
  /// - Parameter seats: empty for those that the take was recorded with.
  mutating func utterances(seats given: [Seat]) throws -> [Utterance] {
    let seats = try given.isEmpty ? Seat.list(sidecar?.setup.seats ?? []) : given
    if let sidecar, let listed = try sidecar.talkerList() {
      let missing = Set((sidecar.fallbacks ?? []).flatMap(\.without)).sorted()
      if !missing.isEmpty {
        remarks.append(
          "\(missing.joined(separator: ", ")) did not work in a part of this take, in which nobody is listed")
      }
      return Utterance.list(listed, frames: sidecar.frames, sampleRate: sidecar.sampleRate, seats: seats)
    }
    guard device != nil || take != nil else {
      throw Failure(
        .failed,
        sidecar == nil
          ? "\(path) is of no take; if it is a recording of microphones, name their array with --device"
          : "nobody can be found in the take of \(path): it lists no talkers, and its microphones were not recorded; record the next one with pinna run --talkers, or with record start --raw"
      )
    }
    var (talkers, frames, rate, inputs) = try search()
    let dead = inputs.dropFirst().reduce(inputs.first?.faults.dead ?? []) { $0.intersection($1.faults.dead) }
    if !dead.isEmpty { (talkers, frames, rate, _) = try search(without: dead) }
    for remark in inputs.flatMap(\.remarks) where !remarks.contains(remark) {
      remarks.append(remark)
    }
    return Utterance.list(talkers, frames: frames, sampleRate: rate, seats: seats)
  }

  /// What a device plays at first: its preset, or else the first data source that looks horizontally, as a phone's bottom
  /// does not.
  private func given(in library: PresetLibrary) throws -> Setting {
    let device = try Verb.device(device!, in: library)
    let named = (try? library.preset(named: device.name)).flatMap { $0.device == device.name ? $0 : nil }
    let level = device.dataSources.first { HeadFrame(forward: $0.forward, orientation: .portrait) != nil }
    let front = try level.map { try device.with(dataSources: [$0]) } ?? device
    return Setting(preset: named ?? Preset(of: front), device: device)
  }

  /// Finds them in the microphones.
  /// - Parameter dead: microphones that are left out.
  private func search(without dead: Set<String> = []) throws -> (
    talkers: [Sidecar.Talker], frames: Int, rate: Int, inputs: [(faults: MicrophoneFaults, remarks: [String])]
  ) {
    let library = PresetLibrary.standard
    let setting = try take?.setting(in: library) { $0 } ?? given(in: library)
    try take?.check(setting.device, recordedIn: library)
    let selection = setting.main.selection
    let axes = try setting.device.axes(of: selection)
    let heard = dead.isEmpty ? setting.device : setting.device.without(microphones: dead)
    let hasHeight = heard.hasHeight(along: axes.up)
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    let files = take.map {
      $0.sidecar.files.compactMap { own in own.microphones.map { (own.frame, folder + $0) } }
    }
    var search: TalkerSearch?
    let clock = take?.sidecar.engine.map { $0.frame - (sidecar?.preRollFrames ?? 0) } ?? 0
    var (talkers, end, rate): ([Sidecar.Talker], Int, Int) = ([], 0, 0)
    var inputs: [(MicrophoneFaults, [String])] = []
    let alive = setting.device.microphones.indices.filter {
      !dead.contains(setting.device.microphones[$0].name)
    }
    for (start, file) in files ?? [(0, path)] {
      let input = try MicrophoneFile(
        file, of: setting.device, "bring that file of the take back", doing: "finding who speaks")
      rate = input.reader.sampleRate
      var faults = MicrophoneFaults(setting.device, sampleRate: rate)
      let own =
        try search
        ?? TalkerSearch(
          heard, up: axes.up, sampleRate: rate, clock: clock)
      search = own
      end = start
      while let part = try input.next() {
        faults.hear(part)
        let block = take?.gaps.removed(from: part, start: end) ?? part
        end += part[0].count
        guard !block[0].isEmpty else { continue }
        talkers += own.hear(alive.map { block[$0] }).map {
          let talker = Sidecar.Talker($0, from: clock, in: axes, hasHeight: hasHeight)
          return (sidecar.map { $0.moved(talker) } ?? talker).listed
        }
      }
      inputs.append((faults, input.remarks + faults.sentences))
    }
    return (talkers, take?.sidecar.frames ?? end, rate, inputs)
  }
}
