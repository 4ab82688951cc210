import AudioFiles
import FoundationEssentials
import Glibc
import Messages
import Settings
import Text

/// A folder of files that a verb writes: exported filters, plots. It either gets all of them, or no incomplete file
/// under its final name.
struct OutputFolder {
  let path: String
  /// Whose files those are, for messages: "filters".
  private let kind: String
  private let exists: Bool
  private let replaces: Bool

  /// - Parameter replacing: whether the folder may already contain files; those of the same names are replaced.
  /// - Throws: before anything is computed or written.
  init(_ typed: String, of kind: String, replacing: Bool) throws(Failure) {
    guard !typed.isEmpty else { throw Failure(.usage, "the folder name is empty; give one") }
    path = typed.hasSuffix("/") && typed.utf8.count > 1 ? String(typed.dropLast()) : typed
    self.kind = kind
    replaces = replacing
    var isFolder = false
    exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    if exists {
      guard isFolder else { throw Failure(.failed, "\(path) is a file; give the name of a folder") }
      let contents = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      guard contents.isEmpty || replacing else {
        throw Failure(
          .failed, "\(path) is not empty; give a new folder, or --force to replace the \(kind) in it")
      }
    }
    let scratch = self.scratch
    do {
      try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
      rmdir(scratch)
    } catch { throw failure(error) }
  }

  /// Makes a folder and those around it where they are missing.
  static func make(_ path: String) throws(Failure) {
    var (end, problem) = (path.startIndex, Int32(0))
    while end < path.endIndex, problem == 0 {
      end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
      if mkdir(String(path[..<end]), 0o777) != 0, errno != EEXIST { problem = errno }
    }
    if problem == 0, access(path + "/", W_OK) != 0 { problem = errno }
    guard problem == 0 else {
      throw Failure(
        .failed,
        "cannot write into the folder \(path): \(String(cString: strerror(problem))); give another with --into"
      )
    }
  }

  /// A new name, of a folder on the same disk.
  private var scratch: String { (exists ? path + "/" : path) + ".\(UUID().uuidString).part" }

  /// Runs `write` on a temporary folder, then renames. In an existing folder the file `last`, which describes the
  /// others, is removed first and renamed last, so that it never describes missing ones.
  func write(last: String, _ write: (_ folder: String) throws -> Void) throws {
    let files = FileManager.default
    let scratch = self.scratch
    defer { try? files.removeItem(atPath: scratch) }
    do {
      try files.createDirectory(atPath: scratch, withIntermediateDirectories: true)
      try write(scratch)
      guard exists else {
        guard rename(scratch, path) == 0 else {
          throw Failure(
            .failed, "cannot write \(path): \(String(cString: strerror(errno))); give another folder")
        }
        return
      }
      let names = try files.contentsOfDirectory(atPath: scratch).filter { $0 != last } + [last]
      // All of them first: links and devices stay, with everything beside them.
      let written = try names.map { try OutputFile("\(path)/\($0)", replacing: replaces) }
      unlink("\(path)/\(last)")
      for (name, file) in zip(names, written) { try file.adopt("\(scratch)/\(name)") }
    } catch let failure as Failure {
      throw failure
    } catch let error as AudioFileError {
      throw Failure(.failed, error.description)
    } catch {
      throw failure(error)
    }
  }

  private func failure(_ error: any Error) -> Failure {
    Failure(.failed, "cannot write \(kind) into \(path): \(error.systemReason); give another folder")
  }
}
