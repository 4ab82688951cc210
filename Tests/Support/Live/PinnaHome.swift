import Foundation
import TestSupport

/// A home of a test's own for `pinna`: its runtime, configuration and takes folders. Designed filters are kept
/// where they always are, so that they are designed once.
public final class PinnaHome {
  public let folder: TemporaryFolder
  public let runtimeFolder: String
  /// Where a shell sends what `start` starts: ">FILE", "2>&-".
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

  /// `pinna VERB …`, to its end.
  public func pinna(_ words: String..., seconds: Double = 120) throws -> Program.Outcome {
    try pinna(words, seconds: seconds)
  }

  public func pinna(_ words: [String], seconds: Double = 120) throws -> Program.Outcome {
    try Program.run(try Self.binary(), words, environment: environment, seconds: seconds)
  }

  /// `pinna run …`, left running.
  public func start(_ words: [String], _ more: [String: String] = [:]) throws -> Program {
    let environment = environment.merging(more) { $1 }
    let binary = try Self.binary()
    guard let redirection else { return try Program(binary, ["run"] + words, environment: environment) }
    // The program takes the shell's place, and its process id.
    return try Program(
      "/bin/sh", ["-c", "exec \"$0\" \"$@\" \(redirection)", binary, "run"] + words, environment: environment)
  }

  /// What `pinna` is started with.
  public var environment: [String: String] {
    ProcessInfo.processInfo.environment.merging([
      "XDG_RUNTIME_DIR": runtimeFolder, "XDG_CONFIG_HOME": configFolder,
      "XDG_MUSIC_DIR": folder.path + "/music",
    ]) { $1 }
  }

  /// The `pinna` that was built beside the tests, or the one that PINNA_BINARY names: `make soak` takes one with
  /// RealtimeSanitizer.
  public static func binary() throws -> String {
    try ProcessInfo.processInfo.environment["PINNA_BINARY"] ?? built("pinna")
  }

  /// A program that was built beside the tests.
  public static func built(_ name: String) throws -> String {
    let beside = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let path = beside.appending(path: name).path
    guard access(path, X_OK) == 0 else { throw SupportError("there is no \(path); run: swift build") }
    return path
  }
}
