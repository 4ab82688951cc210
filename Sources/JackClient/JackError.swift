import CJack

/// Why there is no connection to a JACK graph, or no way to change something in it, and what to do about it.
public enum JackError: Error, Hashable, CustomStringConvertible {
  case noServer(String?)
  case nameTaken(String)
  case nameOfServer(String)
  case openFailed(String)
  /// The server went in the middle.
  case serverGone
  /// The server is there, and did not register a port.
  case portFailed(String)
  case activationFailed
  /// The server is there, and has run no period since another device took over.
  case stalled

  public var description: String {
    switch self {
    case .noServer(let name):
      let server = name.map { "JACK server \"\($0)\" is not running" } ?? "no JACK server is running"
      return "\(server); start one, for example: jackd\(name.map { " -n \($0)" } ?? "") -d alsa"
    case .nameTaken(let name):
      return "a JACK client named \"\(name)\" is in the graph already; choose another name with --name"
    case .nameOfServer(let name):
      return "a client must not be called like its JACK server, \"\(name)\"; choose another name with --name"
    case .openFailed(let why): return "JACK did not let us in: \(why)"
    case .serverGone: return "the JACK server has gone before this was done; start it again"
    case .portFailed(let name): return "JACK did not register the port \"\(name)\""
    case .activationFailed: return "JACK did not start our client; see the server's messages"
    case .stalled: return "the JACK server runs no periods; try again when it does"
    }
  }
}
