import JackClient
import JackWorld
import Testing

@Suite("Connections of a newly opened project") struct ConnectionMemoryTests {
  static let (old, preset, shared) = (
    Wiring.Wire("one", "card:1"), Wiring.Wire("two", "card:2"), Wiring.Wire("three", "card:3")
  )
  static let requested: Set = [preset, shared]

  /// A memory with a connection that the user made, and two of a preset.
  func memory() -> ConnectionMemory {
    let memory = ConnectionMemory()
    memory.connections.withLock {
      _ = $0.preset.follow([Self.preset, Self.shared])
      for wire in Self.requested {
        $0.preset.settle(wire, .made, now: .now)
        $0.wiring.hasMade(wire, now: .now)
      }
      $0.wiring.hasMade(Self.old, now: .now)
    }
    return memory
  }

  @Test("those of the old project and of its preset go, unless the new project or its preset has them, too")
  func adopts() {
    let memory = memory()
    let new = Wiring.Wire("one", "card:9")
    memory.replace(with: [new])
    memory.connections.withLock {
      let removed = $0.adoptReplacement(requested: Self.requested, presetConnections: [Self.shared])
      #expect(removed.sorted() == [Self.old, Self.preset])
      #expect($0.wiring.connections == ["three": ["card:3"]])
      #expect($0.wiring.remembers(new) && !$0.wiring.remembers(Self.preset))
      #expect($0.adoptReplacement(requested: [], presetConnections: []) == [], "adopted once")
    }
  }

  @Test("a connection of the old preset that the new project saved stays")
  func saved() {
    let memory = memory()
    memory.replace(with: [Self.preset])
    memory.connections.withLock {
      let removed = $0.adoptReplacement(requested: Self.requested, presetConnections: [])
      #expect(removed.sorted() == [Self.old, Self.shared].sorted())
      #expect($0.wiring.connections == ["two": ["card:2"]])
    }
  }

  @Test("in a new client, lost connections of the old preset are not made again")
  func lost() {
    let memory = memory()
    memory.markAllLost(Self.requested)
    memory.replace(with: [])
    memory.connections.withLock {
      #expect($0.adoptReplacement(requested: [], presetConnections: []) == [], "none exists")
      #expect($0.wiring.lost == [])
    }
  }
}
