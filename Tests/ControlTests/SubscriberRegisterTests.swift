import Control
import Messages
import Settings
import Testing

@Suite("Subscribers to feedback") struct SubscriberRegisterTests {
  let start = ContinuousClock.now
  var register = SubscriberRegister()

  static func address(_ port: UInt16) -> UDPAddress { UDPAddress("127.0.0.1", port: port)! }

  static func state(gain: Float) -> [OSCMessage] {
    [OSCMessage("/pinna/set/gain", [.float(gain)]), OSCMessage("/pinna/record", [.integer(0)])]
  }

  mutating func subscribe(
    _ port: UInt16, _ feedback: Feedback = .state, rate: Int = 10, listensAt other: UInt16? = nil,
    after seconds: Double = 0
  ) throws(Failure) {
    try register.subscribe(
      Self.address(port), to: feedback, levelsPerSecond: rate, port: other, now: start + .seconds(seconds))
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
          levels: [OSCMessage("/pinna/levels", [.float(0)])], now: start + .milliseconds(millisecond)
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

  @Test(
    "feedback goes to another port of the same host; who then listens elsewhere gets the whole state anew")
  mutating func otherPort() throws {
    var sent: [String] = []
    func publish() {
      register.publish(state: Self.state(gain: 0)) { _, address in
        sent.append("\(address)")
        return true
      }
      register.publish(levels: [OSCMessage("/pinna/levels")], now: start + .seconds(1)) { _, address in
        sent.append("levels \(address)")
        return true
      }
    }
    let ipv6 = try #require(UDPAddress("::1", port: 700))
    try register.subscribe(ipv6, to: .state, levelsPerSecond: 10, port: 9000, now: start)
    publish()
    #expect(sent == ["[::1]:9000", "[::1]:9000"])
    register.unsubscribe(ipv6)
    sent = []
    try subscribe(1, .both, listensAt: 9000)
    publish()
    let state = ["127.0.0.1:9000", "127.0.0.1:9000"]
    #expect(sent == state + ["levels 127.0.0.1:9000"])
    // Who is heard is still the address that it sends from.
    #expect(
      register.contains(Self.address(1), at: start) && !register.contains(Self.address(9000), at: start))
    sent = []
    try subscribe(1, listensAt: 9000)
    publish()
    #expect(sent == [])
    try subscribe(1, listensAt: 9001)
    publish()
    #expect(sent == ["127.0.0.1:9001", "127.0.0.1:9001"])
    try subscribe(1)
    publish()
    #expect(sent.suffix(2) == ["127.0.0.1:1", "127.0.0.1:1"])
  }
}
