import JackClient
import Processor
import Synchronization

extension ConnectionMemory.Connections {
  /// Adopts the connections of a newly opened project, if there is one.
  /// - Parameters:
  ///   - requested: connections that were requested through the current client.
  ///   - presetConnections: the connections of the project's preset. Those made for earlier presets are removed.
  /// - Returns: the existing connections to remove.
  package mutating func adoptReplacement(requested: Set<Wiring.Wire>, presetConnections: [Wiring.Wire])
    -> [Wiring.Wire]
  {
    guard let wires = replacement else { return [] }
    replacement = nil
    wiring.keep(requested)
    let made = wiring.connections
    let others = (wiring.restorable + preset.withdraw(except: presetConnections)).filter {
      !wires.contains($0)
    }
    for wire in others { wiring.forget(wire) }
    wiring.restore(wires)
    return others.filter { made[$0.port]?.contains($0.peer) ?? false }
  }
}

/// The connections of Pinna's ports, kept from one client to the next.
///
/// Thread: any. In practice the control thread (`markAllLost`) and the worker of the current client (`store`).
package final class ConnectionMemory: Sendable {
  package struct Connections {
    package var wiring: Wiring
    /// The capture ports that Pinna connected microphones to.
    var placement = ArrayClient.Placement()
    var route = OutputRoute()
    /// The connections of the preset in force.
    package var preset = OwnConnections()
    /// Number of servers that have gone.
    fileprivate var losses = 0
    /// Connections that the previous client had requested.
    fileprivate var requested: Set<Wiring.Wire> = []
    /// The connections of the newly opened project. The next graph check adopts them and removes all others; nil if
    /// there is none.
    fileprivate(set) var replacement: [Wiring.Wire]?
    /// Number of replacements so far.
    fileprivate var replacements = 0
    /// Number of times that the user had absent connections forgotten.
    fileprivate var forgettings = 0
  }

  package let connections: Mutex<Connections>

  package init(_ wiring: Wiring = Wiring()) { connections = Mutex(Connections(wiring: wiring)) }

  /// Whether the connections of `run --connect` have been made.
  let hasConnected = Atomic<Bool>(false)

  /// Marks all connections as lost with the server, to be restored in the next graph.
  /// - Parameter requested: connections that were requested, whether or not a graph check has seen them.
  package func markAllLost(_ requested: Set<Wiring.Wire>) {
    connections.withLock {
      $0.wiring.markAllLost(requested)
      $0.losses += 1
      $0.requested = requested
    }
  }

  /// Forgets the connections that do not exist.
  /// - Returns: how many.
  package func forgetAbsent() -> Int {
    connections.withLock {
      $0.forgettings += 1
      return $0.wiring.forgetAbsent()
    }
  }

  /// The connections that another run should restore.
  package var restorable: [Wiring.Wire] { connections.withLock { $0.replacement ?? $0.wiring.restorable } }

  /// Has the next graph check restore `wires`, and remove and forget what others made and `wires` does not contain.
  package func replace(with wires: [Wiring.Wire]) {
    connections.withLock {
      $0.replacement = wires
      $0.replacements += 1
    }
  }

  /// Stores the result of a graph check. What happened since the check began counts for it, too: a loss of the server,
  /// the user's request to forget, and another project.
  package func store(_ checked: Connections) {
    connections.withLock { connections in
      let (losses, requested) = (connections.losses, connections.requested)
      let forgettings = connections.forgettings
      let (replacement, replacements) = (connections.replacement, connections.replacements)
      connections = checked
      // In this order: after a loss, all are absent.
      if checked.forgettings != forgettings { connections.wiring.forgetAbsent() }
      if checked.losses != losses { connections.wiring.markAllLost(requested) }
      (connections.losses, connections.requested) = (losses, requested)
      connections.forgettings = forgettings
      if checked.replacements != replacements {
        (connections.replacement, connections.replacements) = (replacement, replacements)
      }
    }
  }
}
