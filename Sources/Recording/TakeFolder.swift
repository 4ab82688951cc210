import AudioFiles
import FoundationEssentials
import Glibc
import Threads

/// The folder of takes. Take names consist of ISO date and time, preset, and counter.
///
/// Thread: any that may wait for the disk: a take's disk thread, or a program that lists or repairs takes.
public struct TakeFolder: Sendable {
  public let path: String
  /// In bytes: with the longest name of a file behind it, the system still takes it (PATH_MAX).
  static let longestPath = 4096 - 256

  /// - Parameter path: an absolute path without symbolic links. Nil for `standard`, which waits for the disk.
  public init(path: String?, environment: [String: String] = ProcessInfo.processInfo.environment) {
    self.path = path ?? Self.standard(environment)
  }

  /// `pinna` in the music folder: `$XDG_MUSIC_DIR`, that of the desktop's settings, or `~/Music`. Where only
  /// `~/Music/pinna` exists, the settings do not count, so that earlier takes stay together with new ones. Symbolic links
  /// in it are the user's choice, so they are resolved, which waits for the disk.
  public static func standard(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String
  {
    let home = HomeFolder.path(environment)
    if let music = HomeFolder.absolute(environment["XDG_MUSIC_DIR"]) { return resolve(music + "/pinna") }
    // `open` reports that this path cannot be used.
    guard let home else { return "~/Music/pinna" }
    let usual = home + "/Music/pinna"
    guard let own = musicSetting(environment, home: home).map({ $0 + "/pinna" }),
      access(own, F_OK) == 0 || access(usual, F_OK) != 0
    else { return resolve(usual) }
    return resolve(own)
  }

  /// The music folder of the desktop's settings; nil for none, which the home folder itself stands for, too.
  /// - Source: xdg-user-dirs, user-dirs.dirs(5): a line `XDG_MUSIC_DIR="$HOME/yyy"` or `XDG_MUSIC_DIR="/yyy"`, escaped as
  ///   for a shell.
  private static func musicSetting(_ environment: [String: String], home: String) -> String? {
    let settings = HomeFolder.absolute(environment["XDG_CONFIG_HOME"]) ?? home + "/.config"
    let text = SmallFile.text("\(settings)/user-dirs.dirs", limit: 64 << 10) ?? ""
    let line = /[ \t]*XDG_MUSIC_DIR[ \t]*=[ \t]*"(\$HOME)?(\/(?:[^"\\]|\\.)*)".*/
    let last = text.split(whereSeparator: \.isNewline).compactMap { $0.wholeMatch(of: line) }.last
    guard let (_, inHome, escaped) = last?.output else { return nil }
    let path = (inHome == nil ? "" : home) + escaped.replacing(/\\(.)/) { $0.1 }
    let parts = path.split(separator: "/")
    return parts.isEmpty || parts == home.split(separator: "/") ? nil : "/" + parts.joined(separator: "/")
  }

  /// Resolves the symbolic links of the existing part of `path`. Waits for the disk.
  public static func resolve(_ path: String) -> String {
    var missing: [Substring] = []
    var parts = path.split(separator: "/")
    while true {
      if let found = realpath("/" + parts.joined(separator: "/"), nil) {
        defer { free(found) }
        guard let base = String(validatingCString: found) else { return path }
        return ([base == "/" ? "" : base] + missing.map(String.init)).joined(separator: "/")
      }
      guard let last = parts.popLast() else { return path }
      missing.insert(last, at: 0)
    }
  }

  /// Claims a unique name in an existing, writable folder, by creating the sidecar. Two programs that do so at the same
  /// time get different names.
  /// - Returns: the common prefix of the take's file names, and the sidecar.
  package func claim(in folder: OpenFolder, preset: String, date: Date = Date()) throws(TakeError)
    -> (stem: String, sidecar: SidecarFile)
  {
    let time = "\(date.localText("%Y-%m-%dT%H%M%S"))-\(preset)"
    // Any file that could belong to a take of that name, whatever its extension.
    func isTaken(_ stem: String, _ names: [String]) -> Bool {
      names.contains { name in
        name != stem + ".json.part" && [".", "-", "_"].contains { name.hasPrefix(stem + $0) }
      }
    }
    let names = folder.names
    for counter in 1...9999 {
      let stem = "\(time)-\(counter)"
      guard !isTaken(stem, names), let sidecar = try SidecarFile(folder: folder, name: stem + ".json") else {
        continue
      }
      // A take of that name may have ended between the two steps.
      if !isTaken(stem, folder.names) { return (stem, sidecar) }
      sidecar.discard()
    }
    throw TakeError("the takes folder \(path) already holds 9999 takes of this second; try again")
  }

  /// Opens the folder for a take, and creates it if it is missing. Every component of the path must be a real folder:
  /// through a symbolic link, a take could end up in the wrong place.
  package func open() throws(TakeError) -> OpenFolder {
    guard path.hasPrefix("/") else {
      throw TakeError("the takes folder \(path) is not an absolute path; give one that begins with /")
    }
    guard path.utf8.count <= Self.longestPath else {
      throw TakeError(
        "the path of the takes folder has \(path.utf8.count) bytes; choose one of at most "
          + "\(Self.longestPath) with --dir"
      )
    }
    guard !path.split(separator: "/").contains("..") else {
      throw TakeError("the takes folder \(path) contains ..; give a path without it")
    }
    var current = Glibc.open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    for part in path.split(separator: "/") {
      if part == "." { continue }
      let name = String(part)
      let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
      var next = openat(current, name, flags)
      if next < 0, errno == ENOENT, mkdirat(current, name, 0o755) == 0 || errno == EEXIST {
        next = openat(current, name, flags)
      }
      guard next >= 0 else {
        let reason =
          switch errno {
          case ELOOP, ENOTDIR:
            !isLink(current, name)
              ? "\(name) is not a folder"
              : faccessat(current, name, F_OK, 0) == 0
                ? "\(name) is a symbolic link" : "\(name) is a symbolic link whose target is missing"
          default: String(cString: strerror(errno))
          }
        close(current)
        throw TakeError("cannot use the takes folder \(path): \(reason); choose another with --dir")
      }
      close(current)
      current = next
    }
    guard faccessat(current, ".", W_OK, 0) == 0 else {
      let reason = errno
      close(current)
      throw TakeError(
        "cannot write into the takes folder \(path): \(String(cString: strerror(reason))); choose another with --dir"
      )
    }
    return OpenFolder(owning: current, path: path)
  }

  private func isLink(_ folder: Int32, _ name: String) -> Bool {
    var information = stat()
    return fstatat(folder, name, &information, AT_SYMLINK_NOFOLLOW) == 0
      && information.st_mode & S_IFMT == S_IFLNK
  }
}

extension OpenFolder {
  /// File names in alphabetical order, without those that macOS adds beside files on other systems' disks ("._NAME").
  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd/\(descriptor)")) ?? [])
      .filter { !$0.hasPrefix("._") }.sorted()
  }

  /// Free space on the disk; nil if it is unknown.
  var freeBytes: Double? {
    var information = statvfs()
    guard fstatvfs(descriptor, &information) == 0 else { return nil }
    return Double(information.f_bavail) * Double(information.f_frsize)
  }
}
