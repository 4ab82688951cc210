import Foundation
import TestSupport

/// A home for one test's `pinna`: its runtime, configuration and takes folders. The filter cache is the
/// user's, so that filters are designed only once.
public final class PinnaHome {
  public let folder: TemporaryFolder
  public let runtimeFolder: String
  /// The shell redirection of programs started by `start`: ">FILE", "2>&-".
  public var redirection: String?
  public var configFolder: String { folder.path + "/config" }
  public var takesFolder: String { folder.path + "/music/pinna" }

  public init(runtimeFolder name: String = "runtime") throws {
    folder = try TemporaryFolder()
    runtimeFolder = folder.path + "/" + name
    for path in [runtimeFolder, configFolder] {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
  }

  /// Runs `pinna VERB …` to its end.
  public func pinna(_ words: String..., seconds: Double = 120) throws -> Program.Outcome {
    try pinna(words, seconds: seconds)
  }

  public func pinna(_ words: [String], seconds: Double = 120) throws -> Program.Outcome {
    try Program.run(try Self.binary(), words, environment: environment, seconds: seconds)
  }

  /// Starts `pinna run …`.
  public func start(_ words: [String], _ more: [String: String] = [:]) throws -> Program {
    let environment = environment.merging(more) { $1 }
    let binary = try Self.binary()
    guard let redirection else { return try Program(binary, ["run"] + words, environment: environment) }
    // The program replaces the shell and keeps its process id.
    return try Program(
      "/bin/sh", ["-c", "exec \"$0\" \"$@\" \(redirection)", binary, "run"] + words, environment: environment)
  }

  /// The environment of `pinna`.
  public var environment: [String: String] {
    ProcessInfo.processInfo.environment.filter { $0.key != "NSM_URL" }.merging([
      "XDG_RUNTIME_DIR": runtimeFolder, "XDG_CONFIG_HOME": configFolder,
      "XDG_STATE_HOME": folder.path + "/state",
      "XDG_MUSIC_DIR": folder.path + "/music",
    ]) { $1 }
  }

  /// The `pinna` built with the tests.
  public static func binary() throws -> String { try built("pinna") }

  /// A program built with the tests.
  public static func built(_ name: String) throws -> String {
    let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let path = folder.appending(path: name).path
    guard access(path, X_OK) == 0 else { throw SupportError("there is no \(path); run: swift build") }
    return path
  }
}
