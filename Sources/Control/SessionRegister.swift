/// The sessions that programs have open at a running Pinna: which of them controls the route, and what the others
/// wish.
///
/// A session is the socket that it was opened from. It ends when that socket is closed (`ControlSocket.isThere`), and
/// whoever binds the socket's path after that is somebody else.
///
/// A session that claims the route controls it from then on; the next that claims it waits for its turn. Whoever
/// does not control it, the command line too, has a wish kept, and applied when the controlling session lets go.
struct SessionRegister {
  struct Session {
    let token: String
    /// What the program calls itself.
    let name: String
    /// Where events go.
    let sender: ControlSocket.Sender
    var wish: [Change] = []
  }

  static let limit = 32

  private(set) var sessions: [Session] = []
  /// Tokens, in the order in which they claimed; the first controls the route.
  private var claims: [String] = []
  /// Of the command line and of plain OSC.
  private(set) var wish: [Change] = []
  /// The session that chose the way out last; nil where nobody did, or the command line.
  private(set) var outputOwner: String?

  /// What the session that controls the route is called.
  var controller: String? { sessions.first { $0.token == claims.first }?.name }

  mutating func open(name: String, sender: ControlSocket.Sender) throws(Failure) -> String {
    guard sessions.count < Self.limit else {
      throw Failure(.failed, "\(Self.limit) sessions are open already; close one of them")
    }
    // Nobody else can ever be at its address, and its end is seen.
    guard sender.isHeld else {
      throw Failure(
        .usage, "a session needs an address for its events; bind your socket to a path of your own")
    }
    // Of no other session, nor of one at a Pinna that ran here before.
    let token = "session-" + String(UInt64.random(in: 0 ... .max), radix: 16)
    sessions.append(Session(token: token, name: name, sender: sender))
    return token
  }

  mutating func close(_ token: String) throws(Failure) {
    let n = try index(token)
    claims.removeAll { $0 == token }
    if outputOwner == token { outputOwner = nil }
    sessions.remove(at: n)
  }

  mutating func claim(_ token: String, _ on: Bool) throws(Failure) {
    let n = try index(token)
    if on {
      if !claims.contains(token) { claims.append(token) }
    } else {
      claims.removeAll { $0 == token }
      sessions[n].wish = []
    }
  }

  private func index(_ token: String) throws(Failure) -> Int {
    guard let n = sessions.firstIndex(where: { $0.token == token }) else {
      throw Failure(.failed, "there is no session \"\(token)\"; open one first")
    }
    return n
  }

  /// Why a wish would be kept rather than applied; nil for the session that may route.
  func obstacle(for token: String?) throws(Failure) -> String? {
    if let token { _ = try index(token) }
    guard let controller, token != claims.first else { return nil }
    return "the session \(controller) controls the route: this is kept, and applied when it lets go"
  }

  /// Keeps what cannot be applied now; a later wish of a kind takes an earlier one's place.
  mutating func keep(_ changes: [Change], for token: String?) throws(Failure) {
    if let token {
      let n = try index(token)
      sessions[n].wish = Self.merged(sessions[n].wish, changes)
    } else {
      wish = Self.merged(wish, changes)
    }
  }

  /// A wish that has come true otherwise, or was given up.
  mutating func forget(for token: String?) {
    if let token, let n = try? index(token) { sessions[n].wish = [] } else { wish = [] }
  }

  /// `changes` have been accepted from `token`.
  mutating func noteOutput(_ changes: [Change], of token: String?) {
    if changes.contains(where: { $0.key == Change.output }) { outputOwner = token }
  }

  /// The next that may be applied now: the wish of the session that controls the route, or anybody's where none does,
  /// in the order in which the sessions were opened, the command line's first.
  mutating func takeWish() -> (token: String?, wish: [Change])? {
    if claims.isEmpty, !wish.isEmpty {
      defer { wish = [] }
      return (nil, wish)
    }
    let mayRoute = sessions.indices.filter { claims.isEmpty || sessions[$0].token == claims.first }
    guard let n = mayRoute.first(where: { !sessions[$0].wish.isEmpty }) else { return nil }
    defer { sessions[n].wish = [] }
    return (sessions[n].token, sessions[n].wish)
  }

  /// Another input or preset leaves nothing of what was wished before.
  private static func merged(_ old: [Change], _ new: [Change]) -> [Change] {
    let isFresh = new.contains { [Change.input, Change.preset].contains($0.key) }
    let kept = isFresh ? [] : old.filter { change in !new.contains { $0.key == change.key } }
    return kept + new
  }
}
