import Control
import JackClient
import Testing

@Suite("Connections of presets") struct PresetConnectionsTests {
  static let (a, b, c) = (
    Wiring.Wire("one", "card:1"), Wiring.Wire("two", "card:2"), Wiring.Wire("one", "card:3")
  )

  @Test("a preset's connections are made once; another preset's take their place")
  func follow() {
    var connections = PresetConnections()
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
    var connections = PresetConnections()
    _ = connections.follow([Self.a, Self.b])
    connections.settle(Self.a, .made)
    #expect(connections.follow([]) == [] && connections.pending == [])
    #expect(connections.follow([Self.c]) == [Self.a])
  }

  @Test(
    "a connection that others made is not withdrawn; one that JACK refuses is not tried again for this preset"
  )
  func others() {
    var connections = PresetConnections()
    _ = connections.follow([Self.a, Self.b])
    connections.settle(Self.a, .othersMade)
    connections.settle(Self.b, .refused)
    #expect(connections.pending == [] && connections.refused == [Self.b])
    #expect(connections.follow([Self.c]) == [] && connections.refused == [])
    #expect(connections.follow([Self.b]) == [] && connections.pending == [Self.b])
  }
}
