import AudioFiles
import FoundationEssentials
import Glibc
import Messages
import Presets
import Settings
import Text

/// A file that Pinna writes into the user's folder of presets.
struct UserFile {
  /// The user's folder: `$XDG_CONFIG_HOME/pinna`.
  let folder: String
  let path: String

  /// - Parameters:
  ///   - subfolder: folder below the user's; nil for that folder itself.
  ///   - kind: what the file describes, for messages.
  init(name: String, in subfolder: String?, kind: String) throws(Failure) {
    guard DescriptionName.isValid(name) else {
      throw Failure(
        .usage,
        "\(name.quoted) is not usable as the name of a \(kind); use 1 to \(DescriptionName.limit) letters, "
          + "digits, - _ and ., beginning with a letter, digit or _")
    }
    guard let folder = PresetFolders.configuration(environment: ProcessInfo.processInfo.environment) else {
      throw Failure(.failed, "there is no home folder for the \(kind); set HOME or XDG_CONFIG_HOME")
    }
    self.folder = folder
    path = [folder, subfolder, "\(name).yaml"].compactMap(\.self).joined(separator: "/")
  }

  /// Writes the file as a whole, and makes its folder. A link stays one: the file that it leads to is replaced.
  /// - Parameter replaces: whether a file of this name is replaced.
  func write(_ text: String, replaces: Bool) throws(Failure) {
    do {
      try FileManager.default.createDirectory(
        atPath: path.deletingLastPathComponent, withIntermediateDirectories: true)
      try OutputFile(URL(filePath: path).resolvingSymlinksInPath().path, replacing: replaces, updating: true)
        .write(text.utf8)
    } catch let error as AudioFileError {
      throw Failure(.failed, error.description)
    } catch {
      throw Failure(.failed, "cannot write \(path): \(error.systemReason); check its folder and the disk")
    }
  }
}
