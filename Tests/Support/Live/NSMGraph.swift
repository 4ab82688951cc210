import Foundation
import JackTools
import TestSupport

/// A JACK server, a session manager, and a `pinna` that the manager's session started: without arguments, with NSM_URL.
public final class NSMGraph {
  public let home: PinnaHome
  public let server: PrivateServer
  public private(set) var manager = NSMPeer()
  public private(set) var program: Program
  /// The folder of sessions.
  public var sessions: String { home.folder.path + "/sessions" }
  private let words: [String]
  private let environment: [String: String]

  /// Starts the server and `pinna`, which then waits for the manager.
  /// - Parameters:
  ///   - words: its arguments; none in a session.
  ///   - environment: additions to its environment.
  public init(
    words: [String] = [], environment: [String: String] = [:], sampleRate: Int = 48000, captures: Int = 2,
    playbacks: Int = 2
  ) throws {
    home = try PinnaHome()
    server = try PrivateServer(
      name: LiveGraph.uniqueName(), sampleRate: sampleRate, period: 128, synchronous: true,
      captures: captures,
      playbacks: playbacks)
    self.words = words
    self.environment = home.environment.merging(
      ["NSM_URL": manager.url(), "JACK_DEFAULT_SERVER": server.name]
    ) { $1 }.merging(environment) { $1 }
    program = try Program(try PinnaHome.binary(), words, environment: self.environment)
  }

  deinit {
    program.stop()
    server.stop()
  }

  /// Ends `pinna` as a session manager does, and starts another one, which waits for the manager.
  public func restart() throws -> Program.Outcome {
    program.signal(SIGTERM)
    guard let outcome = program.wait(seconds: 15) else { throw SupportError("pinna does not end") }
    program = try Program(try PinnaHome.binary(), words, environment: environment)
    return outcome
  }

  /// Welcomes `pinna`, and opens its first project.
  public func begin(_ project: String, id: String = "pinna.nTEST") throws {
    _ = try manager.welcome()
    if let error = try manager.open("\(sessions)/\(project)/\(id)", id: id) {
      throw SupportError("the project cannot be opened: \(error); \(program.errorText)")
    }
  }

  /// Runs a verb for the client `id`.
  public func pinna(_ words: String..., id: String = "pinna.nTEST") throws -> Program.Outcome {
    try home.pinna(words + ["--name", id])
  }

  public func status(id: String = "pinna.nTEST") throws -> [String: Any] {
    try pinna("status", "--json", id: id).json()
  }

  /// The output of `jack_lsp` by port: the lines under each port's name.
  public func ports(_ option: String) throws -> [String: [String]] { try server.ports(option) }

  public func connect(_ source: String, _ destination: String) throws {
    let outcome = try Program.run("/usr/bin/jack_connect", ["-s", server.name, source, destination])
    guard outcome.status == 0 else { throw SupportError("\(outcome)") }
  }
}
