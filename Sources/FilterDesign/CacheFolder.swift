import Foundation

/// Everything of Pinna's that may be thrown away.
package enum CacheFolder {
  /// `pinna` under XDG_CACHE_HOME or ~/.cache.
  package static var path: String {
    let base = ProcessInfo.processInfo.environment["XDG_CACHE_HOME"] ?? ""
    // The XDG specification asks to ignore a path that is not absolute.
    return (base.hasPrefix("/") ? base : NSHomeDirectory() + "/.cache") + "/pinna"
  }
}
