import Glibc
import Messages
import Processor
import Settings
import Text

/// Sessions: their requests and their events.
extension Controller {
  /// Applies `changes`, or defers them if another session controls the route.
  /// - Parameter token: the session that requests them; nil for the command line and plain OSC.
  func change(_ changes: [Change], of token: String?, _ request: Request) throws {
    _ = try register.obstacle(for: token)
    try withPreset(among: changes, request) { [unowned self] in
      try change(changes, preset: $0, of: token, request)
    }
  }

  /// Calls `body` with the setting of the preset that `changes` names, once its file has been read. Calls it at once
  /// with nil if they name no preset.
  private func withPreset(
    among changes: [Change], _ request: Request, _ body: @escaping (Setting?) throws -> Void
  ) throws {
    guard let name = changes.preset else { return try body(nil) }
    try processor.refuseNow(changes)
    try reads.add("the preset \(name)", processor.world.setting(ofPreset: name), request, onRead: body)
  }

  private func change(_ changes: [Change], preset: Setting?, of token: String?, _ request: Request) throws {
    let obstacle = try register.obstacle(for: token)
    guard changes.contains(where: \.isRouting), let obstacle else {
      if token != nil, try processor.isSettled(at: processor.target(of: changes, preset: preset)) {
        // Programs repeat their requests; without an effect they must not fade or notify.
        if register.outputOwner != nil { register.noteOutput(changes, of: token) }
        request.answer(.done(processor.changeReport()))
      } else {
        try processor.set(changes, preset: preset, request)
        register.noteOutput(changes, of: token)
      }
      // These changes supersede deferred ones.
      if changes.contains(where: \.isRouting) { register.forget(for: token) }
      return
    }
    _ = try processor.target(of: changes, preset: preset)
    try register.keep(changes, for: token)
    request.answer(.done(processor.changeReport(kept: obstacle)))
  }

  /// The token that a session's request begins with.
  func token(_ words: [String], _ sender: Sender) throws -> String {
    _ = try refuseSessionOverUDP(sender)
    return words[0]
  }

  /// Opens a session whose events go to `sender`.
  /// - Parameter name: the program's name; white space and control characters are removed.
  func open(_ name: String, _ sender: ControlSocket.Sender) throws -> Outcome {
    let name = String(
      name.unicodeScalars.filter { !$0.properties.isWhitespace && $0.value > 0x20 }.prefix(32))
    let token = try register.open(name: name, sender: sender)
    socket.noteSession(of: sender)
    return .done(SessionAnswer(session: token))
  }

  /// Makes a session claim the route ("on") or release it ("off").
  func claim(_ token: String, _ word: String) throws -> Outcome {
    let before = register.controller
    try register.claim(token, try Switch(word: word) == .on)
    announceControlChange(before)
    return .done(["kept": try register.obstacle(for: token)])
  }

  /// Closes a session. An output that it chose returns to the standard one.
  func close(_ token: String) throws -> Outcome {
    let before = register.controller
    let setOutput = register.outputOwner == token
    try register.close(token)
    // Deferred until the route is free.
    if setOutput, processor.wanted.output != .standard {
      try register.keep([.set(.output, .word(OutputChoice.standard.rawValue))], for: nil)
    }
    announceControlChange(before)
    return .done(["closed": true])
  }

  /// Requests a period of about this many seconds. The answer contains the period that the server uses.
  func requestPeriod(_ token: String, _ text: String, _ request: Request) throws {
    guard let seconds = text.decimal, (0.0001...1).contains(seconds) else {
      throw Failure(
        .usage, "the period \(text.quoted) is not usable; give a number of seconds from 0.0001 to 1")
    }
    if let obstacle = try register.obstacle(for: token) { throw Failure(.refused, obstacle) }
    try processor.requestPeriod(seconds: seconds, request)
  }

  /// Closes sessions whose connections have ended, and applies deferred changes that are no longer blocked.
  func maintainSessions() {
    for session in register.sessions where !socket.isThere(session.sender) {
      _ = try? close(session.token)
    }
    guard processor.isFree, reads.isEmpty else { return }
    // One per call: a deferred change may fail by now, or change the device, which the next one must wait for.
    guard let (token, deferredChanges) = register.popDeferredChanges() else { return }
    let request = Request { [warn] outcome in
      if case .failed(let failure) = outcome { warn("a deferred change cannot be applied: \(failure)") }
    }
    do {
      try withPreset(among: deferredChanges, request) { [unowned self] in
        try processor.set(deferredChanges, preset: $0, request)
        register.noteOutput(deferredChanges, of: token)
      }
    } catch {
      warn("a deferred change cannot be applied: \(error)")
    }
  }

  private func announceControlChange(_ previous: String?) {
    guard register.controller != previous else { return }
    announce(
      EngineEvent(
        .controlChanged,
        register.controller.map { "the session \($0) controls the route" } ?? "the route is free"))
  }

  /// Sends `event` to all sessions.
  func announce(_ event: EngineEvent) {
    for session in register.sessions { socket.send(event.message, to: session.sender) }
  }
}
