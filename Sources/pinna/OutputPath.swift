import Control
import Foundation

/// Names of files to write, as users type them.
enum OutputPath {
  /// Refuses an output that is no name, or that would destroy `input`, whatever links lead there.
  static func check(_ output: String, against input: String) throws(Failure) {
    guard !output.isEmpty else { throw Failure(.usage, "the name of the output is empty; give one") }
    var (a, b) = (stat(), stat())
    if stat(output, &a) == 0, stat(input, &b) == 0, a.st_dev == b.st_dev, a.st_ino == b.st_ino {
      throw Failure(.usage, "\(output) is the input itself; give the output another name")
    }
  }

  /// The path from the root: a running Pinna may stand in another folder.
  static func absolute(_ path: String) throws(Failure) -> String {
    guard !path.isEmpty else { throw Failure(.usage, "the name of the folder is empty; give one") }
    return path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
  }
}
