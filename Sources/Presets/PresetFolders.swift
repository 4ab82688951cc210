import Glibc

/// The search path for presets and devices: the user's folders, then the system's, then the shipped one.
public enum PresetFolders {
  /// The folders to search, in order.
  /// - Parameters:
  ///   - environment: `XDG_CONFIG_HOME`, `XDG_DATA_HOME`, `XDG_DATA_DIRS` and `HOME` are used.
  ///   - shipped: the folder of the shipped presets; nil if there is none.
  public static func search(environment: [String: String], shipped: String?) -> [String] {
    let home = absolute(environment["HOME"])
    let data = absolute(environment["XDG_DATA_HOME"]) ?? home.map { $0 + "/.local/share" }
    var folders: [String] = []
    for folder in [configuration(environment: environment)].compactMap({ $0 })
      + ([data].compactMap { $0 } + systemData(environment: environment)).map({ $0 + "/pinna" })
      + [shipped].compactMap({ $0 })
    where !folders.contains(folder) {
      folders.append(folder)
    }
    return folders
  }

  /// The user's folder, which the search begins with; nil if there is no home folder.
  public static func configuration(environment: [String: String]) -> String? {
    let base =
      absolute(environment["XDG_CONFIG_HOME"]) ?? absolute(environment["HOME"]).map { $0 + "/.config" }
    return base.map { $0 + "/pinna" }
  }

  /// The data folders of the system, in order: `XDG_DATA_DIRS`.
  static func systemData(environment: [String: String]) -> [String] {
    let listed =
      environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
    return listed.split(separator: ":").compactMap { absolute(String($0)) }
  }

  /// The XDG base directory specification requires relative and empty paths to be ignored.
  private static func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }

  /// The path of the running program, with symbolic links resolved.
  public static func executablePath() -> String? { realPath("/proc/self/exe") }

  /// The path of the current folder, with symbolic links resolved.
  public static func workingFolder() -> String? { realPath(".") }

  private static func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
