import Control
import Foundation
import Recording

/// Names of files to write, as users type them.
enum OutputPath {
  /// Endings of sound that Pinna does not write.
  private static let otherFormats: Set = [
    "aac", "ac3", "aif", "aifc", "aiff", "alac", "amr", "ape", "au", "caf", "flac", "m4a", "mka", "mp2",
    "mp3",
    "mp4", "oga", "ogg", "opus", "ra", "snd", "w64", "webm", "wma", "wv",
  ]

  /// Refuses an output that is no name, whose name promises another format than WAV, or that would destroy
  /// `input`, whatever links lead there.
  static func check(_ output: String, against input: String) throws(Failure) {
    guard !output.isEmpty else { throw Failure(.usage, "the name of the output is empty; give one") }
    let ending = URL(filePath: output).pathExtension.lowercased()
    guard !otherFormats.contains(ending) else {
      throw Failure(
        .usage, "\(output) would not be .\(ending): what can be written is wav; give a name that ends in .wav"
      )
    }
    var (a, b) = (stat(), stat())
    if stat(output, &a) == 0, stat(input, &b) == 0, a.st_dev == b.st_dev, a.st_ino == b.st_ino {
      throw Failure(.usage, "\(output) is the input itself; give the output another name")
    }
  }

  /// The path from the root: a running Pinna may stand in another folder.
  static func absolute(_ path: String) throws(Failure) -> String {
    guard !path.isEmpty else { throw Failure(.usage, "the name of the folder is empty; give one") }
    if path.hasPrefix("/") { return path }
    let folder = FileManager.default.currentDirectoryPath
    guard folder.hasPrefix("/") else {
      throw Failure(
        .failed, "the folder that you are in was removed; go to another, or give \(path) from the root")
    }
    return folder + "/" + path
  }

  /// The same, with symbolic links and .. followed as far as there is something.
  static func withoutLinks(_ path: String) throws(Failure) -> String {
    TakeFolder.resolve(try absolute(path))
  }
}

/// Names of files to read, as users type them.
enum InputPath {
  /// Says what to do next where there is no such file: `next`, which begins with a verb.
  static func check(_ path: String, _ next: String) throws(Failure) {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw Failure(.failed, "there is no file \(path); \(next)")
    }
    guard !isFolder.boolValue else { throw Failure(.failed, "\(path) is a folder; \(next)") }
  }

  static func checkFolder(_ path: String) throws(Failure) {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
      throw Failure(.failed, "there is no folder \(path); give another with --dir")
    }
  }
}

extension Error {
  /// What the system said: Foundation's errors do not put it into words.
  var systemReason: String {
    guard let system = (self as? CocoaError)?.underlying as? POSIXError else {
      return String(describing: self)
    }
    return String(cString: strerror(system.code.rawValue))
  }
}
