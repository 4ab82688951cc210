import AudioFiles
import FoundationEssentials
import Glibc
import Messages
import Processor
import Recording
import Settings

/// Standard input and output in place of sound files, WAV in both directions.
enum StandardStream {
  static let word = "-"

  /// Refuses terminals.
  static func checkInput() throws(Failure) {
    guard isatty(STDIN_FILENO) == 0 else {
      throw Failure(.usage, "standard input is a terminal; pipe a WAV file into pinna, or give a file's name")
    }
  }

  static func checkOutput() throws(Failure) {
    guard isatty(STDOUT_FILENO) == 0 else {
      throw Failure(
        .usage, "standard output is a terminal; pipe it into a program that takes WAV, or give a file's name")
    }
  }
}

/// Checks the names of files to write.
enum OutputPath {
  /// The endings of names that Pinna writes sound to. A name without one is WAV.
  private static let formats: Set = ["", "wav", "wave", "flac", "opus", "caf", "amb"]

  /// Throws if the name is empty, has the ending of no format that Pinna writes, refers to `input` itself, also through
  /// links, or if what is there stays.
  /// - Parameters:
  ///   - isAmbisonic: whether B-format is written, which has files of its own.
  ///   - replacing: as for `OutputFile`.
  static func check(
    _ output: String, against input: String, isAmbisonic: Bool = false, replacing: Bool
  ) throws(Failure) {
    guard !output.isEmpty else { throw Failure(.usage, "the output file name is empty; give one") }
    guard output != StandardStream.word else { return try StandardStream.checkOutput() }
    let suffix = URL(filePath: output).pathExtension.lowercased()
    guard isAmbisonic || !AmbisonicFormat.isNamed(by: output) else {
      throw Failure(
        .usage,
        "cannot write \(output): .\(suffix) is for B-format; render it with --format ambix, or give a name that ends in .wav"
      )
    }
    guard formats.contains(suffix) else {
      throw Failure(
        .usage,
        "cannot write \(output): .\(suffix) is not supported; give a name that ends in .wav, .flac or .opus"
      )
    }
    var (a, b) = (stat(), stat())
    if stat(output, &a) == 0, stat(input, &b) == 0, a.st_dev == b.st_dev, a.st_ino == b.st_ino {
      throw Failure(.usage, "\(output) is the input file itself; give the output another name")
    }
    do { _ = try OutputFile(output, replacing: replacing) } catch {
      throw Failure(.failed, error.description)
    }
  }

  /// Throws if the format that the name asks for cannot hold such a sound.
  static func check(
    _ output: String, channels: Int, sampleRate: Int, isAmbisonic: Bool = false, areMicrophones: Bool = false
  ) throws(Failure) {
    guard
      let obstacle = Compression(path: output)?.obstacle(
        channels: channels, sampleRate: sampleRate, isAmbisonic: isAmbisonic, areMicrophones: areMicrophones)
    else { return }
    throw Failure(.failed, "cannot write \(output): \(obstacle); give a name that ends in .wav")
  }

  /// The absolute path: a running Pinna may have another working folder.
  static func absolute(_ path: String) throws(Failure) -> String {
    guard !path.isEmpty else { throw Failure(.usage, "the folder name is empty; give one") }
    if path.hasPrefix("/") { return path }
    let folder = FileManager.default.currentDirectoryPath
    guard folder.hasPrefix("/") else {
      throw Failure(
        .failed, "the current folder was removed; change to another one, or give \(path) as an absolute path")
    }
    let bytes = getcwd(nil, 0)
    defer { free(bytes) }
    guard bytes.flatMap({ String(validatingCString: $0) }) != nil else {
      throw Failure(.failed, "the current folder's name is not UTF-8; give \(path) as an absolute path")
    }
    return folder + "/" + path
  }

  /// The absolute path without symbolic links and "..", as far as the folders exist.
  static func withoutLinks(_ path: String) throws(Failure) -> String {
    TakeFolder.resolve(try absolute(path))
  }
}

/// Checks the names of files to read.
enum InputPath {
  /// Throws if there is no file `path`.
  /// - Parameter remedy: what to do then, an imperative clause for the error message.
  static func check(_ path: String, _ remedy: String) throws(Failure) {
    var isFolder = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw Failure(.failed, "there is no file \(path); \(remedy)")
    }
    guard !isFolder else { throw Failure(.failed, "\(path) is a folder; \(remedy)") }
  }

  static func checkFolder(_ path: String) throws(Failure) {
    var isFolder = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder else {
      throw Failure(.failed, "there is no folder \(path); give another with --dir")
    }
  }
}
