import Foundation

/// Where takes go, and what they are called: ISO date and time, preset, counter.
public struct TakeFolder: Sendable {
  public let path: String

  /// - Parameter path: from the root, without symbolic links; nil for `standard`.
  public init(path: String?, environment: [String: String] = ProcessInfo.processInfo.environment) {
    self.path = path ?? Self.standard(environment)
  }

  /// `$XDG_MUSIC_DIR/pinna`, or `~/Music/pinna` where that is not set. Links on the way there are its owner's choice.
  public static func standard(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String
  {
    var music = environment["XDG_MUSIC_DIR"] ?? ""
    if music.isEmpty { music = (environment["HOME"] ?? NSHomeDirectory()) + "/Music" }
    return resolve(music + "/pinna")
  }

  /// `path` without symbolic links, as far as it exists.
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

  /// The path of a new take, without an ending, in a folder that exists and can be written. None of the take's files
  /// is there.
  func newStem(preset: String, date: Date = Date()) throws(TakeError) -> String {
    try prepare()
    let stem = "\(date.text("yyyy-MM-dd'T'HHmmss"))-\(preset)"
    let taken = Set((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
    for counter in 1...9999 {
      let name = "\(stem)-\(counter)"
      // Anything that could be part of a take of that name, whatever its ending.
      if !taken.contains(where: { file in [".", "-", "_"].contains { file.hasPrefix(name + $0) } }) {
        return "\(path)/\(name)"
      }
    }
    throw TakeError("the takes folder \(path) holds 9999 takes of this second already")
  }

  /// Makes the folder where it is missing. Every step of the way has to be a folder itself: through a symbolic link a
  /// take would end up where nobody asked for it.
  private func prepare() throws(TakeError) {
    guard path.hasPrefix("/") else {
      throw TakeError("the takes folder \(path) is not given from the root; give one that begins with /")
    }
    guard !path.split(separator: "/").contains("..") else {
      throw TakeError("the takes folder \(path) goes up with ..; give it without")
    }
    var current = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(current) }
    for part in path.split(separator: "/") {
      if part == "." { continue }
      let name = String(part)
      let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
      var next = openat(current, name, flags)
      if next < 0, errno == ENOENT, mkdirat(current, name, 0o755) == 0 { next = openat(current, name, flags) }
      guard next >= 0 else {
        let reason =
          switch errno {
          case ELOOP: "\(name) is a symbolic link"
          case ENOTDIR: isLink(current, name) ? "\(name) is a symbolic link" : "\(name) is not a folder"
          default: String(cString: strerror(errno))
          }
        throw TakeError("cannot use the takes folder \(path): \(reason); choose another with --dir")
      }
      close(current)
      current = next
    }
    guard faccessat(current, ".", W_OK, 0) == 0 else {
      throw TakeError(
        "cannot write into the takes folder \(path): \(String(cString: strerror(errno))); choose another with --dir"
      )
    }
  }

  private func isLink(_ folder: Int32, _ name: String) -> Bool {
    var information = stat()
    return fstatat(folder, name, &information, AT_SYMLINK_NOFOLLOW) == 0
      && information.st_mode & S_IFMT == S_IFLNK
  }
}
