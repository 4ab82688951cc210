import Acoustics
import FilterBanks
import FilterDesign
import FoundationEssentials
import Glibc
import Messages
import Presets
import Text

/// File formats of exported filter sets.
enum ExportFormat: String, NamedWord {
  case wav, jconvolver, camilladsp, pipewire

  static let kind = "format of an export"
  static let names = allCases.map(\.rawValue).joined(separator: ", ")

  /// The program whose configurations are exported beside the WAV files; nil for WAV files alone.
  var program: ConvolverProgram? { ConvolverProgram(rawValue: rawValue) }
}

extension Verb {
  static let export = Verb(
    name: "export", operands: ["DIR"],
    summary:
      "export the filters of a preset's device: filters.json, one float WAV file per case, configurations",
    options: [
      Option("--to", "FORMAT", "\(ExportFormat.names); all but wav add a ready configuration per case"),
      Option("--preset", "NAME", "preset (default: phone5)"), deviceOption,
      Option("--sample-rate", "HZ", "sample rate (default: 48000)"),
      Option("--force", nil, "write into a folder that is not empty, replacing filters in it"), hrtfOption,
      jsonOption,
    ]
  ) { arguments in
    guard let word = arguments["--to"] else {
      throw Failure(.usage, "pinna export needs --to; use one of: \(ExportFormat.names)")
    }
    let format = try ExportFormat(word: word)
    let rate = try arguments.integer("--sample-rate", in: DesignGrid.sampleRates) ?? 48000
    let folder = try ExportFolder(arguments.operands[0], replacing: arguments.has("--force"))
    let destination = try format.program.map { _ throws(Failure) in try folder.absolutePath }
    let (preset, plain) = try arguments.presetAndDevice(in: PresetLibrary.standard)
    let device = try arguments.withHRTF(plain)
    let bank = try FilterBank.ready(
      device: device, sampleRate: rate, progress: WorkProgress.designing(device.name))
    guard !bank.cases.isEmpty else {
      throw Failure(
        .unsupported, "no case of \(device.name) is usable; to see why, run: pinna design \(device.name)")
    }
    try folder.write { scratch in
      guard let program = format.program, let destination else { return try bank.write(folder: scratch) }
      try bank.write(
        configurationsFor: program, of: device, gain: preset.gain, highPass: preset.highPass, folder: scratch,
        destination: destination)
    }
    let report = ExportReport(
      folder: folder.path, absolutePath: destination, format: format, bank: bank, preset: preset,
      device: device)
    arguments.print(json: report.json, text: report.text)
    return .done
  }
}

/// What `pinna export` says that it wrote.
private struct ExportReport {
  let folder: String
  /// Nil without a program.
  let absolutePath: String?
  let format: ExportFormat
  let bank: FilterBank
  let preset: Preset
  let device: Device

  /// What starts the other program with the preset's case; nil without a program, or if that case is not exported.
  private var command: String? {
    guard let program = format.program, let absolutePath,
      let filterCase = try? device.filterCase(for: preset.selection)
    else {
      return nil
    }
    let path = bank.configurationName(of: filterCase, for: program).map { "\(absolutePath)/\($0)" }
    return path.map { "\(program.command) \(Shell.word($0))" }
  }

  var text: String {
    let written =
      "\(folder): \("case".counted(bank.cases.count)) of \(bank.device) at \(bank.sampleRate) Hz, one WAV each of "
      + "\(bank.tapCount) frames and \(2 * bank.microphones.count) channels, described by filters.json"
    guard let program = format.program else { return written }
    let parts: [String?] = [
      written,
      "with a configuration of \(program.title) beside each; gain \(preset.gain.value) dB, high-pass \(preset.highPass.word)",
      command.map { "start the preset's case with: \($0)" },
    ]
    return parts.compactMap(\.self).joined(separator: "\n")
  }

  var json: JSONObject {
    [
      "folder": folder, "device": bank.device, "sampleRate": bank.sampleRate, "cases": bank.cases.count,
      "taps": bank.tapCount, "delayFrames": bank.delayFrames, "format": format.rawValue, "command": command,
    ]
  }
}

/// The folder for exported filters. An export either completes or leaves no incomplete file under its final name.
struct ExportFolder {
  let path: String
  private let exists: Bool

  /// - Parameter replacing: whether the folder may already contain files.
  init(_ typed: String, replacing: Bool) throws(Failure) {
    guard !typed.isEmpty else { throw Failure(.usage, "the folder name is empty; give one") }
    path = typed
    var isFolder = false
    exists = FileManager.default.fileExists(atPath: typed, isDirectory: &isFolder)
    guard exists else { return }
    guard isFolder else {
      throw Failure(.failed, "\(typed) is a file; give the name of a folder")
    }
    let contents = (try? FileManager.default.contentsOfDirectory(atPath: typed)) ?? []
    guard contents.isEmpty || replacing else {
      throw Failure(
        .failed, "\(typed) is not empty; give a new folder, or --force to replace the filters in it")
    }
  }

  /// - Throws: if the path cannot stand between quotes in a configuration.
  var absolutePath: String {
    get throws(Failure) {
      let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
      guard !absolute.contains(where: { $0 == "\"" || $0 == "\\" || $0.isNewline }) else {
        throw Failure(
          .usage,
          "\(absolute) has quotes, backslashes or line breaks, which not every program can read; give another folder"
        )
      }
      return absolute
    }
  }

  /// Runs `write` on a temporary folder, then renames: files under their final names are always complete. In an existing
  /// folder `filters.json` is removed first and renamed last, so that it never describes missing filters.
  func write(_ write: (_ folder: String) throws -> Void) throws {
    let files = FileManager.default
    let plain = path.hasSuffix("/") && path.count > 1 ? String(path.dropLast()) : path
    let scratch = (exists ? plain + "/" : plain) + ".\(UUID().uuidString).part"
    defer { try? files.removeItem(atPath: scratch) }
    do {
      try write(scratch)
      guard exists else {
        try rename(scratch, plain)
        return
      }
      let description = "filters.json"
      try? files.removeItem(atPath: "\(plain)/\(description)")
      let written = try files.contentsOfDirectory(atPath: scratch).filter { $0 != description }
      for file in written + [description] { try rename("\(scratch)/\(file)", "\(plain)/\(file)") }
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(.failed, "cannot write filters into \(path): \(error.systemReason); give another folder")
    }
  }

  private func rename(_ from: String, _ to: String) throws {
    guard Glibc.rename(from, to) == 0 else {
      throw Failure(
        .failed, "cannot write \(to): \(String(cString: strerror(errno))); give another folder")
    }
  }
}
