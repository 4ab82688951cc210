import JackClient
import JackWorld
import Testing

@Suite("Connections that Pinna makes") struct OwnConnectionsTests {
  static let (a, b, c) = (
    Wiring.Wire("one", "card:1"), Wiring.Wire("two", "card:2"), Wiring.Wire("one", "card:3")
  )

  @Test("connections are made once; what is wanted later takes their place")
  func follow() {
    var connections = OwnConnections()
    #expect(connections.follow([Self.a, Self.b]) == [])
    #expect(connections.pending == [Self.a, Self.b])
    connections.settle(Self.a, .made)
    connections.settle(Self.b, .made)
    // Whoever disconnects one afterwards is not contradicted.
    #expect(connections.follow([Self.a, Self.b]) == [] && connections.pending == [])
    #expect(connections.follow([Self.b, Self.c]) == [Self.a])
    #expect(connections.pending == [Self.b, Self.c])
  }

  @Test("a preset without connections leaves those of the preset before; the one after that replaces them")
  func without() {
    var connections = OwnConnections()
    _ = connections.follow([Self.a, Self.b])
    connections.settle(Self.a, .made)
    #expect(connections.followUnlessEmpty([]) == [] && connections.pending == [])
    #expect(connections.followUnlessEmpty([Self.c]) == [Self.a])
    connections.settle(Self.c, .made)
    // An output that goes nowhere.
    #expect(connections.follow([]) == [Self.c])
  }

  @Test("a connection whose port or peer does not exist stays pending")
  func absent() {
    var connections = OwnConnections()
    _ = connections.follow([Self.a, Self.b])
    connections.settle(Self.a, .noPeer)
    connections.settle(Self.b, .noPort)
    #expect(connections.pending == [Self.a, Self.b] && connections.refused == [])
  }

  @Test(
    "a connection that others made is not withdrawn; one that JACK refuses is not tried again"
  )
  func others() {
    var connections = OwnConnections()
    _ = connections.follow([Self.a, Self.b])
    connections.settle(Self.a, .wasThere)
    connections.settle(Self.b, .refused)
    #expect(connections.pending == [] && connections.refused == [Self.b])
    #expect(connections.follow([Self.c]) == [] && connections.refused == [])
    #expect(connections.follow([Self.b]) == [] && connections.pending == [Self.b])
  }
}
