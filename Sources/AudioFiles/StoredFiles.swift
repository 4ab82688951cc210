import FoundationEssentials
import Glibc

/// Files that can be made again, in a folder that has a limit: those that were not used for longest go first.
///
/// Thread: any that may wait for the disk.
package enum StoredFiles {
  /// Notes that a file was used just now.
  package static func use(_ path: String) { utimes(path, nil) }

  /// Removes files until the others are within the limit. Those with the same name before the ending go together.
  /// - Parameters:
  ///   - endings: of the files that count, with their dots.
  ///   - limit: of all together, in bytes.
  package static func removeExcess(in folder: String, endings: [String], limit: Int) {
    var sets: [String: (paths: [String], size: Int, used: Int)] = [:]
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      let path = "\(folder)/\(name)"
      var status = stat()
      guard let ending = endings.first(where: name.hasSuffix), lstat(path, &status) == 0,
        status.st_mode & S_IFMT == S_IFREG
      else { continue }
      var set = sets[String(name.dropLast(ending.count)), default: ([], 0, 0)]
      set = (set.paths + [path], set.size + Int(status.st_size), max(set.used, status.st_mtim.tv_sec))
      sets[String(name.dropLast(ending.count))] = set
    }
    var total = sets.values.reduce(0) { $0 + $1.size }
    for set in sets.values.sorted(by: { $0.used < $1.used }) where total > limit {
      for path in set.paths { unlink(path) }
      total -= set.size
    }
  }
}
