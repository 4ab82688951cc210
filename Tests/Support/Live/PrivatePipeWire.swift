import Foundation
import TestSupport

/// A server for tests: `jackd` or a PipeWire daemon.
public protocol TestServer: AnyObject {
  /// What `--server` takes.
  var name: String { get }
  var pid: Int32 { get }
  func stop()
}

extension TestServer {
  /// The output of `jack_lsp` by port: the lines under each port's name.
  public func ports(_ option: String) throws -> [String: [String]] {
    let listing = try Program.run("/usr/bin/jack_lsp", ["-s", name, option]).output
    var ports: [String: [String]] = [:]
    var current = ""
    for line in listing.split(separator: "\n") {
      if line.first!.isWhitespace {
        ports[current, default: []].append(line.trimmingCharacters(in: .whitespaces))
      } else {
        current = String(line)
        ports[current] = []
      }
    }
    return ports
  }
}

/// A PipeWire daemon of its own, without hardware and session manager: its dummy driver, and whatever nodes a test adds.
/// Its name as a JACK server is the path of its socket.
public final class PrivatePipeWire: TestServer {
  /// Whether this machine has what the tests need.
  public static let isInstalled = ["pipewire", "pw-cli", "pw-metadata", "pw-jack", "pw-link"].allSatisfy {
    access("/usr/bin/\($0)", X_OK) == 0
  }

  private let folder: TemporaryFolder
  private var program: Program
  public var name: String { folder.path + "/pipewire-0" }
  public var pid: Int32 { program.pid }
  private var environment: [String: String] {
    ProcessInfo.processInfo.environment.merging(["PIPEWIRE_REMOTE": name]) { $1 }
  }

  /// Starts the daemon. Returns when it accepts clients.
  public init(sampleRate: Int = 48000, period: Int = 256) throws {
    folder = try TemporaryFolder()
    chmod(folder.path, 0o700)
    try folder.write(Self.configuration(sampleRate: sampleRate, period: period), to: "pipewire.conf")
    program = try Self.start(folder)
    try awaitSocket()
  }

  /// Starts the daemon again, after its end.
  public func restart(sampleRate: Int = 48000, period: Int = 256) throws {
    program.stop()
    try folder.write(Self.configuration(sampleRate: sampleRate, period: period), to: "pipewire.conf")
    program = try Self.start(folder)
    try awaitSocket()
  }

  private static func start(_ folder: TemporaryFolder) throws -> Program {
    var environment = ProcessInfo.processInfo.environment
    environment["PIPEWIRE_RUNTIME_DIR"] = folder.path
    environment["PIPEWIRE_CONFIG_DIR"] = folder.path
    environment["DBUS_SESSION_BUS_ADDRESS"] = "disabled:"
    return try Program("/usr/bin/pipewire", [], environment: environment)
  }

  private func awaitSocket() throws {
    let isUp = waitUntil(seconds: 10) {
      program.isRunning && (try? run("pw-cli", "info", "0").status) == 0
    }
    guard isUp else { throw SupportError("PipeWire does not start: \(program.errorText)") }
  }

  deinit { stop() }

  public func stop() { program.stop() }

  /// Runs one of PipeWire's own tools.
  @discardableResult
  public func run(_ tool: String, _ words: String...) throws -> Program.Outcome {
    try Program.run("/usr/bin/" + tool, words, environment: environment, seconds: 10)
  }

  /// Changes a setting of the running daemon, such as `clock.force-rate`.
  public func set(_ key: String, _ value: Int) throws {
    let outcome = try run("pw-metadata", "-n", "settings", "0", key, "\(value)")
    guard outcome.status == 0 else { throw SupportError("pw-metadata: \(outcome)") }
  }

  /// Adds a node without hardware, which stays when the tool that makes it ends.
  /// - Parameters:
  ///   - mediaClass: such as `Audio/Source/Virtual`.
  ///   - positions: such as `AUX0,AUX1`.
  public func addNode(_ name: String, mediaClass: String, positions: String) throws {
    let outcome = try run(
      "pw-cli", "create-node", "adapter",
      "{ factory.name=support.null-audio-sink node.name=\(name) media.class=\(mediaClass) object.linger=true "
        + "audio.position=[\(positions)] adapter.auto-port-config={ mode=dsp monitor=true position=preserve } }"
    )
    guard outcome.status == 0 else { throw SupportError("pw-cli: \(outcome)") }
  }

  /// Sends a command to a node, as session managers do: `Pause`, `Suspend`, `Start`.
  public func command(_ command: String, toNode name: String) throws {
    let outcome = try run("pw-cli", "send-command", number(ofNode: name), command, "{}")
    guard outcome.status == 0 else { throw SupportError("pw-cli: \(outcome)") }
  }

  /// Destroys a client's node, and not the client.
  public func destroy(node name: String) throws {
    let outcome = try run("pw-cli", "destroy", number(ofNode: name))
    guard outcome.status == 0 else { throw SupportError("pw-cli: \(outcome)") }
  }

  private func number(ofNode name: String) throws -> String {
    var node: Substring?
    for line in try run("pw-cli", "ls", "Node").output.split(separator: "\n") {
      if line.hasPrefix("\tid ") { node = line.dropFirst(4).prefix { $0.isNumber } }
      if line.hasSuffix("node.name = \"\(name)\""), let node { return String(node) }
    }
    throw SupportError("PipeWire has no node \(name)")
  }

  /// Removes all nodes of that name.
  public func removeNode(_ name: String) throws { try run("pw-cli", "destroy", name) }

  private static func configuration(sampleRate: Int, period: Int) -> String {
    """
    context.properties = {
      core.daemon = true  core.name = pipewire-0  support.dbus = false  log.level = 1
      default.clock.rate = \(sampleRate)  default.clock.allowed-rates = [ 44100 48000 96000 ]
      default.clock.quantum = \(period)  default.clock.min-quantum = 16  default.clock.max-quantum = 8192
      default.clock.quantum-limit = 8192
    }
    context.spa-libs = {
      audio.convert.* = audioconvert/libspa-audioconvert
      support.* = support/libspa-support
    }
    context.modules = [
      { name = libpipewire-module-rt  args = { nice.level = -11 }  flags = [ ifexists nofail ] }
      { name = libpipewire-module-protocol-native }
      { name = libpipewire-module-metadata }
      { name = libpipewire-module-spa-node-factory }
      { name = libpipewire-module-client-node }
      { name = libpipewire-module-access }
      { name = libpipewire-module-adapter }
      { name = libpipewire-module-link-factory }
    ]
    context.objects = [
      { factory = metadata  args = { metadata.name = default } }
      { factory = spa-node-factory
        args = { factory.name = support.node.driver  node.name = Dummy-Driver  node.group = pipewire.dummy
          priority.driver = 20000 } }
      { factory = spa-node-factory
        args = { factory.name = support.node.driver  node.name = Freewheel-Driver  node.group = pipewire.freewheel
          priority.driver = 19000  node.freewheel = true } }
    ]
    """
  }
}
