import Foundation

/// Where control sockets live: a folder that nobody else can enter.
public enum RuntimeFolder {
  /// `$XDG_RUNTIME_DIR/pinna`; where that is unset `/run/user/UID/pinna`, else a folder of ours under `/tmp`.
  public static func path(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
    if let runtime = environment["XDG_RUNTIME_DIR"], !runtime.isEmpty { return runtime + "/pinna" }
    let user = "/run/user/\(getuid())"
    if access(user, W_OK) == 0 { return user + "/pinna" }
    return "/tmp/pinna-\(getuid())"
  }

  /// The socket of the instance called `name`.
  public static func socket(
    named name: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(Failure) -> String {
    guard !name.isEmpty, name.utf8.count <= 32,
      name.allSatisfy({ $0.isLetter || $0.isNumber || "-_".contains($0) })
    else {
      throw Failure(
        .usage,
        "the client name \"\(name)\" is not usable; take up to 32 letters, digits, hyphens, underscores")
    }
    let socket = "\(path(environment: environment))/\(name).sock"
    // An address of a Unix socket ends there; cut off it would be another one's.
    guard socket.utf8.count <= 107 else {
      throw Failure(
        .failed,
        "the control socket's path \(socket) is longer than 107 bytes; set XDG_RUNTIME_DIR to a shorter one")
    }
    return socket
  }

  /// Makes the folder, or checks that the one that is there is ours alone.
  public static func prepare(environment: [String: String] = ProcessInfo.processInfo.environment)
    throws(Failure)
  {
    let path = path(environment: environment)
    if mkdir(path, 0o700) != 0, errno != EEXIST {
      throw Failure(.failed, "cannot make the runtime folder \(path): \(String(cString: strerror(errno)))")
    }
    try check(environment: environment)
  }

  /// Whoever owns the folder could answer in our name: one that is there must be ours alone.
  static func check(environment: [String: String] = ProcessInfo.processInfo.environment) throws(Failure) {
    let path = path(environment: environment)
    var information = stat()
    guard lstat(path, &information) == 0 else { return }
    let isFolder = information.st_mode & S_IFMT == S_IFDIR
    guard isFolder, information.st_uid == getuid(), information.st_mode & 0o077 == 0 else {
      throw Failure(
        .failed, "\(path) is not a folder that only you can enter; remove it, or set XDG_RUNTIME_DIR")
    }
  }
}
