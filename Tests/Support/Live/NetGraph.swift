import Foundation
import JackTools

/// Two JACK servers on a private network: a master with netjack2's manager, and a slave whose driver is the network.
///
/// libjack connects a process to one server at a time: this process can be a client of the master only.
public final class NetGraph {
  /// Why this cannot run here; nil if it can.
  public static let obstacle: String? =
    LiveGraph.isPipeWire
    ? "libjack is PipeWire's"
    : PrivateNetwork.obstacle
      ?? ["jack_net", "netmanager"].first { driver in
        !["x86_64", "aarch64"].contains {
          access("/usr/lib/\($0)-linux-gnu/jack/\(driver).so", R_OK) == 0
        }
      }.map { "jackd has no \($0).so" }

  /// The arguments of `netmanager` and of the slave's `jackd`, as docs/netjack.md has them.
  public static let managerArguments = "-a \(PrivateNetwork.address(.master)) -c"
  public static let driverArguments = "-d net -a \(PrivateNetwork.address(.master)) -n \(clientName) -l 2"
  /// The slave's name as a client of the master.
  public static let clientName = "array"
  public let master = LiveGraph.uniqueName()
  public let slave = LiveGraph.uniqueName()
  private let network: PrivateNetwork
  private var masterServer: Program?
  private var slaveServer: Program?

  public init(sampleRate: Int, period: Int) throws {
    network = try PrivateNetwork()
    try startMaster(sampleRate: sampleRate, period: period)
    slaveServer = try network.start(
      .slave, "/usr/bin/jackd",
      ["-n", slave, "-r"] + Self.driverArguments.split(separator: " ").map(String.init))
    try awaitSlave()
  }

  deinit {
    // The slave first: it tells the master that it leaves.
    slaveServer?.stop()
    masterServer?.stop()
  }

  /// Starts the master, with five inputs and two outputs as a sound card would have them.
  public func startMaster(sampleRate: Int, period: Int) throws {
    let server = try network.start(
      .master, "/usr/bin/jackd",
      [
        "-n", master, "-r", "-d", "dummy", "-C", "5", "-P", "2", "-r", "\(sampleRate)", "-p", "\(period)",
      ])
    masterServer = server
    guard try waitUntil(seconds: 10, every: 50, { try ports(of: master).contains("system:capture_5") }) else {
      throw SupportError("the master does not start: \(server.errorText)")
    }
    let load = try Program.run(
      "/usr/bin/jack_load", ["-s", master, "netmanager", "-i", Self.managerArguments],
      seconds: 10)
    guard load.output.contains("is running") else { throw SupportError("no netmanager: \(load)") }
  }

  /// Kills the master. All clients of this process must be closed before.
  public func killMaster() throws {
    masterServer?.signal(SIGKILL)
    _ = masterServer?.wait(seconds: 5)
  }

  /// Waits until the slave has found its master.
  public func awaitSlave() throws {
    // Read from the master's output: programs that join and leave while the manager opens its client can make libjack
    // 1.9.21 give that client the semaphore of another (`StaleClients`).
    let isFound = waitUntil(seconds: 20, every: 50) {
      masterServer?.outputText.contains("Syncing with latency = 1") ?? false
    }
    let isThere =
      try isFound
      && waitUntil(seconds: 5, every: 200) {
        try ports(of: master).contains("\(Self.clientName):from_slave_2")
          && ports(of: slave).contains("system:capture_5")
      }
    guard isThere else {
      throw SupportError(
        "the slave finds no master: \(slaveServer?.errorText ?? "") \(masterServer?.errorText ?? "")")
    }
  }

  /// The connections of both servers, for messages.
  public var connections: String {
    get throws {
      try [master, slave].map { try Program.run("/usr/bin/jack_lsp", ["-s", $0, "-c"], seconds: 10).output }
        .joined(separator: "slave:\n")
    }
  }

  /// Whether the master's inputs go to the slave, and what comes back goes to its outputs.
  public var isConnectedToSoundCard: Bool {
    get throws {
      let listing = try Program.run("/usr/bin/jack_lsp", ["-s", master, "-c"], seconds: 10).output
      return [
        "system:capture_5\n   \(Self.clientName):to_slave_5\n",
        "system:playback_2\n   \(Self.clientName):from_slave_2\n",
      ].allSatisfy { listing.contains($0) }
    }
  }

  private func ports(of server: String) throws -> Set<String> {
    let outcome = try Program.run("/usr/bin/jack_lsp", ["-s", server], seconds: 10)
    return outcome.status == 0 ? Set(outcome.output.split(separator: "\n").map(String.init)) : []
  }
}
