import Acoustics
import Control
import FilterBanks
import FilterDesign
import Foundation
import Presets

/// File formats of exported filter sets.
enum ExportFormat: String, NamedWord {
  case wav

  static let kind = "format of an export"
}

extension Verb {
  static let export = Verb(
    name: "export", operands: ["DIR"],
    summary: "export the filter sets of a preset's device: filters.json and one float WAV file per case",
    options: [
      Option("--to", "FORMAT", ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")),
      Option("--preset", "NAME", "preset (default: phone5)"), deviceOption,
      Option("--sample-rate", "HZ", "sample rate (default: 48000)"),
      Option("--force", nil, "write into a folder that is not empty, replacing filters in it"), hrtfOption,
      jsonOption,
    ]
  ) { arguments in
    guard let word = arguments["--to"] else {
      throw Failure(
        .usage,
        "pinna export needs --to; use one of: \(ExportFormat.allCases.map(\.rawValue).joined(separator: ", "))"
      )
    }
    _ = try ExportFormat(word: word)
    let library = PresetLibrary.standard
    let rate = try arguments.integer("--sample-rate", in: DesignGrid.sampleRates) ?? 48000
    let folder = try ExportFolder(arguments.operands[0], replacing: arguments.has("--force"))
    let device = try arguments.withHRTF(arguments.presetAndDevice(in: library).device)
    let bank = try FilterBank.ready(
      device: device, sampleRate: rate, progress: WorkProgress.designing(device.name))
    guard !bank.cases.isEmpty else {
      throw Failure(
        .unsupported, "no case of \(device.name) is usable; to see why, run: pinna design \(device.name)")
    }
    try folder.write(bank)
    if arguments.isJSON {
      let object: JSONObject = [
        "folder": folder.path, "device": device.name, "sampleRate": rate, "cases": bank.cases.count,
        "taps": bank.tapCount, "delayFrames": bank.delayFrames,
      ]
      print(object.text)
    } else {
      print(
        "\(folder.path): \(bank.cases.count) cases of \(device.name) at \(rate) Hz, one WAV each of "
          + "\(bank.tapCount) frames and \(2 * bank.microphones.count) channels, described by filters.json")
    }
    return .done
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
    var isFolder: ObjCBool = false
    exists = FileManager.default.fileExists(atPath: typed, isDirectory: &isFolder)
    guard exists else { return }
    guard isFolder.boolValue else {
      throw Failure(.failed, "\(typed) is a file; give the name of a folder")
    }
    let contents = (try? FileManager.default.contentsOfDirectory(atPath: typed)) ?? []
    guard contents.isEmpty || replacing else {
      throw Failure(
        .failed, "\(typed) is not empty; give a new folder, or --force to replace the filters in it")
    }
  }

  /// Writes to a temporary folder, then renames: files under their final names are always complete. In an existing
  /// folder `filters.json` is removed first and renamed last, so that it never describes missing filters.
  func write(_ bank: FilterBank) throws {
    let files = FileManager.default
    let plain = path.hasSuffix("/") && path.count > 1 ? String(path.dropLast()) : path
    let scratch = (exists ? plain + "/" : plain) + ".\(UUID().uuidString).part"
    defer { try? files.removeItem(atPath: scratch) }
    do {
      try bank.write(folder: scratch)
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
    guard Foundation.rename(from, to) == 0 else {
      throw Failure(
        .failed, "cannot write \(to): \(String(cString: strerror(errno))); give another folder")
    }
  }
}
