import Foundation
import JackTools
import TestSupport

/// A graph, a session manager, and a `pinna` that the manager's session started: without arguments, with NSM_URL. The
/// graph is `OfflineServer`'s or a real server's.
public final class NSMGraph<Server> {
  public let home: PinnaHome
  public let server: Server
  public private(set) var manager = NSMPeer()
  public private(set) var program: Program
  /// The folder of sessions.
  public var sessions: String { home.folder.path + "/sessions" }
  private let words: [String]
  private let environment: [String: String]

  /// Starts `pinna`, which then waits for the manager.
  /// - Parameters:
  ///   - words: its arguments; none in a session.
  ///   - environment: additions to its environment.
  private init(
    home: PinnaHome, server: Server, words: [String] = [], environment: [String: String]
  ) throws {
    (self.home, self.server, self.words) = (home, server, words)
    self.environment = home.environment.merging(["NSM_URL": manager.url()]) { $1 }.merging(environment) { $1 }
    program = try Program(try PinnaHome.binary(), words, environment: self.environment)
  }

  deinit { program.stop() }

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
}

extension NSMGraph where Server == OfflineServer {
  /// - Parameter isRunning: whether there is a server.
  public convenience init(
    words: [String] = [], environment: [String: String] = [:], sampleRate: Int = 48000, isRunning: Bool = true
  ) throws {
    let home = try PinnaHome()
    let server = try OfflineServer(
      home: home, sampleRate: sampleRate, captures: 2, playbacks: 2, isRunning: isRunning)
    let own = server.environment.merging(["JACK_DEFAULT_SERVER": server.name]) { $1 }
    try self.init(home: home, server: server, words: words, environment: own.merging(environment) { $1 })
  }

  /// Connects a source to a microphone as another program would, and waits until Pinna has seen it.
  public func connect(_ source: String, _ microphone: String, id: String = "pinna.nTEST") throws {
    try server.connect(source, "\(id):\(microphone)")
    let isSeen = try waitUntil(seconds: 5) {
      let connections = try status(id: id)["connections"] as? [[String: Any]] ?? []
      return connections.contains { ($0["peers"] as? [String])?.contains(source) == true }
    }
    guard isSeen else { throw SupportError("pinna does not see the connection to \(source)") }
  }
}

extension NSMGraph where Server == PrivateServer {
  public convenience init(server: PrivateServer) throws {
    try self.init(
      home: PinnaHome(), server: server, environment: ["JACK_DEFAULT_SERVER": server.name])
  }
}
