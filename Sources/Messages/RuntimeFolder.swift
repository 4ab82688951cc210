import FoundationEssentials
import Glibc
import Settings
import Text

/// The folder for control sockets, which only this user can enter.
///
/// It contains the sockets of running Pinnas (`NAME.sock`) with their lock files.
public enum RuntimeFolder {
  /// `$XDG_RUNTIME_DIR/pinna`; if that variable is unset, `/run/user/UID/pinna`, or else `/tmp/pinna-UID`.
  public static func path(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
    if let runtime = environment["XDG_RUNTIME_DIR"], !runtime.isEmpty { return runtime + "/pinna" }
    let user = "/run/user/\(getuid())"
    if access(user, W_OK) == 0 { return user + "/pinna" }
    return "/tmp/pinna-\(getuid())"
  }

  /// Path of the control socket of the Pinna called `name`.
  public static func socket(
    named name: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(Failure) -> String {
    guard !name.isEmpty, name.utf8.count <= 32,
      name.allSatisfy({ $0.isLetter || $0.isNumber || "-_.".contains($0) }), !name.hasPrefix(".")
    else {
      throw Failure(
        .usage,
        "the client name \(name.quoted) is not usable; use up to 32 letters, digits, hyphens, underscores and, "
          + "not at the beginning, dots")
    }
    let socket = "\(path(environment: environment))/\(name).sock"
    // The longest Unix address; truncated, it would name another socket.
    guard socket.utf8.count <= 107 else {
      throw Failure(
        .failed,
        "the control socket's path \(socket) is longer than 107 bytes; set XDG_RUNTIME_DIR to a shorter one")
    }
    return socket
  }

  /// Makes the folder, or checks that an existing one belongs to this user and is closed to others.
  public static func prepare(environment: [String: String] = ProcessInfo.processInfo.environment)
    throws(Failure)
  {
    try checkRoot(environment)
    let path = path(environment: environment)
    if mkdir(path, 0o700) == 0 {
      // The mode holds whatever the umask is, which a library must not change.
      chmod(path, 0o700)
    } else if errno != EEXIST {
      throw Failure(.failed, "cannot make the runtime folder \(path): \(String(cString: strerror(errno)))")
    }
    try check(environment: environment)
  }

  /// Checks the folder and its parent: a user who owns the folder, or can rename it, could impersonate Pinna.
  static func check(environment: [String: String] = ProcessInfo.processInfo.environment) throws(Failure) {
    try checkRoot(environment)
    let path = path(environment: environment)
    guard try check(path) else { return }
    let parent = path.deletingLastPathComponent
    var information = stat()
    guard stat(parent.isEmpty ? "." : parent, &information) == 0 else { return }
    let isSticky = information.st_mode & S_ISVTX != 0
    guard [0, getuid()].contains(information.st_uid) else {
      throw Failure(
        .failed,
        "\(parent), the parent of the folder for control sockets, belongs to another user (\(information.st_uid)); "
          + remedy)
    }
    guard information.st_mode & 0o022 == 0 || isSticky else {
      throw Failure(
        .failed,
        "other users may rename files in \(parent), including the folder for control sockets; \(remedy)")
    }
  }

  /// Requires an absolute path: clients and servers may have different working folders.
  private static func checkRoot(_ environment: [String: String]) throws(Failure) {
    let path = path(environment: environment)
    guard path.hasPrefix("/") else {
      throw Failure(.failed, "the path of the folder for control sockets, \(path), is relative; \(remedy)")
    }
  }

  private static let remedy = "set XDG_RUNTIME_DIR to a folder of your own"

  /// - Returns: false if nothing exists at `path`.
  /// - Throws: if it is not a folder of this user with mode 0700.
  private static func check(_ path: String) throws(Failure) -> Bool {
    var information = stat()
    guard lstat(path, &information) == 0 else { return false }
    let kind = information.st_mode & S_IFMT
    let fault: String? =
      if kind == S_IFLNK {
        "\(path), the folder for control sockets, is a symbolic link; remove it, or \(remedy)"
      } else if kind != S_IFDIR {
        "\(path) is not a folder, but control sockets must be created in it; remove it, or \(remedy)"
      } else if information.st_uid != getuid() {
        "\(path), the folder for control sockets, belongs to another user (\(information.st_uid)); \(remedy)"
      } else if information.st_mode & 0o077 != 0 {
        "other users can enter \(path), the folder for control sockets; run: chmod 700 \(path)"
      } else {
        nil
      }
    if let fault { throw Failure(.failed, fault) }
    return true
  }
}

extension RuntimeFolder {
  /// Whether something other than a socket is at the path of a control socket.
  package static func isBlocked(_ path: String) -> Bool {
    var information = stat()
    return lstat(path, &information) == 0 && information.st_mode & S_IFMT != S_IFSOCK
  }

  package static func blocked(_ path: String) -> Failure {
    Failure(.failed, "\(path), the path of the control socket, is a folder or another file; move it away")
  }

  /// Whether no process owns the name whose socket is at `path`.
  static func isFree(_ path: String) -> Bool {
    let lock = FileDescriptor(open(path + ".lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW))
    guard lock.number >= 0 else { return errno == ENOENT }
    return flock(lock.number, LOCK_SH | LOCK_NB) == 0
  }
}
