import Foundation
import Synchronization

/// The trees of `Tests/SoundCards`, with their symbolic links.
public enum SoundCards {
  private static let folders = Mutex<[String: String]>([:])

  /// A folder with the tree: a copy for this process, in which `device` and the cards of `class/sound` are symbolic
  /// links, as in sysfs. In the repository they are files that hold their targets: not every copy of a repository keeps
  /// links.
  public static func folder(_ tree: String) throws -> String {
    try folders.withLock { folders in
      if let folder = folders[tree] { return folder }
      let files = FileManager.default
      let base = files.temporaryDirectory.path + "/pinna-cards-\(getpid())"
      try files.createDirectory(atPath: base, withIntermediateDirectories: true)
      let folder = base + "/" + tree
      try files.copyItem(atPath: repositoryFolder + "/Tests/SoundCards/" + tree, toPath: folder)
      for path in try files.subpathsOfDirectory(atPath: folder)
      where path.hasSuffix("/device") || path.contains("class/sound/") {
        let target = try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
        try files.removeItem(atPath: "\(folder)/\(path)")
        try files.createSymbolicLink(
          atPath: "\(folder)/\(path)",
          withDestinationPath: target.trimmingCharacters(in: .whitespacesAndNewlines))
      }
      if folders.isEmpty { atexit { SoundCards.remove() } }
      folders[tree] = folder
      return folder
    }
  }

  private static func remove() {
    try? FileManager.default.removeItem(
      atPath: FileManager.default.temporaryDirectory.path + "/pinna-cards-\(getpid())")
  }
}
