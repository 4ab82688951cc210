import AudioFiles
import Foundation

/// Everything of Pinna's that may be thrown away.
package enum CacheFolder {
  /// `pinna` under XDG_CACHE_HOME or ~/.cache.
  package static var path: String {
    let environment = ProcessInfo.processInfo.environment
    if let base = HomeFolder.absolute(environment["XDG_CACHE_HOME"]) { return base + "/pinna" }
    // Where there is no home either, a folder that cannot be made.
    return (HomeFolder.path(environment) ?? "/nonexistent") + "/.cache/pinna"
  }
}
