/// Making, withdrawing and restoring the connections of own ports.
///
/// Thread: worker (see `ArrayClient`), except where noted.
extension ArrayClient {
  /// The capture port to which `connectMicrophones` connected each microphone, by the microphone's name.
  public typealias Placement = [String: String]

  /// Connects the outputs to the first two physical playback ports.
  public func connectOutputsToHardware() {
    for (output, destination) in zip(Self.outputNames, connection.physicalPlaybackPorts) {
      connectOutput(Wiring.Wire(output, destination))
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

  public enum OutputConnection: Sendable {
    case made
    /// The connection existed before, or the server refused to make it.
    case wasThere
    case noPort
  }

  /// Connects an output, and records that the connection is wanted.
  @discardableResult
  public func connectOutput(_ wire: Wiring.Wire) -> OutputConnection {
    guard connection.hasPort(wire.peer) else { return .noPort }
    recordWanted(wire)
    let own = "\(connection.name):\(wire.port)"
    guard !connection.connections(of: own).contains(wire.peer) else { return .wasThere }
    return connection.connect(own, wire.peer) ? .made : .wasThere
  }

  /// Disconnects an output, and records that the connection is no longer wanted.
  public func disconnectOutput(_ wire: Wiring.Wire) {
    shared.values.withLock { _ = $0.wanted.remove(wire) }
    connection.disconnect("\(connection.name):\(wire.port)", wire.peer)
  }

  /// Connections that were requested through this client and not withdrawn. Any thread.
  public var wantedConnections: Set<Wiring.Wire> { shared.values.withLock { $0.wanted } }

  private func recordWanted(_ wire: Wiring.Wire) { shared.values.withLock { _ = $0.wanted.insert(wire) } }

  /// Restores connections whose peers are back, and updates `wiring`. Sends a request to the server only to make a
  /// connection; lists the graph's ports once, and only if a connection is missing.
  /// - Returns: connections lost and restored since the last call.
  public func maintainConnections(_ wiring: inout Wiring) -> [Wiring.Event] {
    guard !connection.isServerGone else { return [] }
    // Before the connections are read: a port that appears later counts in the next check.
    let (ports, wanted, newPorts) = shared.values.withLock { values in
      defer { values.newPorts = [] }
      return (values.ports, values.wanted, values.newPorts)
    }
    let inputs = ports.map { Array(zip($0.names, $0.microphones.map(PortHandle.init))) } ?? []
    let own = inputs + Array(zip(Self.outputNames, [left, right]))
    var audioPorts: Set<String>?
    func exists(_ port: String) -> Bool {
      if audioPorts == nil { audioPorts = connection.audioPorts }
      return audioPorts!.contains(port)
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
    let known = wanted.filter(wiring.remembers)
    let (events, toMake) = observe()
    // Connections that somebody removed are no longer wanted.
    let forgotten = known.filter { !wiring.remembers($0) }
    if !forgotten.isEmpty { shared.values.withLock { $0.wanted.subtract(forgotten) } }
    // If the server went meanwhile, all ports seemed to be missing: report nothing.
    guard !connection.isServerGone else { return [] }
    let made = toMake.filter { wire in
      let own = "\(connection.name):\(wire.port)"
      return Self.outputNames.contains(wire.port)
        ? connection.connect(own, wire.peer) : connection.connect(wire.peer, own)
    }
    return made.isEmpty ? events : events + observe().events
  }
}
