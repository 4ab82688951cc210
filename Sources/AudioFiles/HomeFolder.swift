import FoundationEssentials
import Glibc

/// The user's home folder: HOME, or the account's home folder if HOME is not an absolute path.
public enum HomeFolder {
  /// Nil if neither is an absolute path.
  public static func path(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
    let account = getpwuid(getuid()).map { String(cString: $0.pointee.pw_dir) }
    return absolute(environment["HOME"]) ?? absolute(account)
  }

  /// `path`, or nil if it is relative or empty. The XDG specification requires such paths to be ignored.
  public static func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
}
