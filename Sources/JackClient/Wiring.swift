/// The connections of our ports, remembered.
///
/// One that goes with its other end, or with the server, is lost: it is made again when that end is back. One that
/// is taken away between two ports that stay is forgotten: somebody wanted that. One whose own port goes, with a
/// change of device, waits for that port.
///
/// Programs may come under a new name each time, so the memory is bounded: of the connections that are not there, 64 of
/// each of our ports and 256 of all of them are remembered, and the ones that have been gone longest are forgotten first.
/// Those that were asked for through us go last.
///
/// Threads: a value; whoever holds it.
public struct Wiring: Sendable {
  /// One of our ports, by its short name, and the full name of the port at the other end.
  public struct Wire: Hashable, Comparable, Sendable {
    public let port: String
    public let peer: String
    public init(_ port: String, _ peer: String) { (self.port, self.peer) = (port, peer) }
    public static func < (a: Wire, b: Wire) -> Bool { (a.port, a.peer) < (b.port, b.peer) }
  }

  public enum Event: Hashable, Sendable {
    case lost(Wire)
    case restored(Wire)
  }

  /// Connections that are remembered though they are not there: of all ports, and of one.
  public static let mostAbsent = 256
  public static let mostAbsentOfPort = 64

  private enum State {
    case made
    /// No longer made while both ends are there. JACK disconnects a port just before it goes.
    case missing(since: ContinuousClock.Instant)
    case lost
    /// Our own port is not there.
    case away
  }

  private struct Memory {
    var state: State
    /// Counts connections as they go: which of two has been gone longer.
    var order: Int
  }

  /// How long both ends must stay without their connection before it counts as taken away.
  static let patience = Duration.milliseconds(200)

  private var wires: [Wire: Memory] = [:]
  /// Asked for through us: forgotten last.
  private var kept: Set<Wire> = []
  private var lastOrder = 0

  public init() {}

  /// Connections whose other end is not there.
  public var lost: [Wire] {
    wires.filter { if case .lost = $0.value.state { true } else { false } }.keys.sorted()
  }

  /// What each of our ports is connected to; those that are connected to nothing are left out.
  public var connections: [String: Set<String>] {
    let made = wires.filter { if case .made = $0.value.state { true } else { false } }.keys
    return Dictionary(grouping: made, by: \.port).mapValues { Set($0.map(\.peer)) }
  }

  /// Those of our ports that are connected, by their short names.
  public var connectedPorts: Set<String> { Set(connections.keys) }

  /// Whether it is there, or will be made again.
  public func remembers(_ wire: Wire) -> Bool { wires[wire] != nil }

  /// What a port of ours is connected to, or will be as soon as that is there.
  public func peers(of port: String) -> Set<String> {
    Set(wires.keys.filter { $0.port == port }.map(\.peer))
  }

  /// Nobody wants it any more: it is not made again.
  public mutating func forget(_ wire: Wire) {
    wires[wire] = nil
    kept.remove(wire)
  }

  /// These were asked for, and are forgotten last.
  public mutating func keep(_ asked: Set<Wire>) {
    kept = kept.isEmpty ? asked : kept.union(asked)
    // What is not remembered need not be kept.
    if kept.count > asked.count { kept = kept.filter { asked.contains($0) || wires[$0] != nil } }
  }

  /// Everything goes with the server, and is to be made again in the next graph.
  /// - Parameter asked: connections that were asked for, and may have been made without having been seen.
  public mutating func markAllLost(_ asked: Set<Wire> = []) {
    for wire in asked.union(wires.keys).sorted() { setAbsent(wire, .lost) }
    prune()
  }

  /// Compares with the graph as it is now.
  /// - Parameters:
  ///   - ports: short names of our ports.
  ///   - exists: whether there is a port of that full name; asked only for connections that are not there.
  /// - Returns: what happened, and the connections to make, whose other ends are back.
  public mutating func observe(
    connected: Set<Wire>, ports: Set<String>, exists: (String) -> Bool, now: ContinuousClock.Instant
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
      switch memory.state {
      case .made where isThere: setAbsent(wire, .missing(since: now))
      case .missing(let since) where isThere:
        if now - since >= Self.patience { wires[wire] = nil }
      case .made, .missing:
        setAbsent(wire, .lost)
        events.append(.lost(wire))
      case .lost, .away:
        if isThere { toMake.append(wire) }
      }
    }
    for wire in connected {
      if case .made? = wires[wire]?.state { continue }
      if case .lost? = wires.updateValue(Memory(state: .made, order: 0), forKey: wire)?.state {
        events.append(.restored(wire))
      }
    }
    prune()
    return (events, toMake)
  }

  private mutating func setAbsent(_ wire: Wire, _ state: State) {
    lastOrder += 1
    wires[wire] = Memory(state: state, order: lastOrder)
  }

  /// Forgets what passes the bounds.
  private mutating func prune() {
    guard wires.count > Self.mostAbsentOfPort else { return }
    var absent: [(wire: Wire, isKept: Bool, order: Int)] = []
    var ofPort: [String: Int] = [:]
    for (wire, memory) in wires {
      if case .made = memory.state { continue }
      absent.append((wire, kept.contains(wire), memory.order))
      ofPort[wire.port, default: 0] += 1
    }
    guard absent.count > Self.mostAbsent || ofPort.values.contains(where: { $0 > Self.mostAbsentOfPort })
    else {
      return
    }
    // Those that stay first: asked for, then gone last.
    absent.sort { $0.isKept != $1.isKept ? $0.isKept : $0.order > $1.order }
    ofPort = [:]
    var total = 0
    for (wire, _, _) in absent {
      ofPort[wire.port, default: 0] += 1
      if total < Self.mostAbsent, ofPort[wire.port]! <= Self.mostAbsentOfPort {
        total += 1
      } else {
        wires[wire] = nil
      }
    }
  }
}
