import Control
import Messages
import Testing

@Suite("Subscribers to feedback") struct SubscriberRegisterTests {
  let start = ContinuousClock.now
  var register = SubscriberRegister()

  static func address(_ port: UInt16) -> UDPAddress { UDPAddress("127.0.0.1", port: port)! }

  static func state(gain: Float) -> [OSCMessage] {
    [OSCMessage("/pinna/set/gain", [.float(gain)]), OSCMessage("/pinna/record", [.integer(0)])]
  }

  mutating func subscribe(
    _ port: UInt16, _ feedback: Feedback = .state, rate: Int = 10, after seconds: Double = 0
  ) throws(Failure) {
    try register.subscribe(
      Self.address(port), to: feedback, levelsPerSecond: rate, now: start + .seconds(seconds))
  }

  @Test("a subscription lasts ten seconds after its last renewal")
  mutating func lifetime() throws {
    try subscribe(1)
    try subscribe(1, after: 6)
    #expect(register.contains(Self.address(1), at: start + .seconds(15.9)))
    #expect(!register.contains(Self.address(1), at: start + .seconds(16.1)))
    #expect(!register.contains(Self.address(2), at: start))
    register.unsubscribe(Self.address(1))
    #expect(!register.contains(Self.address(1), at: start + .seconds(6)))
  }

  @Test("a seventeenth address is refused until one has expired; a renewal is not")
  mutating func limit() throws {
    for port in UInt16(1)...16 { try subscribe(port) }
    try subscribe(16, after: 5)
    var failure: Failure?
    do { try subscribe(17, after: 5) } catch { failure = error }
    #expect(failure?.status == .failed && failure?.description.contains("16 addresses") == true)
    try subscribe(17, after: 11)
    #expect(register.subscribers.map(\.address) == [Self.address(16), Self.address(17)])
  }

  @Test("a new subscriber gets the whole state, then only what differs; what cannot be sent is sent again")
  mutating func differences() throws {
    try subscribe(1)
    var sent: [String] = []
    func publish(gain: Float, hasRoom: Bool = true) {
      register.publish(state: Self.state(gain: gain)) { message, address in
        sent.append("\(address) \(message.path)")
        return hasRoom
      }
    }
    publish(gain: 0)
    publish(gain: 0)
    #expect(sent == ["127.0.0.1:1 /pinna/set/gain", "127.0.0.1:1 /pinna/record"])
    sent = []
    publish(gain: 1, hasRoom: false)
    publish(gain: 1)
    publish(gain: 1)
    #expect(sent == ["127.0.0.1:1 /pinna/set/gain", "127.0.0.1:1 /pinna/set/gain"])
    sent = []
    try subscribe(2, after: 1)
    try subscribe(1, after: 1)
    publish(gain: 1)
    #expect(sent == ["127.0.0.1:2 /pinna/set/gain", "127.0.0.1:2 /pinna/record"])
  }

  @Test(
    "levels come at the requested rate, and those that a pause missed are not made up for",
    arguments: [1, 30])
  mutating func rate(rate: Int) throws {
    try subscribe(1, .levels, rate: rate)
    try subscribe(2, .state)
    var count = 0
    func run(from: Int, to: Int) {
      for millisecond in from..<to {
        register.publish(
          levels: OSCMessage("/pinna/levels", [.float(0)]), now: start + .milliseconds(millisecond)
        ) { _, address in
          #expect(address == Self.address(1))
          count += 1
          return true
        }
      }
    }
    run(from: 0, to: 2000)
    #expect(abs(count - 2 * rate) <= 1, "\(count)")
    count = 0
    run(from: 5000, to: 6000)
    #expect(abs(count - rate) <= 1, "\(count)")
  }
}
