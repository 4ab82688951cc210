import Foundation
import LiveSupport
import TestSupport
import Testing

/// A home whose control socket is served by `peer serve`: another process, without JACK.
struct PeerHome {
  let home: PinnaHome
  let server: Program

  var socketPath: String { home.runtimeFolder + "/pinna/pinna.sock" }

  /// - Parameter preload: additions to the server's environment.
  init(preload: (PinnaHome) throws -> [String: String] = { _ in [:] }) throws {
    home = try PinnaHome()
    let environment = home.environment.merging(try preload(home)) { $1 }
    server = try Program(try PinnaHome.built("peer"), ["serve"], environment: environment)
    let server = server
    try #require(waitUntil(seconds: 10) { server.outputText.contains("ready") }, "\(server.errorText)")
  }

  func start(_ words: String...) throws -> Program {
    try Program(try PinnaHome.built("peer"), words, environment: home.environment)
  }

  func run(_ words: String...) throws -> Program.Outcome {
    try Program.run(try PinnaHome.built("peer"), words, environment: home.environment, seconds: 30)
  }

  func sender() throws -> ControlSender { try ControlSender(runtimeFolder: home.runtimeFolder) }
}
