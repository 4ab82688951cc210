import CJack

/// Why a client is in no graph any more. A value; any thread.
public enum ClientLoss: Hashable, Sendable {
  /// The server has gone, with the reason that it gave.
  case server(String)
  /// Another program has removed the client from a server that runs on.
  case removed
}

/// An error of a JACK client; its description says what to do about it. A value; any thread.
public enum JackError: Error, Hashable, CustomStringConvertible {
  case noServer(String?)
  case nameTaken(String)
  case nameOfServer(String)
  case openFailed(String)
  /// The server went during a request.
  case serverGone
  /// The server is running but did not register the port.
  case portFailed(String)
  case activationFailed
  /// No period has reached the client since the last change of device.
  case stalled
  /// The feeds have as many outputs as there can be.
  case noPlace

  public var description: String {
    switch self {
    case .noServer(let name):
      let server = name.map { "JACK server \"\($0)\" is not running" } ?? "no JACK server is running"
      if name == nil, let hint = PipeWire.hint { return hint }
      return "\(server); start one, for example: jackd\(name.map { " -n \($0)" } ?? "") -d alsa"
    case .nameTaken(let name):
      return "a JACK client named \"\(name)\" is in the graph already; choose another name with --name"
    case .nameOfServer(let name):
      return
        "a client must not have the same name as its JACK server, \"\(name)\"; choose another name with --name"
    case .openFailed(let why): return "JACK refused the client: \(why)"
    case .serverGone: return "the JACK server has gone before this was done; start it again"
    case .portFailed(let name): return "JACK did not register the port \"\(name)\"; see the server's messages"
    case .activationFailed: return "JACK did not activate the client; see the server's messages"
    case .stalled: return "no periods reach Pinna; try again when they do"
    case .noPlace:
      return
        "the feeds have as many outputs as there can be, 64 with main's; remove one with: pinna feed remove"
    }
  }
}
