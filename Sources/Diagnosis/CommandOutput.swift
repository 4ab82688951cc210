import FoundationEssentials
import Glibc
import Threads

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
    guard let process = try? ChildProcess(found, arguments, output: fileno(file)) else { return nil }
    let end = ContinuousClock.now + .seconds(seconds)
    while process.isRunning, .now < end { usleep(5_000) }
    guard !process.isRunning else {
      process.kill()
      return nil
    }
    guard process.waitUntilExit() == .exit(0) else { return nil }
    rewind(file)
    return Descriptor.readAll(fileno(file)).map { Data($0) }
  }
}
