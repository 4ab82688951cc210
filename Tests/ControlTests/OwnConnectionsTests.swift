import JackClient
import JackWorld
import Testing

@Suite("Connections that Pinna makes") struct OwnConnectionsTests {
  static let (a, b, c) = (
    Wiring.Wire("one", "card:1"), Wiring.Wire("two", "card:2"), Wiring.Wire("one", "card:3")
  )

  static let start = ContinuousClock.now

  @Test("connections are made once; what is wanted later takes their place")
  func follow() {
    var connections = OwnConnections()
    #expect(connections.follow([Self.a, Self.b]) == [])
    #expect(connections.due(now: Self.start) == [Self.a, Self.b])
    connections.settle(Self.a, .made, now: Self.start)
    connections.settle(Self.b, .made, now: Self.start)
    // Whoever disconnects one afterwards is not contradicted.
    #expect(connections.follow([Self.a, Self.b]) == [] && connections.due(now: Self.start) == [])
    #expect(connections.follow([Self.b, Self.c]) == [Self.a])
    #expect(connections.due(now: Self.start) == [Self.c, Self.b])
  }

  @Test("a preset without connections leaves those of the preset before; the one after that replaces them")
  func without() {
    var connections = OwnConnections()
    _ = connections.follow([Self.a, Self.b])
    connections.settle(Self.a, .made, now: Self.start)
    #expect(connections.followUnlessEmpty([]) == [] && connections.due(now: Self.start) == [])
    #expect(connections.followUnlessEmpty([Self.c]) == [Self.a])
    connections.settle(Self.c, .made, now: Self.start)
    // An output that goes nowhere.
    #expect(connections.follow([]) == [Self.c])
  }

  @Test("a connection whose port or peer does not exist stays due")
  func absent() {
    var connections = OwnConnections()
    _ = connections.follow([Self.a, Self.b])
    connections.settle(Self.a, .noPeer, now: Self.start)
    connections.settle(Self.b, .noPort, now: Self.start)
    #expect(connections.due(now: Self.start) == [Self.a, Self.b] && connections.refused == [])
  }

  @Test("a connection that others made is not withdrawn")
  func others() {
    var connections = OwnConnections()
    _ = connections.follow([Self.a])
    connections.settle(Self.a, .wasThere, now: Self.start)
    #expect(connections.due(now: Self.start) == [] && connections.follow([Self.c]) == [])
  }

  @Test("a refused connection is tried again, at pauses that grow from 20 ms to 10 s, until it is made")
  func refused() {
    var connections = OwnConnections()
    _ = connections.follow([Self.a, Self.b])
    var now = Self.start
    for milliseconds in [20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_000, 10_000] {
      connections.settle(Self.b, .refused, now: now)
      #expect(connections.refused == [Self.b])
      now += .milliseconds(milliseconds)
      #expect(connections.due(now: now - .milliseconds(1)) == [Self.a])
      #expect(connections.due(now: now) == [Self.a, Self.b])
    }
    connections.settle(Self.b, .made, now: now)
    #expect(connections.refused == [] && connections.due(now: now) == [Self.a])
    #expect(connections.follow([]) == [Self.b])
  }

  @Test("a refusal is forgotten when something else is wanted or the peer goes")
  func newRefusal() {
    var connections = OwnConnections()
    _ = connections.follow([Self.b])
    connections.settle(Self.b, .refused, now: Self.start)
    #expect(connections.due(now: Self.start) == [])
    connections.settle(Self.b, .noPeer, now: Self.start)
    #expect(connections.refused == [] && connections.due(now: Self.start) == [Self.b])
    connections.settle(Self.b, .refused, now: Self.start)
    #expect(connections.follow([Self.c]) == [] && connections.refused == [])
    #expect(connections.follow([Self.b]) == [] && connections.due(now: Self.start) == [Self.b])
  }
}
