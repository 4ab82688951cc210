import AudioFiles
import Foundation

/// Where takes go, and what they are called: ISO date and time, preset, counter.
public struct TakeFolder: Sendable {
  public let path: String

  /// - Parameter path: from the root, without symbolic links; nil for `standard`, which waits for the disk.
  public init(path: String?, environment: [String: String] = ProcessInfo.processInfo.environment) {
    self.path = path ?? Self.standard(environment)
  }

  /// `$XDG_MUSIC_DIR/pinna`, or `~/Music/pinna` where that is not set. Links on the way there are its owner's choice:
  /// following them waits for the disk.
  public static func standard(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String
  {
    var music = environment["XDG_MUSIC_DIR"] ?? ""
    if music.isEmpty { music = (environment["HOME"] ?? NSHomeDirectory()) + "/Music" }
    return resolve(music + "/pinna")
  }

  /// `path` without symbolic links, as far as it exists; waits for the disk.
  public static func resolve(_ path: String) -> String {
    var missing: [Substring] = []
    var parts = path.split(separator: "/")
    while true {
      if let found = realpath("/" + parts.joined(separator: "/"), nil) {
        defer { free(found) }
        let base = String(cString: found)
        return ([base == "/" ? "" : base] + missing.map(String.init)).joined(separator: "/")
      }
      guard let last = parts.popLast() else { return path }
      missing.insert(last, at: 0)
    }
  }

  /// Claims a name that no other take has, in a folder that exists and can be written: the sidecar that claims it, and
  /// what the names of all the take's files begin with. Two programs that look for a name at the same moment get two.
  func claim(in folder: OpenFolder, preset: String, date: Date = Date()) throws(TakeError)
    -> (stem: String, sidecar: SidecarFile)
  {
    let time = "\(date.text("yyyy-MM-dd'T'HHmmss"))-\(preset)"
    // Anything that could be part of a take of that name, whatever its ending.
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
      // A take that had the name may have ended since it was looked for.
      if !isTaken(stem, folder.names) { return (stem, sidecar) }
      sidecar.discard()
    }
    throw TakeError("the takes folder \(path) holds 9999 takes of this second already")
  }

  /// Opens the folder for a take, and makes it where it is missing. Every step of the way has to be a folder itself:
  /// through a symbolic link a take would end up where nobody asked for it.
  func open() throws(TakeError) -> OpenFolder {
    guard path.hasPrefix("/") else {
      throw TakeError("the takes folder \(path) is not given from the root; give one that begins with /")
    }
    guard !path.split(separator: "/").contains("..") else {
      throw TakeError("the takes folder \(path) goes up with ..; give it without")
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
          case ELOOP: "\(name) is a symbolic link"
          case ENOTDIR: isLink(current, name) ? "\(name) is a symbolic link" : "\(name) is not a folder"
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
  /// In the order in which takes were made.
  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd/\(descriptor)")) ?? []).sorted()
  }

  /// What the disk has room for; nil where it does not say.
  var freeBytes: Double? {
    var information = statvfs()
    guard fstatvfs(descriptor, &information) == 0 else { return nil }
    return Double(information.f_bavail) * Double(information.f_frsize)
  }
}
