/// Remembers the connections of Pinna's own ports, to restore them.
///
/// - A connection that disappears with its peer or with the server is lost; it is made again when the peer is back.
/// - Except those of the outputs that others made: Pinna must not play into a program that was quit and is started
///   again. They are forgotten with their peer, and restored only within two minutes after the server, or Pinna itself,
///   has restarted.
/// - If a peer is replaced at once by a port of the same name, as when a driver restarts, its connection counts as lost,
///   not as removed by the user.
/// - A connection that disappears while both ports stay is forgotten, because the user disconnected it. Unless it is
///   new and the server is PipeWire, which drops links between ports that it is still setting up: it is made once more.
///   New are connections that Pinna made as a setting demands, and those that were lost and are back.
/// - A connection whose own port disappears, with a change of device, waits for that port.
///
/// The memory is bounded, because programs may use a new name each time: it holds up to 64 absent connections per port
/// and 256 in total. The connections absent for longest are forgotten first, those requested through Pinna last.
///
/// Thread: any; a value without synchronisation.
public struct Wiring: Sendable {
  /// A connection: the short name of an own port, and the full name of its peer.
  public struct Wire: Codable, Hashable, Comparable, Sendable {
    public let port: String
    public let peer: String
    public init(_ port: String, _ peer: String) { (self.port, self.peer) = (port, peer) }
    public static func < (a: Wire, b: Wire) -> Bool { (a.port, a.peer) < (b.port, b.peer) }
  }

  public enum Event: Hashable, Sendable {
    case lost(Wire)
    /// Lost, and not to be restored.
    case forgotten(Wire)
    case restored(Wire)
  }

  /// Maximum number of absent connections that are remembered: of all ports, and of one port.
  public static let maxAbsent = 256
  public static let maxAbsentPerPort = 64

  /// How long after a restart of the server, or of Pinna, the outputs' connections to others are restored.
  public static let outputPatience = Duration.seconds(120)

  private enum State {
    case made
    /// Disconnected while both ports exist. May yet become lost: JACK disconnects a port just before it disappears.
    case missing(since: ContinuousClock.Instant)
    /// The peer does not exist. After `until`, if given, the connection is forgotten.
    case lost(until: ContinuousClock.Instant?)
    /// The server or Pinna has restarted, and the graph has not been observed since.
    case lostInRestart
    /// The own port does not exist.
    case away
  }

  private struct Memory {
    var state: State
    /// Increases with each connection that disappears; a smaller value has been absent for longer.
    var order: Int
    /// If it disappears before that, it is made once more.
    var newUntil: ContinuousClock.Instant?
  }

  /// How long a connection must be missing between two existing ports before it counts as disconnected by the user.
  static let patience = Duration.milliseconds(200)

  /// How long a connection is new.
  static let newness = Duration.milliseconds(300)

  private var wires: [Wire: Memory] = [:]
  /// Connections requested through Pinna, which are forgotten last.
  private var requested: Set<Wire> = []
  private var lastOrder = 0
  /// Short names of the outputs' ports, those of feeds that have gone included.
  private var outputs = Set(ArrayClient.outputNames)
  /// Whether the outputs' connections to others are restored like all others.
  private let keepsOutputs: Bool
  private let isPipeWire: Bool

  public init(keepsOutputs: Bool = false, isPipeWire: Bool = false) {
    self.keepsOutputs = keepsOutputs
    self.isPipeWire = isPipeWire
  }

  /// Adds to the ports that are known to be outputs. A feed's ports may come and go.
  public mutating func know(outputs names: [String]) {
    outputs.formUnion(names)
    guard outputs.count > Self.maxAbsent else { return }
    outputs = Set(ArrayClient.outputNames + names).union(
      outputs.filter { name in wires.keys.contains { $0.port == name } })
  }

  /// Whether a connection is restored when its peer returns.
  private func isRestored(_ wire: Wire) -> Bool {
    keepsOutputs || !outputs.contains(wire.port) || requested.contains(wire)
  }

  /// The connections to restore in the next run of Pinna, made or absent. Those requested through Pinna are requested
  /// anew by each run.
  public var restorable: [Wire] { wires.keys.filter { !requested.contains($0) }.sorted() }

  /// Takes over connections of an earlier run.
  public mutating func restore(_ wires: [Wire]) {
    for wire in wires where self.wires[wire] == nil { setAbsent(wire, .lostInRestart) }
    prune()
  }

  /// Forgets all connections that do not exist.
  /// - Returns: how many.
  @discardableResult
  public mutating func forgetAbsent() -> Int {
    let absent = wires.filter { if case .made = $0.value.state { false } else { true } }.keys
    for wire in absent { forget(wire) }
    return absent.count
  }

  /// Connections whose peers do not exist.
  public var lost: [Wire] {
    wires.filter {
      switch $0.value.state {
      case .lost, .lostInRestart: true
      case .made, .missing, .away: false
      }
    }.keys.sorted()
  }

  /// The peers of each own port, by its short name; unconnected ports are absent.
  public var connections: [String: Set<String>] {
    let made = wires.filter { if case .made = $0.value.state { true } else { false } }.keys
    return Dictionary(grouping: made, by: \.port).mapValues { Set($0.map(\.peer)) }
  }

  /// Short names of the own ports that are connected.
  public var connectedPorts: Set<String> { Set(connections.keys) }

  /// Whether the connection exists or will be restored.
  public func remembers(_ wire: Wire) -> Bool { wires[wire] != nil }

  /// The peers of an own port, including those that it will be connected to when they appear.
  public func peers(of port: String) -> Set<String> {
    Set(wires.keys.filter { $0.port == port }.map(\.peer))
  }

  /// Forgets a connection that is no longer wanted.
  public mutating func forget(_ wire: Wire) {
    wires[wire] = nil
    requested.remove(wire)
  }

  /// Remembers a connection that Pinna has just made, so that it is restored even if its peer goes before the graph is
  /// observed.
  public mutating func hasMade(_ wire: Wire, now: ContinuousClock.Instant) {
    wires[wire] = Memory(state: .made, order: 0, newUntil: end(ofNewness: now))
  }

  private func end(ofNewness now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    isPipeWire ? now + Self.newness : nil
  }

  /// Gives the wanted connections priority: they are forgotten last.
  public mutating func keep(_ wanted: Set<Wire>) {
    requested = requested.isEmpty ? wanted : requested.union(wanted)
    // Drop entries that are neither wanted nor remembered, so that the set stays bounded.
    if requested.count > wanted.count {
      requested = requested.filter { wanted.contains($0) || wires[$0] != nil }
    }
  }

  /// Marks all connections as lost with the server, to be restored in the next graph.
  /// - Parameter wanted: requested connections, including those that no observation has seen.
  public mutating func markAllLost(_ wanted: Set<Wire> = []) {
    for wire in wanted.union(wires.keys).sorted() { setAbsent(wire, .lostInRestart) }
    prune()
  }

  /// Updates the memory with the current state of the graph.
  /// - Parameters:
  ///   - connected: the current connections of own ports.
  ///   - ports: short names of own ports.
  ///   - newPorts: full names of ports that have appeared since the last observation.
  ///   - exists: whether a port with that full name exists; called only for absent connections.
  /// - Returns: connections lost and restored, and connections to make because their peers are back.
  public mutating func observe(
    connected: Set<Wire>, ports: Set<String>, newPorts: Set<String> = [], exists: (String) -> Bool,
    now: ContinuousClock.Instant
  ) -> (events: [Event], toMake: [Wire]) {
    var events: [Event] = []
    var toMake: [Wire] = []
    for (wire, memory) in wires where !connected.contains(wire) {
      guard ports.contains(wire.port) else {
        if case .away = memory.state { continue }
        setAbsent(wire, .away)
        continue
      }
      let isThere = exists(wire.peer)
      let isReplaced = isThere && newPorts.contains(wire.peer)
      switch memory.state {
      case .made where isThere && !isReplaced:
        setAbsent(wire, .missing(since: now))
        if let end = memory.newUntil, now < end { toMake.append(wire) }
      case .missing(let since) where isThere && !isReplaced:
        if now - since >= Self.patience { wires[wire] = nil }
      case .made, .missing:
        if isRestored(wire) {
          setAbsent(wire, .lost(until: nil))
          events.append(.lost(wire))
          if isReplaced { toMake.append(wire) }
        } else {
          wires[wire] = nil
          events.append(.forgotten(wire))
        }
      case .lost(let until?) where now > until: wires[wire] = nil
      case .lostInRestart:
        let until = isRestored(wire) ? nil : now + Self.outputPatience
        wires[wire]?.state = .lost(until: until)
        if isThere { toMake.append(wire) }
      case .lost, .away:
        if isThere { toMake.append(wire) }
      }
    }
    for wire in connected {
      let before = wires[wire]?.state
      if case .made = before { continue }
      let isBack =
        switch before {
        case .lost, .lostInRestart: true
        case .made, .missing, .away, nil: false
        }
      wires[wire] = Memory(state: .made, order: 0, newUntil: isBack ? end(ofNewness: now) : nil)
      if isBack { events.append(.restored(wire)) }
    }
    prune()
    return (events, toMake)
  }

  private mutating func setAbsent(_ wire: Wire, _ state: State) {
    lastOrder += 1
    wires[wire] = Memory(state: state, order: lastOrder)
  }

  /// Forgets absent connections in excess of the bounds.
  private mutating func prune() {
    guard wires.count > Self.maxAbsentPerPort else { return }
    var absent: [(wire: Wire, isRequested: Bool, order: Int)] = []
    var ofPort: [String: Int] = [:]
    for (wire, memory) in wires {
      if case .made = memory.state { continue }
      absent.append((wire, requested.contains(wire), memory.order))
      ofPort[wire.port, default: 0] += 1
    }
    guard absent.count > Self.maxAbsent || ofPort.values.contains(where: { $0 > Self.maxAbsentPerPort })
    else {
      return
    }
    // Those to remember come first: requested ones, then the most recently absent.
    absent.sort { $0.isRequested != $1.isRequested ? $0.isRequested : $0.order > $1.order }
    ofPort = [:]
    var total = 0
    for (wire, _, _) in absent {
      ofPort[wire.port, default: 0] += 1
      if total < Self.maxAbsent, ofPort[wire.port]! <= Self.maxAbsentPerPort {
        total += 1
      } else {
        wires[wire] = nil
      }
    }
  }
}
