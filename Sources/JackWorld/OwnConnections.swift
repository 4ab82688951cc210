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
  /// Wanted connections that have not been made.
  private var pending: Set<Wiring.Wire> = []
  /// When to try those again that the server refused: a port is there a moment before its client can be connected.
  private var refusals: [Wiring.Wire: (pause: Duration, end: ContinuousClock.Instant)] = [:]

  /// The first pause after a refusal; each further one is twice as long, up to `longestPause`.
  static let shortestPause = Duration.milliseconds(20)
  static let longestPause = Duration.seconds(10)

  /// Wanted connections that the server refuses.
  package var refused: Set<Wiring.Wire> { Set(refusals.keys) }

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
    refusals = [:]
  }

  /// Withdraws all connections made so far that `wires` does not contain.
  /// - Returns: the connections to remove.
  package mutating func withdraw(except wires: [Wiring.Wire]) -> [Wiring.Wire] {
    let old = made.subtracting(wires)
    made.subtract(old)
    return old.sorted()
  }

  /// The connections to try now.
  package func due(now: ContinuousClock.Instant) -> [Wiring.Wire] {
    pending.filter { refusals[$0].map { $0.end <= now } ?? true }.sorted()
  }

  /// Records how an attempt to make a connection ended.
  package mutating func settle(
    _ wire: Wiring.Wire, _ result: ArrayClient.ConnectionResult, now: ContinuousClock.Instant
  ) {
    switch result {
    case .noPeer, .noPort: refusals[wire] = nil
    case .refused:
      let pause = refusals[wire].map { min($0.pause * 2, Self.longestPause) } ?? Self.shortestPause
      refusals[wire] = (pause, now + pause)
    case .made, .wasThere:
      if result == .made { made.insert(wire) }
      refusals[wire] = nil
      pending.remove(wire)
    }
  }
}
