import JackClient
import Processor
import Settings

extension ArrayClient {
  /// Compares the connections with those that `setting` requires, and makes or removes what differs.
  /// - Parameter monitor: the ports of `pinna run --monitor`.
  ///
  /// Thread: worker. Waits for the server.
  func checkGraph(_ memory: ConnectionMemory, _ setting: Setting, monitor: [String]) -> GraphReport {
    let target = setting.outputTarget(monitor: monitor).ports
    let presetConnections = setting.connections.map { Wiring.Wire($0.port, $0.peer) }
    var report = GraphReport()
    releaseRetired()
    reportLatencies()
    // A copy: calls into libjack may wait for the server, so no lock is held.
    var connections = memory.connections.withLock { $0 }
    let replaced = connections.adoptReplacement(
      requested: wantedConnections, presetConnections: presetConnections)
    for wire in replaced { disconnect(wire) }
    report.events = maintainConnections(&connections.wiring)
    let (withdrawn, isNew) = connections.route.follow(target)
    let outputs = make(&connections.route.connections, withdrawn, &connections.wiring, &report)
    report.missingTargets = outputs.missing.map(\.peer)
    follow(presetConnections, &connections, &report)
    if isNew { report.newTarget = target }
    report.connections = connections.wiring.connections
    report.lost = connections.wiring.lost
    report.capturePorts = physicalCapturePorts
    memory.store(connections)
    return report
  }

  /// Makes the connections of the preset in force. A microphone's source takes the place of the one that Pinna chose
  /// before.
  private func follow(
    _ wires: [Wiring.Wire], _ connections: inout ConnectionMemory.Connections, _ report: inout GraphReport
  ) {
    let withdrawn = connections.preset.followUnlessEmpty(wires)
    let (there, missing) = make(&connections.preset, withdrawn, &connections.wiring, &report)
    report.missingConnections = missing
    for wire in there {
      guard let before = connections.placement[wire.port], !wires.contains(Wiring.Wire(wire.port, before))
      else { continue }
      let replaced = Wiring.Wire(wire.port, before)
      connections.placement[wire.port] = wire.peer
      connections.wiring.forget(replaced)
      disconnect(replaced)
    }
  }

  /// Removes the withdrawn connections, and makes those that are due.
  /// - Returns: the connections that are there now, and those whose peers do not exist.
  private func make(
    _ own: inout OwnConnections, _ withdrawn: [Wiring.Wire], _ wiring: inout Wiring,
    _ report: inout GraphReport
  ) -> (there: [Wiring.Wire], missing: [Wiring.Wire]) {
    for wire in withdrawn {
      wiring.forget(wire)
      disconnect(wire)
    }
    var (there, missing): ([Wiring.Wire], [Wiring.Wire]) = ([], [])
    let now = ContinuousClock.now
    for wire in own.due(now: now) {
      let result = connect(wire)
      own.settle(wire, result, now: now)
      switch result {
      case .made:
        wiring.hasMade(wire, now: now)
        there.append(wire)
      case .wasThere: there.append(wire)
      case .noPeer: missing.append(wire)
      case .noPort, .refused: break
      }
    }
    report.refusedConnections += own.refused.sorted()
    return (there, missing)
  }
}
