import JackClient

/// The connections that Pinna makes for the preset in force. It never removes connections made by others, and a preset
/// without connections leaves all as they are.
///
/// A value; the worker of `JackAudioClient` mutates it.
package struct PresetConnections {
  private var wanted: [Wiring.Wire] = []
  /// Connections made for this preset or for earlier ones.
  private var made: Set<Wiring.Wire> = []
  /// Connections of the preset that have not been made yet. Once made, `Wiring` restores them.
  package private(set) var pending: Set<Wiring.Wire> = []

  package init() {}

  /// Changes the connections to those of another preset.
  /// - Returns: the connections to remove.
  package mutating func follow(_ wires: [Wiring.Wire]) -> [Wiring.Wire] {
    guard wires != wanted else { return [] }
    wanted = wires
    pending = Set(wires)
    return wires.isEmpty ? [] : withdraw(except: wires)
  }

  /// Withdraws all connections made so far that `wires` does not contain, even if it is empty.
  /// - Returns: the connections to remove.
  package mutating func withdraw(except wires: [Wiring.Wire]) -> [Wiring.Wire] {
    let old = made.subtracting(wires)
    made.subtract(old)
    return old.sorted()
  }

  package mutating func hasMade(_ wire: Wiring.Wire) {
    pending.remove(wire)
    made.insert(wire)
  }
}
