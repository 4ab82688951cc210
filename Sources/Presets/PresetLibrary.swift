import Acoustics
import Foundation

/// Presets and devices by name. A file in an earlier folder hides one of the same name in a later folder;
/// nothing is remembered, so that an edited file counts at once.
///
/// Presets are `NAME.yaml` in a folder, devices `devices/NAME.yaml` beside them.
public struct PresetLibrary: Sendable {
  /// In the order of search.
  public let folders: [String]

  public init(folders: [String]) { self.folders = folders }

  public init(environment: [String: String]) {
    self.init(folders: PresetFolders.search(environment: environment))
  }

  /// The library of this process.
  public static var standard: PresetLibrary {
    PresetLibrary(environment: ProcessInfo.processInfo.environment)
  }

  /// Names of all presets, sorted; MIDI programs and `preset list` follow this order.
  public func presetNames() -> [String] { names(in: "") }

  /// Names of all devices, sorted.
  public func deviceNames() -> [String] { names(in: "devices") }

  /// - Throws: `PresetNotFound`, or a `DescriptionError` where its file or its device's is at fault.
  public func preset(named name: String) throws -> Preset {
    try PresetFile.read(path: path(ofPreset: name)) { try device(named: $0) }
  }

  /// - Throws: `DeviceNotFound`, or a `DescriptionError` where its file is at fault.
  public func device(named name: String) throws -> Device {
    guard let path = path(of: name, in: "devices") else {
      throw DeviceNotFound(name: name, known: deviceNames())
    }
    return try DeviceFile.read(path: path)
  }

  /// The file of the preset that `name` spells in any case.
  public func path(ofPreset name: String) throws(PresetNotFound) -> String {
    guard let path = path(of: name, in: "") else { throw PresetNotFound(name: name, known: presetNames()) }
    return path
  }

  /// The preset's file as it stands.
  public func text(ofPreset name: String) throws -> String {
    String(decoding: try DescriptionText(path: path(ofPreset: name)).bytes, as: UTF8.self)
  }

  /// Files in the folders of presets and devices that look like descriptions but are not read, each with what to do.
  public func ignoredFiles() -> [(path: String, remedy: String)] {
    folders.flatMap { [$0, "\($0)/devices"] }.flatMap { folder in
      let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return files.sorted().compactMap { file -> (String, String)? in
        let ending = URL(fileURLWithPath: file).pathExtension
        guard !file.hasPrefix("."), ["yaml", "yml"].contains(ending.lowercased()) else { return nil }
        let name = String(file.dropLast(ending.count + 1))
        guard DescriptionName.isValid(name) else {
          return ("\(folder)/\(file)", "rename it to letters, digits, - _ and . with .yaml behind")
        }
        return ending == "yaml" ? nil : ("\(folder)/\(file)", "rename it to \(name).yaml")
      }
    }
  }

  private func names(in subfolder: String) -> [String] {
    var found: [String: String] = [:]
    for folder in folders {
      for name in Self.descriptions(in: "\(folder)/\(subfolder)") where found[name.lowercased()] == nil {
        found[name.lowercased()] = name
      }
    }
    return found.values.sorted()
  }

  private func path(of name: String, in subfolder: String) -> String? {
    guard DescriptionName.isValid(name) else { return nil }
    for folder in folders {
      let files = Self.descriptions(in: "\(folder)/\(subfolder)")
      let match = files.first { $0 == name } ?? files.first { $0.lowercased() == name.lowercased() }
      if let match {
        return [folder, subfolder, match + ".yaml"].filter { !$0.isEmpty }.joined(separator: "/")
      }
    }
    return nil
  }

  /// Names of the description files of one folder, sorted; none where it cannot be read.
  private static func descriptions(in folder: String) -> [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return files.filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }
      .filter(DescriptionName.isValid).sorted()
  }
}

/// There is no preset of that name in any folder.
public struct PresetNotFound: Error, Hashable, CustomStringConvertible {
  public let name: String
  public let known: [String]

  public var description: String { notFound("preset", name, known) }
}

/// There is no device of that name in any folder.
public struct DeviceNotFound: Error, Hashable, CustomStringConvertible {
  public let name: String
  public let known: [String]

  public var description: String { notFound("device", name, known) }
}

private func notFound(_ kind: String, _ name: String, _ known: [String]) -> String {
  known.isEmpty
    ? "there is no \(kind) \(quoted(name)), nor any other; set PINNA_PRESETS to the folder of presets"
    : "there is no \(kind) \(quoted(name)); use one of: \(known.joined(separator: ", "))"
}
