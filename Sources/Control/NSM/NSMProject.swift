import Glibc
import JackClient
import Messages
import Presets
import Processor
import Recording
import Settings

/// Pinna's part of a session of the session manager: a folder with the setting, the connections and the takes.
package struct NSMProject: Sendable, Equatable {
  /// Path of the folder, which the session manager chooses.
  package let path: String
  /// The name to use for the JACK client and the control socket.
  package let clientID: String

  /// What was saved: a `RunMemory`.
  package var file: String { path + "/pinna.json" }

  /// A project as it was read, or made.
  package struct Contents: Sendable {
    package let setting: Setting
    package let connections: [Wiring.Wire]
    /// The folder for takes, without symbolic links.
    package let takesFolder: String
  }

  /// Why a project cannot be opened.
  struct OpenError: Error {
    let code: NSMError
    let failure: Failure
  }

  /// Reads the project, or makes a new one with `initial`.
  ///
  /// Thread: a job's; waits for the disk.
  func open(initial: Setting, library: PresetLibrary) -> Result<Contents, OpenError> {
    func fail(_ code: NSMError, _ sentence: String) -> Result<Contents, OpenError> {
      .failure(OpenError(code: code, failure: Failure(.failed, sentence)))
    }
    guard path.hasPrefix("/"), path.utf8.count < 3000, !path.split(separator: "/").contains("..") else {
      return fail(
        .createFailed,
        "the project's path \"\(path.prefix(200))\" is not usable; an absolute path without .. is needed")
    }
    // What is not UTF-8 was read as the replacement character, and the folder would be another one.
    guard !path.contains("\u{FFFD}") else {
      return fail(.createFailed, "the project's path \"\(path)\" is not UTF-8; give the session another name")
    }
    // The user's own links are followed once, here: takes follow none.
    let takesFolder = TakeFolder.resolve(path + "/takes")
    let memory: RunMemory?
    do throws(Failure) { memory = try RunMemoryFile.read(file, kind: "the project") } catch {
      return fail(.badProject, "\(error), or restore it")
    }
    guard let memory else {
      do { try save(RunMemory(initial, [])) } catch {
        return fail(.createFailed, "the project \(path) cannot be made: \(Failure(error))")
      }
      return .success(Contents(setting: initial, connections: [], takesFolder: takesFolder))
    }
    do {
      let setting = try memory.setting.setting(in: library)
      return .success(Contents(setting: setting, connections: memory.connections, takesFolder: takesFolder))
    } catch {
      return fail(
        .badProject,
        "the project \(path) cannot be opened: its preset \(memory.setting.preset) cannot be used: \(Failure(error))"
      )
    }
  }

  /// Thread: a job's; waits for the disk.
  func save(_ memory: RunMemory) throws { try RunMemoryFile.write(memory, to: file) }
}
