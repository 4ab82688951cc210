import Acoustics
import FoundationEssentials
import Glibc
import Text

/// Looks up presets and devices by name. A file in an earlier folder hides files of the same name in later folders.
/// Nothing is cached, so an edited file takes effect immediately.
///
/// Presets are `NAME.yaml` in a folder, devices are `devices/NAME.yaml` in the same folder, banks `banks/NAME.yaml`.
public struct PresetLibrary: Sendable {
  /// In search order.
  public let folders: [String]

  /// The folder of what `pinna array calibrate` wrote: `DEVICE.yaml`; nil for devices as their files have them.
  public let calibrationFolder: String?

  /// That no shipped presets were found, where they were looked for, and what to do; nil if they were, or if nobody
  /// looked for them.
  public let shippedAbsence: String?

  public init(folders: [String], calibrationFolder: String? = nil, shippedAbsence: String? = nil) {
    self.folders = folders
    self.calibrationFolder = calibrationFolder
    self.shippedAbsence = shippedAbsence
  }

  public init(environment: [String: String]) {
    let shipped = ShippedPresets(
      environment: environment, executable: PresetFolders.executablePath(),
      currentFolder: PresetFolders.workingFolder())
    self.init(
      folders: PresetFolders.search(environment: environment, shipped: shipped.folder),
      calibrationFolder: CalibrationFile.folder(environment: environment), shippedAbsence: shipped.absence)
  }

  /// The library for the environment of this process.
  public static var standard: PresetLibrary {
    PresetLibrary(environment: ProcessInfo.processInfo.environment)
  }

  /// Names of all presets, sorted. Without a bank, MIDI program numbers follow this order.
  public func presetNames() -> [String] { names(of: .preset) }

  /// Names of all devices, sorted.
  public func deviceNames() -> [String] { names(of: .device) }

  /// Names of all banks, sorted.
  public func bankNames() -> [String] { names(of: .bank) }

  /// - Parameter name: nil for the bank of all presets.
  /// - Throws: `DescriptionNotFound`, or `DescriptionError` for an error in the bank file.
  public func bank(named name: String?) throws -> Bank {
    guard let name else {
      return Bank(
        name: nil, title: "All presets", presets: Array(presetNames().prefix(Bank.maxPresets)))
    }
    return try BankFile.read(YAMLReader(path: path(of: .bank, named: name)))
  }

  /// The path of the file that says what MIDI controllers change; nil if there is none.
  public var midiMapPath: String? {
    folders.map { "\($0)/\(MIDIMapFile.path)" }.first(where: FileManager.default.fileExists)
  }

  /// What MIDI controllers change; nothing if there is no file for it.
  public func midiMap() throws(DescriptionError) -> MIDIMap {
    guard let path = midiMapPath else { return MIDIMap() }
    return try MIDIMapFile.read(path: path)
  }

  /// - Throws: `DescriptionNotFound`, or `DescriptionError` for an error in the preset or device file.
  public func preset(named name: String) throws -> Preset {
    try PresetFile.read(YAMLReader(path: path(ofPreset: name)), device: device(named:))
  }

  /// The device with its calibration.
  /// - Throws: `DescriptionNotFound`, or `DescriptionError` for an error in the device file or its calibration file.
  public func device(named name: String) throws -> Device {
    try device(path: path(of: .device, named: name))
  }

  /// The device that a user means: by its file if `word` contains "/" or ends like one, by its name otherwise.
  /// - Parameter folder: where relative paths begin, with "/" at its end; empty for the working folder.
  public func device(_ word: String, in folder: String = "") throws -> Device {
    let isFile = DescriptionName.extensions.contains(where: word.hasSuffix)
    guard word.contains("/") || isFile else { return try device(named: word) }
    let path = word.hasPrefix("/") ? word : folder + word
    let device = try device(path: path)
    guard DescriptionName.isValid(device.name), isFile else {
      throw DescriptionError(
        file: path, position: nil,
        message: "is not a valid device file name; use letters, digits, - _ and ., and end it with .yaml")
    }
    return device
  }

  /// The device in the file at `path`, with what was measured for its name, if anything was.
  public func device(path: String) throws -> Device {
    let file = path.hasPrefix("/") ? path : PresetFolders.workingFolder().map { "\($0)/\(path)" } ?? path
    let device = try DeviceFile.read(YAMLReader(path: path)).with(file: file)
    guard let path = calibrationPath(of: device), FileManager.default.fileExists(atPath: path) else {
      return device
    }
    return device.with(calibration: try CalibrationFile.read(YAMLReader(path: path), for: device))
  }

  /// The path of the calibration file of `device`; nil if there is no folder for it.
  public func calibrationPath(of device: Device) -> String? {
    calibrationFolder.map { "\($0)/\(device.name).yaml" }
  }

  /// The path of the preset file for `name`, ignoring case.
  public func path(ofPreset name: String) throws(DescriptionNotFound) -> String {
    try path(of: .preset, named: name)
  }

  /// The contents of the preset file, unparsed.
  public func text(ofPreset name: String) throws -> String {
    String(decoding: try DescriptionText(path: path(ofPreset: name)).bytes, as: UTF8.self)
  }

  /// Files in the preset and device folders that look like description files but are ignored, each with a remedy.
  public func ignoredFiles() -> [(path: String, remedy: String)] {
    folders.flatMap { [$0, "\($0)/devices"] }.flatMap { folder in
      let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return files.sorted().compactMap { file -> (String, String)? in
        let pathExtension = URL(fileURLWithPath: file).pathExtension
        guard !file.hasPrefix("."), ["yaml", "yml"].contains(pathExtension.lowercased()) else { return nil }
        let name = String(file.dropLast(pathExtension.count + 1))
        if pathExtension == "yml", files.contains("\(name).yaml") {
          return ("\(folder)/\(file)", "remove it, because \(name).yaml in the same folder takes precedence")
        }
        guard DescriptionName.isValid(name) else {
          return ("\(folder)/\(file)", "rename it, using only letters, digits, - _ and . before .yaml")
        }
        let isRead = DescriptionName.extensions.contains(".\(pathExtension)")
        return isRead ? nil : ("\(folder)/\(file)", "rename it to \(name).yaml")
      }
    }
  }

  private func names(of kind: DescriptionNotFound.Kind) -> [String] {
    var found: [String: String] = [:]
    for folder in folders {
      for name in Self.descriptions(in: folder + kind.subfolder).keys where found[name.lowercased()] == nil {
        found[name.lowercased()] = name
      }
    }
    return found.values.sorted()
  }

  private func path(
    of kind: DescriptionNotFound.Kind, named name: String
  ) throws(DescriptionNotFound) -> String {
    for folder in folders where DescriptionName.isValid(name) {
      let files = Self.descriptions(in: folder + kind.subfolder)
      let alike = files.keys.sorted().first { $0.lowercased() == name.lowercased() }
      if let file = files[name] ?? alike.flatMap({ files[$0] }) {
        return "\(folder)\(kind.subfolder)/\(file)"
      }
    }
    throw DescriptionNotFound(
      kind: kind, name: name, available: names(of: kind), shippedAbsence: kind == .bank ? nil : shippedAbsence
    )
  }

  /// The description files of one folder, keyed by name; empty if the folder cannot be read. `.yaml` wins over `.yml`.
  private static func descriptions(in folder: String) -> [String: String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let named = files.compactMap { file in DescriptionName.of(file: file).map { ($0, file) } }
    return Dictionary(named.filter { DescriptionName.isValid($0.0) }) { $0.hasSuffix(".yaml") ? $0 : $1 }
  }
}

/// No folder has a preset, device or bank with this name.
public struct DescriptionNotFound: Error, Hashable, CustomStringConvertible {
  public enum Kind: String, Sendable {
    case preset, device, bank

    /// Where such files are within a folder of presets.
    fileprivate var subfolder: String { self == .preset ? "" : "/\(rawValue)s" }
  }

  public let kind: Kind
  public let name: String
  /// All names of this kind.
  public let available: [String]
  /// That the shipped ones were not found, with the remedy; nil if they were, and for banks.
  public let shippedAbsence: String?

  public var description: String {
    var parts = ["there is no \(kind) \(name.quoted)\(didYouMean(name, among: available))"]
    if !available.isEmpty { parts.append("use one of: \(available.joined(separator: ", "))") }
    if let shippedAbsence {
      parts.append(shippedAbsence)
    } else if available.isEmpty, kind == .bank {
      parts[0] += ", nor any other"
      parts.append("write one with: pinna bank save NAME PRESET,PRESET")
    } else if available.isEmpty {
      parts[0] += ", and no other \(kind) was found"
      parts.append("set PINNA_PRESETS to the presets folder")
    }
    return parts.joined(separator: "; ")
  }
}
