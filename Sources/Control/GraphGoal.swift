import JackClient

/// The connections that a setting requires. A value; any thread.
struct GraphGoal: Sendable {
  /// The ports to connect the outputs to.
  let outputs: [String]
  let presetConnections: [Wiring.Wire]
}

extension ArrayClient {
  /// Compares the connections with those wanted, and makes or removes what differs.
  ///
  /// Thread: worker. Waits for the server.
  func checkGraph(_ memory: ConnectionMemory, _ goal: GraphGoal) -> GraphReport {
    var report = GraphReport()
    releaseRetired()
    // A copy: calls into libjack may wait for the server, so no lock is held.
    var connections = memory.connections.withLock { $0 }
    let replaced = connections.adoptReplacement(
      requested: wantedConnections, presetConnections: goal.presetConnections)
    for wire in replaced { disconnect(wire) }
    report.events = maintainConnections(&connections.wiring)
    follow(goal.presetConnections, &connections, &report)
    let (connect, disconnect, isNew) = connections.route.follow(goal.outputs)
    for wire in disconnect {
      connections.wiring.forget(wire)
      self.disconnect(wire)
    }
    for wire in connect {
      switch self.connect(wire) {
      case .made:
        connections.route.hasMade(wire)
        connections.wiring.hasMade(wire)
      case .wasThere, .noPort: break
      case .noPeer: report.missingTargets.append(wire.peer)
      case .refused: report.refusedConnections.append(wire)
      }
    }
    report.refusedConnections += connections.preset.refused.sorted()
    if isNew { report.newTarget = goal.outputs }
    report.connections = connections.wiring.connections
    report.lost = connections.wiring.lost
    report.capturePorts = physicalCapturePorts
    memory.store(connections)
    return report
  }

  /// Makes the connections of the preset in force, and withdraws those that Pinna made for an earlier one.
  private func follow(
    _ wires: [Wiring.Wire], _ connections: inout ConnectionMemory.Connections, _ report: inout GraphReport
  ) {
    for wire in connections.preset.follow(wires) {
      connections.wiring.forget(wire)
      disconnect(wire)
    }
    for wire in connections.preset.pending.sorted() {
      switch connect(wire) {
      case .made:
        connections.wiring.hasMade(wire)
        connections.preset.settle(wire, .made)
      case .wasThere: connections.preset.settle(wire, .othersMade)
      case .refused: connections.preset.settle(wire, .refused)
      case .noPort: continue
      case .noPeer:
        report.missingConnections.append(wire)
        continue
      }
      // The preset's source takes the place of the one that Pinna chose before.
      guard let before = connections.placement[wire.port], !wires.contains(Wiring.Wire(wire.port, before))
      else { continue }
      let replaced = Wiring.Wire(wire.port, before)
      connections.placement[wire.port] = wire.peer
      connections.wiring.forget(replaced)
      disconnect(replaced)
    }
  }
}
