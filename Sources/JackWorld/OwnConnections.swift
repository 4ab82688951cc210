import JackClient
import Processor

/// The connections that Pinna makes for one purpose: the preset in force, or the chosen output. Each is made once, when both
/// ports are there; from then on `Wiring` restores it, or forgets it if the user removes it. Connections that others made
/// are never removed.
///
/// A value; the worker of `JackAudioClient` mutates it.
package struct OwnConnections {
  private var wanted: [Wiring.Wire] = []
  /// Connections that Pinna made, now or for what was wanted before.
  private var made: Set<Wiring.Wire> = []
  /// Wanted connections that have not been tried with both ports there.
  package private(set) var pending: Set<Wiring.Wire> = []
  /// Wanted connections that the server refused. They are not tried again.
  package private(set) var refused: Set<Wiring.Wire> = []

  package init() {}

  /// Changes what is wanted.
  /// - Returns: the connections to remove: those that Pinna made and that are no longer wanted.
  package mutating func follow(_ wires: [Wiring.Wire]) -> [Wiring.Wire] {
    guard wires != wanted else { return [] }
    want(wires)
    return withdraw(except: wires)
  }

  /// The same, but leaves all connections as they are if nothing is wanted.
  package mutating func followUnlessEmpty(_ wires: [Wiring.Wire]) -> [Wiring.Wire] {
    if !wires.isEmpty { return follow(wires) }
    want([])
    return []
  }

  private mutating func want(_ wires: [Wiring.Wire]) {
    wanted = wires
    pending = Set(wires)
    refused = []
  }

  /// Withdraws all connections made so far that `wires` does not contain.
  /// - Returns: the connections to remove.
  package mutating func withdraw(except wires: [Wiring.Wire]) -> [Wiring.Wire] {
    let old = made.subtracting(wires)
    made.subtract(old)
    return old.sorted()
  }

  /// Records how an attempt to make a pending connection ended.
  package mutating func settle(_ wire: Wiring.Wire, _ result: ArrayClient.ConnectionResult) {
    switch result {
    case .noPeer, .noPort: return
    case .made: made.insert(wire)
    case .refused: refused.insert(wire)
    case .wasThere: break
    }
    pending.remove(wire)
  }
}
