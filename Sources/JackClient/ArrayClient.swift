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

  /// Connects microphones to the physical capture ports in order, and the outputs to the first two physical
  /// playback ports. Connections that others made stay as they are.
  /// Returns the microphones that found no capture port.
  public func connectToHardware() -> [String] {
    let captures = connection.physicalCapturePorts
    let names = shared.values.withLock { $0.ports?.names ?? [] }
    for (source, microphone) in zip(captures, names) {
      connection.connect(source, "\(connection.name):\(microphone)")
      want(Wiring.Wire(microphone, source))
    }
    for (output, destination) in zip(Self.outputNames, connection.physicalPlaybackPorts) {
      connection.connect("\(connection.name):\(output)", destination)
      want(Wiring.Wire(output, destination))
    }
    return Array(names.dropFirst(captures.count))
  }

  /// Connects the microphones to `ports` in order, as far as both are there.
  public func connectMicrophones(to ports: [String]) {
    let names = shared.values.withLock { $0.ports?.names ?? [] }
    for (source, microphone) in zip(ports, names) where connection.hasPort(source) {
      connection.connect(source, "\(connection.name):\(microphone)")
      want(Wiring.Wire(microphone, source))
    }
  }

  /// True where this connected the two; false where they were connected already, or the other end is not there.
  public func connectOutput(_ wire: Wiring.Wire) -> Bool {
    guard connection.hasPort(wire.peer) else { return false }
    want(wire)
    let own = "\(connection.name):\(wire.port)"
    return !connection.connections(of: own).contains(wire.peer) && connection.connect(own, wire.peer)
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
  public func tend(_ wiring: inout Wiring) -> [Wiring.Event] {
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
    let (events, toMake) = observe()
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
struct PortHandle: @unchecked Sendable {
  // Unchecked: an opaque pointer that never changes and that libjack guards.
  let port: OpaquePointer
  init(_ port: OpaquePointer) { self.port = port }
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
