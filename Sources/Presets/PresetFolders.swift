import Glibc

/// The search path for presets and devices: the user's folders, then the system's, then the shipped one.
public enum PresetFolders {
  /// The folders to search, in order.
  /// - Parameters:
  ///   - environment: `XDG_CONFIG_HOME`, `XDG_DATA_HOME`, `XDG_DATA_DIRS`, `HOME` and `PINNA_PRESETS` are used.
  ///   - executable: path of the program. Unless `PINNA_PRESETS` is set, the shipped folder is searched in this path's
  ///     ancestors and then in those of `currentFolder`.
  public static func search(
    environment: [String: String], executable: String? = executablePath(),
    currentFolder: String? = workingFolder()
  ) -> [String] {
    let home = absolute(environment["HOME"])
    let data = absolute(environment["XDG_DATA_HOME"]) ?? home.map { $0 + "/.local/share" }
    let listed =
      environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
    let system = listed.split(separator: ":").compactMap { absolute(String($0)) }
    let shipped =
      environment["PINNA_PRESETS"].flatMap { $0.isEmpty ? nil : $0 }
      ?? [executable, currentFolder].compactMap { $0 }.lazy.compactMap(presets(above:)).first
    var folders: [String] = []
    for folder in [configuration(environment: environment)].compactMap({ $0 })
      + ([data] + system).compactMap({ $0.map { $0 + "/pinna" } }) + [shipped].compactMap({ $0 })
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

  /// The XDG base directory specification requires relative and empty paths to be ignored.
  private static func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }

  /// The path of the running program, with symbolic links resolved.
  public static func executablePath() -> String? { realPath("/proc/self/exe") }

  /// The path of the current folder, with symbolic links resolved.
  public static func workingFolder() -> String? { realPath(".") }

  /// The nearest `Presets` folder with a `devices` folder in it, in `path` or one of its ancestors.
  private static func presets(above path: String) -> String? {
    var folder = path[...]
    while true {
      let candidate = folder + "/Presets"
      if isFolder(candidate + "/devices") { return String(candidate) }
      guard let slash = folder.lastIndex(of: "/") else { return nil }
      folder = folder[..<slash]
    }
  }

  private static func isFolder(_ path: Substring) -> Bool {
    var status = stat()
    return stat(String(path), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  private static func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
