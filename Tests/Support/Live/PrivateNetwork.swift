import Foundation

/// Two machines on a network of their own: network namespaces that a cable joins. They exist as long as the programs
/// in them, so that nothing remains even of a test that crashes.
public final class PrivateNetwork {
  public enum Machine { case master, slave }

  /// Why there can be no such network here; nil if there can.
  public static let obstacle: String? = {
    guard getuid() == 0 else { return "network namespaces need root" }
    for tool in [unshare, nsenter, ip] where access(tool, X_OK) != 0 { return "\(tool) is missing" }
    let isAllowed = try? Program.run(unshare, ["-n", "/bin/true"], seconds: 10).status == 0
    return isAllowed == true ? nil : "this system does not allow network namespaces"
  }()

  private static let (unshare, nsenter, ip) = ("/usr/bin/unshare", "/usr/bin/nsenter", "/usr/sbin/ip")
  /// Keep the namespaces, for five minutes at most.
  private let holders: [Machine: Program]

  public static func address(_ machine: Machine) -> String {
    machine == .master ? "10.77.0.1" : "10.77.0.2"
  }

  public init() throws {
    func hold() throws -> Program { try Program(Self.unshare, ["-n", "/bin/sleep", "300"]) }
    holders = [.master: try hold(), .slave: try hold()]
    for (_, holder) in holders { try Self.awaitNamespace(holder) }
    try run(
      .master, Self.ip, "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns",
      "\(holders[.slave]!.pid)")
    for machine in [Machine.master, .slave] {
      try run(machine, Self.ip, "address", "add", Self.address(machine) + "/24", "dev", "cable")
      for device in ["lo", "cable"] { try run(machine, Self.ip, "link", "set", device, "up") }
    }
  }

  /// Waits until `unshare` has left the namespace of this process.
  private static func awaitNamespace(_ holder: Program) throws {
    func namespace(_ process: String) -> String? {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/ns/net")
    }
    let own = namespace("self")
    let isThere = waitUntil(seconds: 5) {
      guard let its = namespace("\(holder.pid)") else { return false }
      return its != own
    }
    guard isThere else { throw SupportError("there is no network namespace: \(holder.errorText)") }
  }

  /// Starts a program on one of the machines. Its process ID is that of the result.
  public func start(_ machine: Machine, _ program: String, _ words: [String]) throws -> Program {
    try Program(Self.nsenter, ["-t", "\(holders[machine]!.pid)", "-n", program] + words)
  }

  /// Runs a program on one of the machines.
  private func run(_ machine: Machine, _ program: String, _ words: String...) throws {
    guard let outcome = try start(machine, program, words).wait(seconds: 10), outcome.status == 0 else {
      throw SupportError("\(program) \(words) failed on the \(machine)")
    }
  }
}
