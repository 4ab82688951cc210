import Foundation

/// Everything of Pinna's that may be thrown away.
package enum CacheFolder {
  /// `pinna` under XDG_CACHE_HOME or ~/.cache.
  package static var path: String {
    let environment = ProcessInfo.processInfo.environment
    let base = environment["XDG_CACHE_HOME"] ?? ""
    // The XDG specification asks to ignore a path that is not absolute.
    if base.hasPrefix("/") { return base + "/pinna" }
    // Foundation asks the user's account instead.
    return (environment["HOME"] ?? NSHomeDirectory()) + "/.cache/pinna"
  }
}
