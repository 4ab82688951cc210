import Control
import Messages
import Settings
import Testing

@Suite("Sessions and who controls the route") struct SessionRegisterTests {
  private let gain: Change = .set(.gain, .number(-6))
  private let pattern: Change = .set(.pattern, .word("cardioid"))

  private func open(_ register: inout SessionRegister, _ name: String) throws -> String {
    try register.open(name: name, sender: ControlSocket.Sender(connection: 1, number: nil))
  }

  @Test("the first to claim the route controls it, then the next, whether it is released or the session ends")
  func claims() throws {
    var register = SessionRegister()
    let (anna, ben) = (try open(&register, "anna"), try open(&register, "ben"))
    #expect(register.controller == nil)
    try register.claim(anna, true)
    try register.claim(ben, true)
    #expect(register.controller == "anna")
    #expect(try register.obstacle(for: anna) == nil)
    #expect(try register.obstacle(for: ben) != nil && register.obstacle(for: nil) != nil)
    try register.claim(anna, false)
    #expect(register.controller == "ben")
    try register.claim(anna, true)
    try register.close(ben)
    #expect(register.controller == "anna")
    try register.close(anna)
    #expect(register.controller == nil && register.sessions.isEmpty)
  }

  @Test(
    "what was deferred is applied when the route is free: the command line's, then sessions' in their order")
  func order() throws {
    var register = SessionRegister()
    let (anna, ben) = (try open(&register, "anna"), try open(&register, "ben"))
    try register.claim(anna, true)
    try register.keep([gain], for: ben)
    try register.keep([pattern], for: nil)
    #expect(register.popDeferredChanges() == nil)
    try register.close(anna)
    let (first, second) = (register.popDeferredChanges(), register.popDeferredChanges())
    #expect(first?.token == nil && first?.deferredChanges == [pattern])
    #expect(second?.token == ben && second?.deferredChanges == [gain])
    #expect(register.popDeferredChanges() == nil)
  }

  @Test("a session that releases the route drops what it had deferred")
  func release() throws {
    var register = SessionRegister()
    let (anna, ben) = (try open(&register, "anna"), try open(&register, "ben"))
    for token in [anna, ben] { try register.claim(token, true) }
    try register.keep([gain], for: ben)
    try register.claim(ben, false)
    try register.close(anna)
    #expect(register.popDeferredChanges() == nil)
  }

  @Test("a later value replaces an earlier one of the same kind; another input or preset replaces all")
  func merging() throws {
    var register = SessionRegister()
    let anna = try open(&register, "anna")
    try register.claim(anna, true)
    let (louder, input): (Change, Change) = (.set(.gain, .number(3)), .set(.input, .word("b")))
    for change in [gain, pattern, louder] { try register.keep([change], for: nil) }
    #expect(register.deferredChanges == [pattern, louder])
    try register.keep([input], for: nil)
    #expect(register.deferredChanges == [input])
    try register.keep([pattern], for: nil)
    try register.keep([.preset("phone5")], for: nil)
    #expect(register.deferredChanges == [.preset("phone5")])
  }

  @Test("sessions are limited; one that has closed makes room")
  func limit() throws {
    var register = SessionRegister()
    let first = try open(&register, "0")
    for n in 1..<SessionRegister.limit { _ = try open(&register, "\(n)") }
    #expect(throws: Failure.self) { try open(&register, "one more") }
    try register.close(first)
    _ = try open(&register, "one more")
    #expect(throws: Failure.self) { try register.claim(first, true) }
  }
}
