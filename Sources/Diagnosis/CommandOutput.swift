import Foundation

/// Runs programs that may hang.
public enum CommandOutput {
  /// What the program prints on standard output; nil if it is not installed, fails, or takes longer than `seconds`, after
  /// which it is killed.
  public static func of(_ program: String, _ arguments: [String] = [], within seconds: Double = 3) -> Data? {
    let path = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
    guard let found = path.map({ "\($0)/\(program)" }).first(where: FileManager.default.isExecutableFile),
      // A file, because a pipe that nobody reads would fill.
      let file = tmpfile()
    else { return nil }
    defer { fclose(file) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: found)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle(fileDescriptor: fileno(file))
    guard (try? process.run()) != nil else { return nil }
    let end = ContinuousClock.now + .seconds(seconds)
    while process.isRunning, .now < end { usleep(5_000) }
    guard !process.isRunning else {
      kill(process.processIdentifier, SIGKILL)
      return nil
    }
    guard process.terminationStatus == 0 else { return nil }
    rewind(file)
    return try? FileHandle(fileDescriptor: fileno(file)).readToEnd()
  }
}
