import AudioFiles
import FoundationEssentials
import Glibc
import Text

/// The folder for data that Pinna can recreate. Users may delete it at any time.
package enum CacheFolder {
  /// Solved boxes, which `simulate`, `check`, `demo` and `report` compute the sound field around a body from.
  package static var bodies: String { path + "/bodies" }

  /// `pinna` under XDG_CACHE_HOME or ~/.cache.
  package static var path: String {
    let environment = ProcessInfo.processInfo.environment
    if let base = HomeFolder.absolute(environment["XDG_CACHE_HOME"]) { return base + "/pinna" }
    // Without a home folder nothing is cached: this folder cannot be created.
    return (HomeFolder.path(environment) ?? "/nonexistent") + "/.cache/pinna"
  }

  /// Whether something can be stored in it, as far as that is known before. It is tried: a superuser may write to any folder,
  /// as access(2) has it, also to those in which nothing can be created.
  package static var isWritable: Bool {
    var folder = path
    while access(folder, F_OK) != 0, folder != "/" { folder = folder.deletingLastPathComponent }
    var trial = Array((folder + "/.pinna-XXXXXX").utf8CString)
    return folder != "/" && mkdtemp(&trial) != nil && rmdir(trial) == 0
  }
}
