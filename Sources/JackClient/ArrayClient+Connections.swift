/// Making, withdrawing and restoring the connections of own ports.
///
/// Thread: worker (see `ArrayClient`), except where noted.
extension ArrayClient {
  /// The capture port to which `connectMicrophones` connected each microphone, by the microphone's name.
  public typealias Placement = [String: String]

  /// Connects the outputs to the first two physical playback ports.
  public func connectOutputsToHardware() {
    for (output, destination) in zip(Self.outputNames, connection.physicalPlaybackPorts) {
      connect(Wiring.Wire(output, destination))
    }
  }

  /// Connects the microphones to `sources` in order, as far as both exist. If an earlier call connected a microphone to
  /// another source, that connection is removed.
  /// - Parameters:
  ///   - sources: full names of ports; nil leaves a microphone as it is.
  ///   - respectsOthers: skips microphones whose connections somebody else has changed.
  ///   - placement: the connections made by earlier calls.
  ///   - wiring: the remembered connections of own ports.
  public func connectMicrophones(
    to sources: [String?], respectsOthers: Bool, _ placement: inout Placement, _ wiring: inout Wiring
  ) {
    for (source, microphone) in zip(sources, microphones) {
      guard let source, connection.hasPort(source) else { continue }
      let own = "\(connection.name):\(microphone)"
      let before = placement[microphone]
      if respectsOthers {
        // An earlier connection made here is restored by `wiring`, unless somebody removed it.
        let peers = wiring.peers(of: microphone).union(connection.connections(of: own))
        guard before != source, peers == (before.map { [$0] } ?? []) else { continue }
      }
      if let before, before != source {
        let wire = Wiring.Wire(microphone, before)
        wiring.forget(wire)
        shared.values.withLock { _ = $0.wanted.remove(wire) }
        connection.disconnect(before, own)
      }
      connection.connect(source, own)
      recordWanted(Wiring.Wire(microphone, source))
      placement[microphone] = source
    }
  }

  public enum ConnectionResult: Sendable {
    case made
    /// The connection existed before.
    case wasThere
    /// The other client's port does not exist.
    case noPeer
    /// The own port does not exist, as a microphone of a device that is not in use.
    case noPort
    /// The server refuses it: the ports have the same direction, or different types.
    case refused
  }

  /// Connects an own port. Unless that fails, records that the connection is wanted.
  @discardableResult
  public func connect(_ wire: Wiring.Wire) -> ConnectionResult {
    let own = "\(connection.name):\(wire.port)"
    guard connection.hasPort(own) else { return .noPort }
    guard connection.hasPort(wire.peer) else { return .noPeer }
    let isThere = connection.connections(of: own).contains(wire.peer)
    guard isThere || make(wire) else { return .refused }
    recordWanted(wire)
    return isThere ? .wasThere : .made
  }

  /// Disconnects an own port, and records that the connection is no longer wanted.
  public func disconnect(_ wire: Wiring.Wire) {
    shared.values.withLock { _ = $0.wanted.remove(wire) }
    let (source, destination) = ends(of: wire)
    connection.disconnect(source, destination)
  }

  private func make(_ wire: Wiring.Wire) -> Bool {
    let (source, destination) = ends(of: wire)
    return connection.connect(source, destination)
  }

  /// The full names of the two ports, in the direction of the signal.
  private func ends(of wire: Wiring.Wire) -> (source: String, destination: String) {
    let own = "\(connection.name):\(wire.port)"
    return outputNames.contains(wire.port) ? (own, wire.peer) : (wire.peer, own)
  }

  /// Connections that were requested through this client and not withdrawn. Any thread.
  public var wantedConnections: Set<Wiring.Wire> { shared.values.withLock { $0.wanted } }

  private func recordWanted(_ wire: Wiring.Wire) { shared.values.withLock { _ = $0.wanted.insert(wire) } }

  private var isInGraph: Bool { isActive && !connection.isServerGone }

  /// Restores connections whose peers are back, and updates `wiring`. Sends a request to the server only to make a
  /// connection; lists the graph's ports once, and only if a connection is missing.
  /// - Returns: connections lost and restored since the last call.
  public func maintainConnections(_ wiring: inout Wiring) -> [Wiring.Event] {
    guard isInGraph else { return [] }
    // Before the connections are read: a port that appears later counts in the next check.
    let (ports, wanted, newPorts) = shared.values.withLock { values in
      defer { values.newPorts = [] }
      return (values.ports, values.wanted, values.newPorts)
    }
    let others = ports?.named.map { ($0.name, PortHandle($0.port)) } ?? []
    let own = others + Array(zip(Self.outputNames, [left, right])) + [(Self.controlName, control)]
    wiring.know(outputs: outputNames)
    var allPorts: Set<String>?
    func exists(_ port: String) -> Bool {
      if allPorts == nil { allPorts = connection.allPorts }
      return allPorts!.contains(port)
    }
    func observe() -> (events: [Wiring.Event], toMake: [Wiring.Wire]) {
      var connected: Set<Wiring.Wire> = []
      for (name, port) in own {
        for peer in connection.connections(of: port.port) { connected.insert(Wiring.Wire(name, peer)) }
      }
      return wiring.observe(
        connected: connected, ports: Set(own.map(\.0)), newPorts: newPorts, exists: exists, now: .now)
    }
    wiring.keep(wanted)
    let before = wiring
    let known = wanted.filter(wiring.remembers)
    var (events, toMake) = observe()
    if isInGraph, !toMake.filter(make).isEmpty { events += observe().events }
    // If this client or the server was leaving, all ports seemed to be missing: what was observed does not count.
    guard isInGraph else {
      wiring = before
      return []
    }
    // Connections that somebody removed are no longer wanted.
    let forgotten = known.filter { !wiring.remembers($0) }
    if !forgotten.isEmpty { shared.values.withLock { $0.wanted.subtract(forgotten) } }
    return events
  }
}
