import Foundation

/// Where control sockets live: a folder that nobody else can enter.
///
/// Servers are at `NAME.sock`, with their locks beside them; clients in the folder `clients`, under names that chance
/// picks, so that no one ever has another's.
public enum RuntimeFolder {
  /// `$XDG_RUNTIME_DIR/pinna`; where that is unset `/run/user/UID/pinna`, else a folder of ours under `/tmp`.
  public static func path(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
    if let runtime = environment["XDG_RUNTIME_DIR"], !runtime.isEmpty { return runtime + "/pinna" }
    let user = "/run/user/\(getuid())"
    if access(user, W_OK) == 0 { return user + "/pinna" }
    return "/tmp/pinna-\(getuid())"
  }

  /// Where clients bind their sockets.
  public static func clients(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
    path(environment: environment) + "/clients"
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
    return try usable("\(path(environment: environment))/\(name).sock")
  }

  /// A path for a client's socket that nobody has.
  static func newClient(environment: [String: String]) throws(Failure) -> String {
    try client(.random(in: 0...lastClient), environment: environment)
  }

  private static let lastClient: UInt64 = (1 << 50) - 1

  private static func client(_ number: UInt64, environment: [String: String]) throws(Failure) -> String {
    try usable(clients(environment: environment) + "/" + String(number, radix: 36))
  }

  /// An address of a Unix socket ends after 107 bytes; cut off it would be another one's.
  private static func usable(_ socket: String) throws(Failure) -> String {
    guard socket.utf8.count <= 107 else {
      throw Failure(
        .failed,
        "the control socket's path \(socket) is longer than 107 bytes; set XDG_RUNTIME_DIR to a shorter one")
    }
    return socket
  }

  /// Makes the folders, or checks that those that are there are ours alone.
  public static func prepare(environment: [String: String] = ProcessInfo.processInfo.environment)
    throws(Failure)
  {
    try checkRoot(environment)
    // One that is too long for its clients would never be asked anything.
    _ = try client(lastClient, environment: environment)
    try make(path(environment: environment))
    try check(environment: environment)
    try prepareClients(environment: environment)
  }

  /// The folder of clients, in the folder of servers, which is there.
  static func prepareClients(environment: [String: String]) throws(Failure) {
    let clients = clients(environment: environment)
    try make(clients)
    try check(clients)
  }

  /// The mode does not depend on the umask, which is the whole process's and not ours to change.
  private static func make(_ path: String) throws(Failure) {
    if mkdir(path, 0o700) == 0 {
      chmod(path, 0o700)
    } else if errno != EEXIST {
      throw Failure(.failed, "cannot make the runtime folder \(path): \(String(cString: strerror(errno)))")
    }
  }

  /// Whoever owns the folder, or may rename it, could answer in our name.
  static func check(environment: [String: String] = ProcessInfo.processInfo.environment) throws(Failure) {
    try checkRoot(environment)
    let path = path(environment: environment)
    guard try check(path) else { return }
    let parent = (path as NSString).deletingLastPathComponent
    var information = stat()
    guard stat(parent.isEmpty ? "." : parent, &information) == 0 else { return }
    let isSticky = information.st_mode & S_ISVTX != 0
    guard [0, getuid()].contains(information.st_uid) else {
      throw Failure(
        .failed,
        "\(parent), which the control sockets' folder is in, belongs to another user (\(information.st_uid)); "
          + remedy)
    }
    guard information.st_mode & 0o022 == 0 || isSticky else {
      throw Failure(
        .failed, "other users may rename what is in \(parent), the control sockets' folder too; \(remedy)")
    }
  }

  /// Clients and servers may stand in different folders.
  private static func checkRoot(_ environment: [String: String]) throws(Failure) {
    let path = path(environment: environment)
    guard path.hasPrefix("/") else {
      throw Failure(.failed, "the folder of control sockets, \(path), is not given from the root; \(remedy)")
    }
  }

  private static let remedy = "set XDG_RUNTIME_DIR to a folder of your own"

  /// False where nothing is there.
  @discardableResult
  private static func check(_ path: String) throws(Failure) -> Bool {
    var information = stat()
    guard lstat(path, &information) == 0 else { return false }
    let kind = information.st_mode & S_IFMT
    let fault: String? =
      if kind == S_IFLNK {
        "\(path) is a link, which the control sockets' folder must not be; remove it, or \(remedy)"
      } else if kind != S_IFDIR {
        "\(path) is no folder, and control sockets are to be in it; remove it, or \(remedy)"
      } else if information.st_uid != getuid() {
        "\(path), the control sockets' folder, belongs to another user (\(information.st_uid)); \(remedy)"
      } else if information.st_mode & 0o077 != 0 {
        "\(path) is not a folder that only you can enter; run: chmod 700 \(path)"
      } else {
        nil
      }
    if let fault { throw Failure(.failed, fault) }
    return true
  }
}
