import JackClient

/// The connections that Pinna makes for the preset in force. It never removes connections made by others, and a preset
/// without connections leaves all as they are.
///
/// A value; the worker of `JackAudioClient` mutates it.
package struct PresetConnections {
  /// How an attempt to make a connection ended.
  package enum Result: Sendable { case made, othersMade, refused }

  private var wanted: [Wiring.Wire] = []
  /// Connections that Pinna made for this preset or for earlier ones.
  private var made: Set<Wiring.Wire> = []
  /// Connections of the preset that have not been tried with both ports there. Once made, `Wiring` restores them.
  package private(set) var pending: Set<Wiring.Wire> = []
  /// Connections of the preset that the server refused. They are not tried again.
  package private(set) var refused: Set<Wiring.Wire> = []

  package init() {}

  /// Changes the connections to those of another preset.
  /// - Returns: the connections to remove.
  package mutating func follow(_ wires: [Wiring.Wire]) -> [Wiring.Wire] {
    guard wires != wanted else { return [] }
    wanted = wires
    pending = Set(wires)
    refused = []
    return wires.isEmpty ? [] : withdraw(except: wires)
  }

  /// Withdraws all connections made so far that `wires` does not contain, even if it is empty.
  /// - Returns: the connections to remove.
  package mutating func withdraw(except wires: [Wiring.Wire]) -> [Wiring.Wire] {
    let old = made.subtracting(wires)
    made.subtract(old)
    return old.sorted()
  }

  package mutating func settle(_ wire: Wiring.Wire, _ result: Result) {
    pending.remove(wire)
    switch result {
    case .made: made.insert(wire)
    case .othersMade: break
    case .refused: refused.insert(wire)
    }
  }
}
