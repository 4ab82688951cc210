import Glibc

/// The folders that presets and devices are looked for in, the most personal first.
public enum PresetFolders {
  /// - Parameters:
  ///   - environment: `XDG_CONFIG_HOME`, `XDG_DATA_HOME`, `XDG_DATA_DIRS`, `HOME` and `PINNA_PRESETS` count.
  ///   - executable: where the shipped folder is looked for, upwards; then from `currentFolder`, upwards.
  public static func search(
    environment: [String: String], executable: String? = executablePath(),
    currentFolder: String? = workingFolder()
  ) -> [String] {
    /// The XDG specification has relative and empty paths ignored.
    func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
    let home = absolute(environment["HOME"])
    let config = absolute(environment["XDG_CONFIG_HOME"]) ?? home.map { $0 + "/.config" }
    let data = absolute(environment["XDG_DATA_HOME"]) ?? home.map { $0 + "/.local/share" }
    let listed =
      environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
    let system = listed.split(separator: ":").compactMap { absolute(String($0)) }
    let shipped =
      environment["PINNA_PRESETS"].flatMap { $0.isEmpty ? nil : $0 }
      ?? [executable, currentFolder].compactMap { $0 }.lazy.compactMap(presets(above:)).first
    var folders: [String] = []
    for folder in ([config, data] + system).compactMap({ $0.map { $0 + "/pinna" } })
      + [shipped].compactMap({ $0 })
    where !folders.contains(folder) {
      folders.append(folder)
    }
    return folders
  }

  /// The real path of the running program.
  public static func executablePath() -> String? { realPath("/proc/self/exe") }

  public static func workingFolder() -> String? { realPath(".") }

  /// The first `Presets` folder with devices in it, in `path` or in one of the folders above.
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
