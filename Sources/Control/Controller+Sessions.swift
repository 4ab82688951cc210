import Foundation

/// What sessions ask for, and what they are told.
extension Controller {
  /// Applies `changes`, or keeps them where another session controls the route.
  func change(_ changes: [Change], of token: String?, _ request: Request) throws {
    _ = try register.obstacle(for: token)
    try withPreset(among: changes, request) { [unowned self] in
      try change(changes, preset: $0, of: token, request)
    }
  }

  /// Calls `body` with what the preset among `changes` sets, as soon as its file has been read; at once where there is none.
  private func withPreset(
    among changes: [Change], _ request: Request, _ body: @escaping (Setting?) throws -> Void
  ) throws {
    guard let name = changes.last(where: { $0.key == Change.preset })?.value else { return try body(nil) }
    try processor.refuseNow(changes)
    try reads.refuseMore()
    reads.add(name, processor.world.setting(ofPreset: name), request, onArrival: body)
  }

  private func change(_ changes: [Change], preset: Setting?, of token: String?, _ request: Request) throws {
    let obstacle = try register.obstacle(for: token)
    guard changes.contains(where: \.isRouting), let obstacle else {
      if token != nil, try processor.isSettled(at: processor.target(of: changes, preset: preset)) {
        // What a program asks for again and again is no route change.
        if register.outputOwner != nil { register.noteOutput(changes, of: token) }
        request.answer(.done(ChangeReport(processor.inForce)))
      } else {
        try processor.set(changes, preset: preset, request)
        register.noteOutput(changes, of: token)
      }
      // What was wished before is overtaken.
      if changes.contains(where: \.isRouting) { register.forget(for: token) }
      return
    }
    _ = try processor.target(of: changes, preset: preset)
    try register.keep(changes, for: token)
    request.answer(.done(ChangeReport(processor.inForce, kept: obstacle)))
  }

  /// A session whose program listens at `sender`.
  func open(_ name: String, _ sender: ControlSocket.Sender) throws -> Outcome {
    let name = String(
      name.unicodeScalars.filter { !$0.properties.isWhitespace && $0.value > 0x20 }.prefix(32))
    return .done(SessionAnswer(session: try register.open(name: name, sender: sender)))
  }

  func claim(_ token: String, _ word: String) throws -> Outcome {
    let before = register.controller
    try register.claim(token, try Switch(word: word) == .on)
    tellOfControl(before)
    return .done(["kept": try register.obstacle(for: token)])
  }

  func close(_ token: String) throws -> Outcome {
    let before = register.controller
    let setOutput = register.outputOwner == token
    try register.close(token)
    // What it did to the way out ends with it.
    if setOutput, processor.wanted.output != .standard {
      try register.keep([Change(Change.output, OutputChoice.standard.rawValue)], for: nil)
    }
    tellOfControl(before)
    return .done(["closed": true])
  }

  /// A period of about so many seconds; the server's answer is what it runs with.
  func requestPeriod(_ token: String, _ text: String, _ request: Request) throws {
    guard let seconds = Double(text), (0.0001...1).contains(seconds) else {
      throw Failure(.usage, "a period of \"\(text)\" s is not usable; give a number from 0.0001 to 1")
    }
    if let obstacle = try register.obstacle(for: token) { throw Failure(.refused, obstacle) }
    try processor.requestPeriod(seconds: seconds, request)
  }

  /// Applies wishes that nothing stands in the way of any more; ends sessions whose programs have gone.
  func tendSessions() {
    if .now >= nextRollCall {
      nextRollCall = .now + .seconds(1)
      for session in register.sessions where !socket.isThere(session.sender) {
        _ = try? close(session.token)
      }
    }
    guard processor.isFree, reads.isEmpty else { return }
    // One at a time: what one asked for may be impossible by now, or bring another device, for which the next waits.
    guard let (token, wish) = register.takeWish() else { return }
    let request = Request { [warn] outcome in
      if case .failed(let failure) = outcome { warn("a wish that was kept cannot be applied: \(failure)") }
    }
    do {
      try withPreset(among: wish, request) { [unowned self] in
        try processor.set(wish, preset: $0, request)
        register.noteOutput(wish, of: token)
      }
    } catch {
      warn("a wish that was kept cannot be applied: \(error)")
    }
  }

  private func tellOfControl(_ before: String?) {
    guard register.controller != before else { return }
    announce(
      EngineEvent(
        .controlChanged,
        register.controller.map { "the session \($0) controls the route" } ?? "the route is free"))
  }

  func announce(_ event: EngineEvent) {
    for session in register.sessions { socket.send(event.message, to: session.sender) }
  }
}

/// The answer to the opening of a session.
package struct SessionAnswer: Codable, Sendable {
  /// The token that the session's requests begin with.
  package let session: String
}
