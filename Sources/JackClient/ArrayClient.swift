import CJack
import Realtime
import Synchronization

/// Pinna in a JACK graph: one input port per microphone, out_left and out_right, an engine between them.
///
/// Threads. *Worker*: one thread at a time, any but JACK's own; what is for it asks the server something, and waits as
/// long as the server takes to answer. *Any*: any thread, at the same time as the worker and one another; never waits.
/// *Notification*: JACK's notification thread. *Realtime*: JACK's realtime thread.
public final class ArrayClient: Sendable {
  public static let outputNames = ["out_left", "out_right"]

  private let connection: JackConnection
  private let trampoline: Trampoline
  private let left: PortHandle
  private let right: PortHandle
  private let shared: SharedState

  /// What the notification thread and the others share.
  private final class SharedState: Sendable {
    struct Values {
      var ports: ArrayPorts?
      var delayFrames = 0
      /// What was adopted last, until its ports are labelled.
      var unlabelled: PreparedPorts?
      /// Connections that somebody asked for through us.
      var wanted: Set<Wiring.Wire> = []
    }
    let values = Mutex(Values())
  }

  // MARK: Worker

  /// Opens the client; it makes no sound until `adopt`.
  /// - Parameters:
  ///   - times: where the callback notes how long it took.
  ///   - onShutdown: notification; once, when the server has gone.
  ///   - onGraphChange: notification; ports or connections came or went.
  ///   - onSampleRate: notification; the server runs at another rate than before, which is given.
  public init(
    name: String, server: String?, times: CallbackTimes? = nil,
    onShutdown: @escaping @Sendable (String) -> Void,
    onGraphChange: @escaping @Sendable () -> Void = {},
    onSampleRate: @escaping @Sendable (Int) -> Void = { _ in }
  ) throws(JackError) {
    let shared = SharedState()
    let trampoline = Trampoline(times: times)
    var listener = JackConnection.Listener()
    listener.periodChanged = { frames in
      let ports = shared.values.withLock { $0.ports }
      ports?.engine.prepare(period: frames)
    }
    listener.sampleRateChanged = { rate in
      trampoline.sampleRate.store(rate, ordering: .relaxed)
      onSampleRate(rate)
    }
    listener.freewheel = { trampoline.freewheeling.store($0, ordering: .relaxed) }
    listener.latency = { mode in
      shared.values.withLock { Self.reportLatency(mode, $0, trampoline) }
    }
    listener.shutdown = onShutdown
    listener.graphChanged = onGraphChange
    let connection = try JackConnection(name: name, server: server, listener: listener)
    self.connection = connection
    self.trampoline = trampoline
    trampoline.follow(
      connection.client, sampleRate: connection.sampleRate,
      counting: pinna_jack_is_pipewire() != 0 ? .position : .withThisPeriod)
    self.shared = shared
    left = PortHandle(try connection.registerPort(Self.outputNames[0], .output))
    right = PortHandle(try connection.registerPort(Self.outputNames[1], .output))
    trampoline.outputs.withLock { $0 = [left, right] }
    StaleClients.forget(server: server)
    for (order, (port, side)) in [(left, "Left"), (right, "Right")].enumerated() {
      connection.label(
        port.port, PortLabel(prettyName: side, group: "Output", order: order, iconName: "audio-headphones"))
    }
    connection.setProcess(
      { frames, context in
        Unmanaged<Trampoline>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.run(frames) }
        return 0
      }, context: trampoline)
  }

  deinit { connection.close() }

  /// Gets an engine and its ports ready beside those in use: ports of the same name will be kept, with their connections;
  /// the others are registered.
  /// - Parameter group: under which patchbays show the microphones.
  /// - Throws: `serverGone`, `portFailed` or `stalled`; then nothing is registered.
  public func prepare(_ engine: Engine, microphones names: [String], group: String, delayFrames: Int)
    throws(JackError) -> PreparedPorts
  {
    guard trampoline.canTakeOver else { throw .stalled }
    let old = shared.values.withLock { $0.ports }
    let known = Dictionary(
      uniqueKeysWithValues: zip(old?.names ?? [], (old?.microphones ?? []).map(PortHandle.init)))
    var ports: [OpaquePointer] = []
    var fresh: [PortHandle] = []
    do throws(JackError) {
      for name in names {
        if let kept = known[name] {
          ports.append(kept.port)
        } else {
          let port = try connection.registerPort(name, .input)
          fresh.append(PortHandle(port))
          ports.append(port)
        }
      }
    } catch {
      // All or none: a port that nobody knows would stand in the way of the next try.
      for port in fresh { connection.unregisterPort(port.port) }
      throw error
    }
    engine.prepare(period: connection.period)
    return PreparedPorts(
      ports: ArrayPorts(
        engine: engine, names: names, microphones: ports, left: left.port, right: right.port),
      fresh: fresh, group: group, delayFrames: delayFrames)
  }

  /// What was prepared is not wanted: its ports go.
  public func discard(_ prepared: PreparedPorts) {
    for port in prepared.fresh { connection.unregisterPort(port.port) }
  }

  /// After `adopt`: labels ports, and unregisters those that only the engine before had, as soon as the callback has let go
  /// of it. Until then nothing is done; called now and then, it is done in the end.
  public func releaseRetired() {
    let free = trampoline.released()
    let labels = shared.values.withLock { values in
      defer { values.unlabelled = nil }
      return values.unlabelled
    }
    if let labels {
      for (order, (name, port)) in zip(labels.ports.names, labels.ports.microphones).enumerated() {
        connection.label(port, .microphone(name, group: labels.group, order: order))
      }
    }
    guard !free.isEmpty else { return }
    let used = shared.values.withLock { $0.ports?.names ?? [] }
    for old in free {
      for (name, port) in zip(old.names, old.microphones) where !used.contains(name) {
        connection.unregisterPort(port)
      }
    }
    connection.recomputeLatencies()
  }

  public func activate() throws(JackError) {
    try connection.activate()
    trampoline.isActive.store(true, ordering: .releasing)
  }

  /// Waits two seconds at most. False where the client is not closed by then (`JackConnection.close`): until
  /// `unfinishedCloses` is 0 no client of another server must be opened in this process.
  @discardableResult
  public func close() -> Bool {
    trampoline.isActive.store(false, ordering: .releasing)
    return connection.close()
  }

  /// Which capture port `connectMicrophones` connected each microphone to, by the microphone's name.
  public typealias Placement = [String: String]

  /// Connects the outputs to the first two physical playback ports.
  public func connectOutputsToHardware() {
    for (output, destination) in zip(Self.outputNames, connection.physicalPlaybackPorts) {
      connection.connect("\(connection.name):\(output)", destination)
      want(Wiring.Wire(output, destination))
    }
  }

  /// Connects the microphones to `sources` in order, as far as both are there. Where that takes a microphone to another
  /// source than before, its earlier connection of this kind goes.
  /// - Parameters:
  ///   - respectsOthers: leaves microphones alone that somebody else connected or disconnected.
  ///   - placement: what earlier calls did.
  ///   - wiring: the connections of our ports, remembered.
  public func connectMicrophones(
    to sources: [String], respectsOthers: Bool, _ placement: inout Placement, _ wiring: inout Wiring
  ) {
    for (source, microphone) in zip(sources, microphones) where connection.hasPort(source) {
      let own = "\(connection.name):\(microphone)"
      let before = placement[microphone]
      if respectsOthers {
        // A connection that we made before comes back by itself, unless somebody took it away.
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
      want(Wiring.Wire(microphone, source))
      placement[microphone] = source
    }
  }

  public enum OutputConnection: Sendable {
    case made
    /// Somebody else connected the two before, or the server refuses.
    case wasThere
    case noPort
  }

  public func connectOutput(_ wire: Wiring.Wire) -> OutputConnection {
    guard connection.hasPort(wire.peer) else { return .noPort }
    want(wire)
    let own = "\(connection.name):\(wire.port)"
    guard !connection.connections(of: own).contains(wire.peer) else { return .wasThere }
    return connection.connect(own, wire.peer) ? .made : .wasThere
  }

  public func disconnectOutput(_ wire: Wiring.Wire) {
    shared.values.withLock { _ = $0.wanted.remove(wire) }
    connection.disconnect("\(connection.name):\(wire.port)", wire.peer)
  }

  /// Connections that were asked for through us and not taken back.
  public var wantedConnections: Set<Wiring.Wire> { shared.values.withLock { $0.wanted } }

  private func want(_ wire: Wiring.Wire) { shared.values.withLock { _ = $0.wanted.insert(wire) } }

  /// Asks the server for another period; the answer is the one that it runs with then.
  public func requestPeriod(_ frames: Int) -> Int {
    if frames != connection.period { connection.requestPeriod(frames) }
    return connection.period
  }

  /// Looks after our connections: makes those again whose other ends are back. Asks the server something only where there
  /// is one to make; looks through the graph's ports once, and only where a connection is missing.
  public func maintainConnections(_ wiring: inout Wiring) -> [Wiring.Event] {
    guard !connection.isServerGone else { return [] }
    let (ports, wanted) = shared.values.withLock { ($0.ports, $0.wanted) }
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
      return wiring.observe(connected: connected, ports: Set(own.map(\.0)), exists: exists, now: .now)
    }
    wiring.keep(wanted)
    let known = wanted.filter(wiring.remembers)
    let (events, toMake) = observe()
    // What somebody took away is asked for no longer.
    let forgotten = known.filter { !wiring.remembers($0) }
    if !forgotten.isEmpty { shared.values.withLock { $0.wanted.subtract(forgotten) } }
    // A server that went while we looked has no ports: nothing was lost that is not lost with it.
    guard !connection.isServerGone else { return [] }
    let made = toMake.filter { wire in
      let own = "\(connection.name):\(wire.port)"
      return Self.outputNames.contains(wire.port)
        ? connection.connect(own, wire.peer) : connection.connect(wire.peer, own)
    }
    return made.isEmpty ? events : events + observe().events
  }

  // MARK: Any

  /// From now on the callback runs what was prepared last. Not beside another call of `adopt`.
  public func adopt(_ prepared: PreparedPorts) {
    shared.values.withLock {
      $0.ports = prepared.ports
      $0.delayFrames = prepared.delayFrames
      $0.unlabelled = prepared
    }
    // The period may have changed since: prepared twice is prepared once.
    prepared.ports.engine.prepare(period: connection.period)
    trampoline.replace(with: prepared.ports)
  }

  public var isActive: Bool { trampoline.isActive.load(ordering: .acquiring) }
  /// None where the server has gone.
  public var physicalCapturePorts: [String] { connection.physicalCapturePorts }
  /// None before `adopt`.
  public var microphones: [String] { shared.values.withLock { $0.ports?.names ?? [] } }
  public var lacksRealtime: Bool { connection.lacksRealtime }
  /// The server's rate now; `onSampleRate` tells where it changes.
  public var sampleRate: Int { connection.sampleRate }
  /// The last one where the server has gone.
  public var period: Int { connection.period }
  public var dspLoad: Double { connection.dspLoad }
  public var xruns: Int { connection.xruns }
  public var isServerGone: Bool { connection.isServerGone }
  /// Callbacks so far, from this client's first; it stands still where the graph does.
  public var periodsRun: Int { trampoline.periodsRun }
  /// The server runs as fast as it can, or is about to.
  public var isFreewheeling: Bool { trampoline.freewheeling.load(ordering: .relaxed) }
  /// Clients of this process whose closing has not come back.
  public static var unfinishedCloses: Int { JackConnection.unfinishedCloses }
  /// Why ports may be without labels, in one sentence for a warning; nil while JACK's metadata database answers.
  public static var metadataFault: String? { JackConnection.metadataFault }

  // MARK: Notification

  /// Latency in both directions: what comes before us, and our filters' delay.
  private static func reportLatency(
    _ mode: JackLatencyCallbackMode, _ values: SharedState.Values, _ trampoline: Trampoline
  ) {
    guard let ports = values.ports else { return }
    let outputs = trampoline.outputs.withLock { $0 }.map(\.port)
    let (from, to) = mode == JackCaptureLatency ? (ports.microphones, outputs) : (outputs, ports.microphones)
    var total = jack_latency_range_t(min: .max, max: 0)
    for port in from {
      var range = jack_latency_range_t()
      jack_port_get_latency_range(port, mode, &range)
      total.min = min(total.min, range.min)
      total.max = max(total.max, range.max)
    }
    if total.min == .max { total.min = 0 }
    var range = jack_latency_range_t(
      min: total.min + UInt32(values.delayFrames), max: total.max + UInt32(values.delayFrames))
    for port in to { jack_port_set_latency_range(port, mode, &range) }
  }
}

/// A port's handle; libjack lets any thread use it.
package struct PortHandle: @unchecked Sendable {
  // Unchecked: an opaque pointer that never changes and that libjack guards.
  package let port: OpaquePointer
  package init(_ port: OpaquePointer) { self.port = port }
}

/// An engine with its ports, registered and not yet in use.
public final class PreparedPorts: Sendable {
  let ports: ArrayPorts
  /// Registered for it.
  let fresh: [PortHandle]
  let group: String
  let delayFrames: Int

  init(ports: ArrayPorts, fresh: [PortHandle], group: String, delayFrames: Int) {
    self.ports = ports
    self.fresh = fresh
    self.group = group
    self.delayFrames = delayFrames
  }
}
