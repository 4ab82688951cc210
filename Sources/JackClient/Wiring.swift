/// The connections of our ports, remembered.
///
/// One that goes with its other end, or with the server, is lost: it is made again when that end is back. One that
/// is taken away between two ports that stay is forgotten: somebody wanted that. One whose own port goes, with a
/// change of device, waits for that port.
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

  private enum State {
    case made
    /// No longer made while both ends are there. JACK disconnects a port just before it goes.
    case missing(since: ContinuousClock.Instant)
    case lost
    /// Our own port is not there.
    case away
  }

  /// How long both ends must stay without their connection before it counts as taken away.
  static let patience = Duration.milliseconds(200)

  private var wires: [Wire: State] = [:]

  public init() {}

  /// Connections whose other end is not there.
  public var lost: [Wire] { wires.filter { if case .lost = $0.value { true } else { false } }.keys.sorted() }

  /// Those of our ports that are connected, by their short names.
  public var connectedPorts: Set<String> {
    Set(wires.filter { if case .made = $0.value { true } else { false } }.keys.map(\.port))
  }

  /// Nobody wants it any more: it is not made again.
  public mutating func forget(_ wire: Wire) { wires[wire] = nil }

  /// Everything goes with the server.
  public mutating func loseAll() { for wire in wires.keys { wires[wire] = .lost } }

  /// Compares with the graph as it is now.
  /// - Parameters:
  ///   - ports: short names of our ports.
  ///   - exists: whether there is a port of that full name.
  /// - Returns: what happened, and the connections to make, whose other ends are back.
  public mutating func observe(
    connected: Set<Wire>, ports: Set<String>, exists: (String) -> Bool, now: ContinuousClock.Instant
  ) -> (events: [Event], toMake: [Wire]) {
    var events: [Event] = []
    var toMake: [Wire] = []
    for (wire, state) in wires where !connected.contains(wire) {
      guard ports.contains(wire.port) else {
        wires[wire] = .away
        continue
      }
      let isThere = exists(wire.peer)
      switch state {
      case .made where isThere: wires[wire] = .missing(since: now)
      case .missing(let since) where isThere:
        if now - since >= Self.patience { wires[wire] = nil }
      case .made, .missing:
        wires[wire] = .lost
        events.append(.lost(wire))
      case .lost, .away:
        if isThere { toMake.append(wire) }
      }
    }
    for wire in connected {
      if case .lost? = wires.updateValue(.made, forKey: wire) { events.append(.restored(wire)) }
    }
    return (events, toMake)
  }
}
