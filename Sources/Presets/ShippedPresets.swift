import Glibc

/// The folder of the presets that come with Pinna, and where it was looked for.
///
/// `PINNA_PRESETS` names it. Otherwise it is the first of these that exists:
/// 1. `../share/pinna/presets` of the program: what `make install` writes beside it.
/// 2. The nearest `Presets` above the program, and then above the current folder: a checkout.
/// 3. `pinna/presets` in a system data folder: an installed Pinna, for a program that has been copied or that links
///    the library.
public struct ShippedPresets: Hashable, Sendable {
  /// Nil if there is none.
  public let folder: String?
  /// Where it was looked for, in order, as words of a sentence.
  public let places: [String]

  /// - Parameters:
  ///   - environment: only `PINNA_PRESETS` and `XDG_DATA_DIRS` are used.
  ///   - executable: path of the program.
  public init(environment: [String: String], executable: String?, currentFolder: String?) {
    if let named = environment["PINNA_PRESETS"], !named.isEmpty {
      folder = Self.isFolder(named) ? named : nil
      places = ["\(named), which PINNA_PRESETS names"]
      return
    }
    let program = executable.map(Self.parent)
    let beside = program.map { Self.parent(of: $0) + "/share/pinna/presets" }
    let above = [program, currentFolder == program ? nil : currentFolder].compactMap(\.self)
    let installed = PresetFolders.systemData(environment: environment).map { $0 + "/pinna/presets" }
    folder =
      [beside].compactMap(\.self).first(where: Self.hasDevices)
      ?? above.lazy.compactMap(Self.presets(above:)).first ?? installed.first(where: Self.hasDevices)
    places = [beside].compactMap(\.self) + above.map { "a folder Presets above \($0)" } + installed
  }

  /// That there are no shipped presets, where they were looked for, and what to do; nil if there are.
  public var absence: String? {
    folder != nil
      ? nil
      : "no shipped presets were found: looked for \(places.joined(separator: ", ")); "
        + "install Pinna with its presets (make install), or set PINNA_PRESETS to their folder"
  }

  /// The nearest `Presets` folder with a `devices` folder in it, in `path` or one of its ancestors.
  private static func presets(above path: String) -> String? {
    var folder = path
    while true {
      if hasDevices(folder + "/Presets") { return folder + "/Presets" }
      guard !folder.isEmpty else { return nil }
      folder = parent(of: folder)
    }
  }

  /// The path without its last component; empty for the root.
  private static func parent(of path: String) -> String {
    String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }

  private static func hasDevices(_ folder: String) -> Bool { isFolder(folder + "/devices") }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
