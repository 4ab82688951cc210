import FoundationEssentials
import Glibc
import JackClient
import Processor
import Threads

/// A separate `jackd` on the dummy driver, for the demo, the benchmark and tests. Only this process is ever stopped, by
/// its process ID; other servers are not affected.
///
/// Thread: any, one at a time. Starting and stopping wait for the server.
public final class PrivateServer {
  public let name: String
  private let process: ChildProcess

  public struct StartError: Error, CustomStringConvertible {
    public let description: String
  }

  /// Starts the server and waits up to 5 s until it accepts clients.
  /// - Parameters:
  ///   - name: the server's name. It must be unique on this machine, so it should contain this process's ID.
  ///   - sampleRate: in hertz.
  ///   - period: in frames.
  ///   - synchronous: whether the server waits in each period for every client, so that no client ever misses one.
  ///   - realtime: whether to use realtime scheduling, which the system must grant.
  ///   - captures: number of physical capture ports.
  ///   - playbacks: number of physical playback ports.
  /// - Throws: `StartError`, with what to do.
  public init(
    name: String, sampleRate: Int = 48000, period: Int = 128, synchronous: Bool = false,
    realtime: Bool = false, captures: Int = 0,
    playbacks: Int = 0
  ) throws {
    self.name = name
    guard let path = Self.find("jackd") else {
      throw StartError(description: "jackd is not installed; install it with: apt-get install jackd2")
    }
    let arguments =
      (synchronous ? ["-S"] : []) + [
        "-n", name, realtime ? "-R" : "-r", "-p", "128", "-d", "dummy", "-C", "\(captures)", "-P",
        "\(playbacks)", "-r",
        "\(sampleRate)", "-p", "\(period)",
      ]
    var environment = ProcessInfo.processInfo.environment
    environment["JACK_NO_AUDIO_RESERVATION"] = "1"
    // A file rather than a pipe: nobody has to read it while the server reports thousands of xruns.
    guard let messages = tmpfile() else {
      throw StartError(description: "cannot create a temporary file for jackd's messages; make room in /tmp")
    }
    defer { fclose(messages) }
    process = try ChildProcess(path, arguments, environment: environment, errors: fileno(messages))
    let start = ContinuousClock.now
    let end = start + .seconds(5)
    // Asked on other threads: a frozen server never answers, and a client that opens during the server's start may hang.
    // Another thread therefore asks every second; each question ends within 5 s.
    var asking: [Job<Bool>] = []
    defer { for job in asking { job.abandon() } }
    while .now < end, process.isRunning {
      if .now >= start + .seconds(asking.count) {
        asking.append(
          .start("pinna asks jackd") { _ in
            while .now < end {
              if ServerProbe.acceptsClients(server: name) { return true }
              usleep(5_000)
            }
            return false
          })
      }
      if asking.contains(where: { if case .success(true) = $0.result { true } else { false } }) { return }
      usleep(1_000)
    }
    stop()
    rewind(messages)
    if String(decoding: Descriptor.readAll(fileno(messages)) ?? [], as: UTF8.self).contains(
      "Too many servers")
    {
      throw StartError(
        description:
          "jackd did not start: a machine has room for eight servers, and one that was killed still takes its place; if no jackd is running, free the places with: rm -r /dev/shm/jack*"
      )
    }
    throw StartError(description: "jackd did not start on the dummy driver; try: jackd -n \(name) -d dummy")
  }

  deinit { stop() }

  /// Process ID of the server.
  public var pid: Int32 { process.pid }

  /// Stops the server; kills it if it has not ended within 5 s. Not sooner: a server that is killed while it writes to
  /// JACK's metadata leaves it locked for all of this user's programs.
  public func stop() {
    guard process.isRunning else { return }
    process.terminate()
    for _ in 0..<250 where process.isRunning { usleep(20_000) }
    process.kill()
    process.waitUntilExit()
  }

  /// Whether there is a `jackd` in `PATH`.
  public static var isPossible: Bool { find("jackd") != nil }

  private static func find(_ program: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
    return path.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
  }
}
