import Messages
import Processor
import Settings
import Text

/// The open sessions: which one controls the route, and the deferred changes of the others.
///
/// A session ends with the connection through which it was opened (`ControlSocket.isThere`). Its requests may come
/// through other connections.
///
/// The first session to claim the route controls it until it releases it; further claims queue. Routing changes by
/// anyone else, including the command line, are deferred until then.
package struct SessionRegister {
  package struct Session {
    package let token: String
    /// The program's name, as it gave it.
    let name: String
    /// Destination of its events.
    let sender: ControlSocket.Sender
    fileprivate(set) var deferredChanges: [Change] = []
  }

  package static let limit = 32

  package private(set) var sessions: [Session] = []
  /// Tokens, in the order in which they claimed; the first controls the route.
  private var claims: [String] = []
  /// Deferred changes of the command line and of plain OSC.
  package private(set) var deferredChanges: [Change] = []
  /// Token of the session that last chose the output; nil if the command line did, or nobody.
  package private(set) var outputOwner: String?

  /// Name of the session that controls the route; nil if the route is free.
  package var controller: String? { sessions.first { $0.token == claims.first }?.name }

  package init() {}

  package mutating func open(name: String, sender: ControlSocket.Sender) throws(Failure) -> String {
    guard sessions.count < Self.limit else {
      throw Failure(.failed, "\(Self.limit) sessions are open already; close one of them")
    }
    // Unique even across restarts of Pinna.
    let token = "session-" + String(UInt64.random(in: 0 ... .max), radix: 16)
    sessions.append(Session(token: token, name: name, sender: sender))
    return token
  }

  package mutating func close(_ token: String) throws(Failure) {
    let n = try index(token)
    claims.removeAll { $0 == token }
    if outputOwner == token { outputOwner = nil }
    sessions.remove(at: n)
  }

  package mutating func claim(_ token: String, _ on: Bool) throws(Failure) {
    let n = try index(token)
    if on {
      if !claims.contains(token) { claims.append(token) }
    } else {
      claims.removeAll { $0 == token }
      sessions[n].deferredChanges = []
    }
  }

  private func index(_ token: String) throws(Failure) -> Int {
    guard let n = sessions.firstIndex(where: { $0.token == token }) else {
      throw Failure(.failed, "there is no session \(token.quoted); open one first")
    }
    return n
  }

  /// Why routing changes of `token` would be deferred; nil if they may be applied.
  package func obstacle(for token: String?) throws(Failure) -> String? {
    if let token { _ = try index(token) }
    guard let controller, token != claims.first else { return nil }
    return
      "the session \(controller) controls the route: this is kept, and applied when it releases the route"
  }

  /// Defers `changes`. A later change of a key replaces an earlier one.
  package mutating func keep(_ changes: [Change], for token: String?) throws(Failure) {
    if let token {
      let n = try index(token)
      sessions[n].deferredChanges = Self.merged(sessions[n].deferredChanges, changes)
    } else {
      deferredChanges = Self.merged(deferredChanges, changes)
    }
  }

  /// Drops deferred changes that have been superseded.
  package mutating func forget(for token: String?) {
    if let token, let n = try? index(token) { sessions[n].deferredChanges = [] } else { deferredChanges = [] }
  }

  /// Records who chose the output, if the accepted `changes` include one.
  package mutating func noteOutput(_ changes: [Change], of token: String?) {
    if changes.contains(where: { $0.key == .output }) { outputOwner = token }
  }

  /// Removes and returns deferred changes that may be applied now: those of the controlling session, or if the route is
  /// free, anyone's; the command line's first, then in the order in which the sessions were opened.
  package mutating func popDeferredChanges() -> (token: String?, deferredChanges: [Change])? {
    if claims.isEmpty, !deferredChanges.isEmpty {
      defer { deferredChanges = [] }
      return (nil, deferredChanges)
    }
    let mayRoute = sessions.indices.filter { claims.isEmpty || sessions[$0].token == claims.first }
    guard let n = mayRoute.first(where: { !sessions[$0].deferredChanges.isEmpty }) else { return nil }
    defer { sessions[n].deferredChanges = [] }
    return (sessions[n].token, sessions[n].deferredChanges)
  }

  /// A new input or preset discards all earlier deferred changes.
  private static func merged(_ old: [Change], _ new: [Change]) -> [Change] {
    let replacesAll = new.contains(where: \.choosesDevice)
    let kept = replacesAll ? [] : old.filter { change in !new.contains { $0.key == change.key } }
    return kept + new
  }
}
