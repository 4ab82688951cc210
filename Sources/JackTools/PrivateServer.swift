import Foundation
import JackClient

/// A `jackd` of our own on the dummy driver: for the demo and for tests. Stopped by its process id.
public final class PrivateServer {
  public let name: String
  private let process = Process()

  public struct StartError: Error, CustomStringConvertible {
    public let description: String
  }

  /// Starts the server and waits until a client can connect.
  /// - Parameters:
  ///   - name: unique on this machine; its process id belongs in it.
  ///   - synchronous: waits in each period for every client, so that none ever misses one.
  ///   - realtime: with realtime scheduling, which the system must grant.
  ///   - captures, playbacks: physical ports.
  public init(
    name: String, sampleRate: Int = 48000, period: Int = 128, synchronous: Bool = false,
    realtime: Bool = false, captures: Int = 0,
    playbacks: Int = 0
  ) throws {
    self.name = name
    guard let path = Self.find("jackd") else {
      throw StartError(description: "jackd is not installed; install it with: apt-get install jackd2")
    }
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments =
      (synchronous ? ["-S"] : []) + [
        "-n", name, realtime ? "-R" : "-r", "-p", "128", "-d", "dummy", "-C", "\(captures)", "-P",
        "\(playbacks)", "-r",
        "\(sampleRate)", "-p", "\(period)",
      ]
    var environment = ProcessInfo.processInfo.environment
    environment["JACK_NO_AUDIO_RESERVATION"] = "1"
    process.environment = environment
    process.standardOutput = FileHandle.nullDevice
    // A file, which nobody has to empty while the server tells of thousands of xruns.
    guard let messages = tmpfile() else {
      throw StartError(description: "no temporary file for what jackd says; make room in /tmp")
    }
    defer { fclose(messages) }
    let heard = FileHandle(fileDescriptor: fileno(messages))
    process.standardError = heard
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let end = ContinuousClock.now + .seconds(5)
    while .now < end {
      if LabelWriter.acceptsClients(server: name) { return }
      guard process.isRunning else { break }
      usleep(5_000)
    }
    stop()
    rewind(messages)
    if String(decoding: heard.availableData, as: UTF8.self).contains("Too many servers") {
      throw StartError(
        description:
          "jackd did not start: all eight places of servers on this machine are taken, and one that was killed keeps its own; where no jackd runs, free them with: rm -r /dev/shm/jack*"
      )
    }
    throw StartError(description: "jackd did not start on the dummy driver; try: jackd -n \(name) -d dummy")
  }

  deinit { stop() }

  /// Process id of the server.
  public var pid: Int32 { process.processIdentifier }

  public func stop() {
    guard process.isRunning else { return }
    process.terminate()
    for _ in 0..<100 where process.isRunning { usleep(20_000) }
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }

  private static func find(_ program: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
    return path.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
  }
}
