import Diagnosis
import FoundationEssentials
import Glibc
import JackClient
import JackTools
import Messages
import Settings
import Text
import Threads

/// A systemd user unit that runs Pinna: `pinna` on JACK, `pinna-pipewire` on PipeWire.
///
/// Thread: any that may wait.
struct UserUnit {
  let name: String

  /// Starts the unit that is enabled, or else the one for the server that is running. Does not wait until it is ready.
  /// - Throws: if systemd does not run here for this user, or has no such unit.
  static func start() throws(Failure) -> UserUnit {
    let unit = chosen
    let (isDone, said) = systemctl("start", "--no-block", unit.name)
    guard isDone else {
      let reason = said.split(separator: "\n").first.map { String($0).sentence } ?? "systemctl is missing"
      throw Failure(
        .notRunning,
        "no Pinna is running, and systemd cannot start one (\(reason)); start it with: pinna run --web 0")
    }
    return unit
  }

  var hasFailed: Bool { Self.systemctl("is-failed", "--quiet", name).isDone }

  private static var chosen: UserUnit {
    let (jack, pipeWire) = (UserUnit(name: "pinna"), UserUnit(name: "pinna-pipewire"))
    if let enabled = [jack, pipeWire].first(where: { systemctl("is-enabled", "--quiet", $0.name).isDone }) {
      return enabled
    }
    let isPipeWire =
      PipeWireState(ProcessInfo.processInfo.environment) == .listens
      && ChildProcess.path(ofProgram: "pw-jack") != nil && !isJackRunning
    return isPipeWire ? pipeWire : jack
  }

  /// Whether this process's libjack reaches a server: PipeWire, if its libjack stands in the place of JACK's.
  private static var isJackRunning: Bool {
    let answer = try? ServerRequests(stops: StopCount()).ask(within: .seconds(3)) {
      _ = try JackConnection(name: "pinna-web-\(getpid())", server: nil)
      return true
    }
    return answer ?? false
  }

  /// - Returns: whether it succeeded within 10 s, and what it said on standard error; nothing if it is not installed.
  private static func systemctl(_ words: String...) -> (isDone: Bool, said: String) {
    // A file, because a pipe that is not read would fill.
    guard let path = ChildProcess.path(ofProgram: "systemctl"), let file = tmpfile() else {
      return (false, "")
    }
    defer { fclose(file) }
    guard let process = try? ChildProcess(path, ["--user"] + words, errors: fileno(file)) else {
      return (false, "")
    }
    let end = ContinuousClock.now + .seconds(10)
    while process.isRunning, .now < end { usleep(5_000) }
    guard !process.isRunning else {
      process.kill()
      return (false, "it does not answer")
    }
    let isDone = process.waitUntilExit() == .exit(0)
    rewind(file)
    return (isDone, String(decoding: Descriptor.readAll(fileno(file)) ?? [], as: UTF8.self))
  }
}
