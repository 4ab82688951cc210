import Foundation
import JackClient
import JackTools
import Recording
import Synchronization
import TestSupport

extension PrivateServer: TestServer {}

/// A JACK graph for one test: a server on the dummy driver, a running `pinna` in it, and a client that sets
/// periods and freewheel.
public final class LiveGraph: PinnaGraph {
  /// Whether this machine has the programs that these tests need.
  public static let isPossible: Bool = {
    JackConnection.silenceLibrary()
    // For writes to a server that a test has killed. Not ignored, since child processes would inherit that.
    signal(SIGPIPE) { _ in }
    return ["jackd", "jack_lsp"].allSatisfy { access("/usr/bin/\($0)", X_OK) == 0 }
      && (!isPipeWire || PrivatePipeWire.isInstalled)
  }()

  /// Whether these tests run on PipeWire: started with pw-jack, they load its libjack.
  public static let isPipeWire = JackLibrary.isPipeWire

  public let home: PinnaHome
  public private(set) var server: any TestServer
  /// The server, if it is PipeWire.
  public var pipeWire: PrivatePipeWire? { server as? PrivatePipeWire }
  public private(set) var program: Program
  public var serverName: String { server.name }
  public let sampleRate: Int
  private var connection: JackConnection?
  private let arguments: [String]
  private let environment: [String: String]
  public let isSynchronous: Bool
  private let physical: (captures: Int, playbacks: Int)
  private var serverKilled = false

  private static let count = Atomic<Int>(0)

  /// A server name that nobody else on this machine uses.
  public static func uniqueName() -> String {
    "pinna-live-\(getpid())-\(count.wrappingAdd(1, ordering: .relaxed).newValue)"
  }

  /// Returns when Pinna answers and its first fade is over.
  /// - Parameters:
  ///   - options: further options of `pinna run`.
  ///   - environment: additions to its environment.
  ///   - captures, playbacks: the server's physical ports.
  public init(
    preset: String, sampleRate: Int = 48000, period: Int = 128, synchronous: Bool = false,
    home: PinnaHome? = nil, options: [String] = [], environment: [String: String] = [:], captures: Int = 0,
    playbacks: Int = 0
  ) throws {
    physical = (captures, playbacks)
    self.home = try home ?? PinnaHome()
    self.sampleRate = sampleRate
    isSynchronous = synchronous
    server =
      Self.isPipeWire
      ? try PrivatePipeWire(sampleRate: sampleRate, period: period)
      : try PrivateServer(
        name: Self.uniqueName(), sampleRate: sampleRate, period: period, synchronous: synchronous,
        captures: captures, playbacks: playbacks)
    arguments = ["--server", server.name, "--preset", preset] + options
    self.environment = environment
    program = try self.home.start(arguments, environment)
    try awaitAnswer()
    try connect()
  }

  private func connect() throws {
    connection = try JackConnection(name: "conductor", server: server.name)
    try connection!.activate()
  }

  deinit {
    // This process's client is closed last, when nothing changes in the graph any more. Closing cancels libjack's thread; if
    // that was just handling a change, it never releases its lock, and this process can open and close no other client.
    program.stop()
    if !serverKilled, program.wasKilled { awaitLeaving() }
    connection?.close()
    server.stop()
    if serverKilled { releasePlace() }
  }

  /// Waits until the server has noticed that Pinna was killed, and has told this process: a program that ends by itself
  /// leaves the graph before.
  private func awaitLeaving() {
    _ = waitUntil(seconds: 5) { connection?.hasPort("pinna:control") != true }
    usleep(300_000)
  }

  /// Frees the slot that a killed server keeps among a machine's eight, by a clean exit of a server of the
  /// same name. In separate programs, because libjack in this process still knows the dead server under that
  /// name.
  private func releasePlace() {
    if Self.isPipeWire { return }
    LockedMetadata.remove()
    guard
      let successor = try? Program("/usr/bin/jackd", ["-n", server.name, "-r", "-p", "128", "-d", "dummy"])
    else { return }
    _ = waitUntil(seconds: 5) {
      (try? Program.run("/usr/bin/jack_lsp", ["-s", server.name], seconds: 5))?.status == 0
    }
    successor.stop()
  }

  public func killServer() {
    serverKilled = true
    kill(server.pid, SIGKILL)
  }

  /// Starts another server of the same name, after `killServer`. All clients of this process must be closed
  /// before, because libjack would confuse the new server with the dead one. Returns when the server has
  /// accepted the first client.
  @discardableResult
  public func restartServer(sampleRate: Int = 48000, period: Int = 128) throws -> ContinuousClock.Instant {
    connection?.close()
    connection = nil
    server.stop()
    if let pipeWire {
      try pipeWire.restart(sampleRate: sampleRate, period: period)
    } else {
      LockedMetadata.remove()
      server = try PrivateServer(
        name: server.name, sampleRate: sampleRate, period: period, synchronous: isSynchronous,
        captures: physical.captures, playbacks: physical.playbacks)
    }
    serverKilled = false
    let up = ContinuousClock.now
    try connect()
    return up
  }

  public func hasPort(_ name: String) -> Bool { connection!.hasPort(name) }

  /// Starts `pinna run` with the same arguments again after it has ended.
  /// - Parameter options: further ones, for this time.
  public func restart(_ options: [String] = []) throws {
    program = try home.start(arguments + options, environment)
    try awaitAnswer()
  }

  // MARK: The graph

  /// The environment of JACK's own tools, which connect to the default server.
  public var jackEnvironment: [String: String] {
    home.environment.merging(["JACK_DEFAULT_SERVER": server.name, "PIPEWIRE_REMOTE": server.name]) { $1 }
  }

  public func requestPeriod(_ frames: Int) -> Bool { connection!.requestPeriod(frames) }

  public func freewheel<Result>(_ body: () throws -> Result) throws -> Result {
    guard connection!.setFreewheel(true) else { throw SupportError("the server does not freewheel") }
    defer { connection!.setFreewheel(false) }
    return try body()
  }

  /// Retries while the server still removes a client of the same name.
  private func whenFree<Client>(_ open: () throws -> Client) throws -> Client {
    let end = ContinuousClock.now + .seconds(2)
    while true {
      do { return try open() } catch JackError.nameTaken(let name) {
        guard .now < end else { throw JackError.nameTaken(name) }
        usleep(20_000)
      }
    }
  }

  /// A player connected to Pinna's microphones, not yet started.
  public func player(_ channels: [[Float]], repeats: Bool = false) throws -> SignalPlayer {
    let player = try whenFree {
      try SignalPlayer(name: "player", server: server.name, channels: channels, repeats: repeats)
    }
    guard player.connect(to: try microphones().map { "pinna:\($0)" }) else {
      throw SupportError("the player does not fit pinna's microphones")
    }
    return player
  }

  /// A recorder of three channels: Pinna's outputs, and the player's first channel as Pinna received it; and of `more`
  /// ports of Pinna.
  public func recorder(seconds: Double, _ more: [String] = []) throws -> SignalRecorder {
    let recorder = try whenFree {
      try SignalRecorder(
        name: "recorder", server: server.name, channels: 3 + more.count,
        capacityFrames: Int(seconds * Double(sampleRate)))
    }
    let ports = ["pinna:out_left", "pinna:out_right", "player:out_1"] + more.map { "pinna:\($0)" }
    guard recorder.connect(from: ports) else {
      throw SupportError("the recorder cannot be connected")
    }
    return recorder
  }

  /// The output of `jack_lsp` by port: the lines under each port's name.
  public func ports(_ option: String) throws -> [String: [String]] { try server.ports(option) }
}

extension SignalRecorder {
  /// Everything recorded. Shape: `[channel][frame]`.
  public var everything: [[Float]] { channels(at: 0, count: frames) }
}
