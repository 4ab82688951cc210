/// The sessions that programs have open at a running Pinna: which of them controls the route, and what the others
/// wish.
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
  private var opened = 0

  /// What the session that controls the route is called.
  var controller: String? { sessions.first { $0.token == claims.first }?.name }

  mutating func open(name: String, sender: ControlSocket.Sender) throws(Failure) -> String {
    guard sessions.count < Self.limit else {
      throw Failure(.failed, "\(Self.limit) sessions are open already; close one of them")
    }
    opened += 1
    sessions.append(Session(token: "session-\(opened)", name: name, sender: sender))
    return sessions.last!.token
  }

  mutating func close(_ token: String) throws(Failure) {
    let n = try index(token)
    claims.removeAll { $0 == token }
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

  /// What may be applied now: the wish of the session that controls the route, or everybody's where none does.
  mutating func takeWish() -> [Change] {
    var taken: [Change] = []
    if controller == nil {
      taken = Self.merged(taken, wish)
      wish = []
    }
    for n in sessions.indices where claims.isEmpty || sessions[n].token == claims.first {
      taken = Self.merged(taken, sessions[n].wish)
      sessions[n].wish = []
    }
    return taken
  }

  /// Another input or preset leaves nothing of what was wished before.
  private static func merged(_ old: [Change], _ new: [Change]) -> [Change] {
    let isFresh = new.contains { [Change.input, Change.preset].contains($0.key) }
    let kept = isFresh ? [] : old.filter { change in !new.contains { $0.key == change.key } }
    return kept + new
  }
}
