import CJack
import Realtime
import Synchronization

/// Pinna in a JACK graph: one input port per microphone, out_left and out_right, an engine between them.
public final class ArrayClient: Sendable {
  public static let outputNames = ["out_left", "out_right"]

  private let connection: JackConnection
  private let trampoline: Trampoline
  private let left: PortHandle
  private let right: PortHandle
  private let shared: SharedState

  /// What the notification thread and the control threads share.
  private final class SharedState: Sendable {
    struct Values {
      var ports: ArrayPorts?
      var delayFrames = 0
    }
    let values = Mutex(Values())
  }

  /// Opens the client; it makes no sound until `install`.
  /// - Parameters:
  ///   - times: where the callback notes how long it took.
  ///   - onShutdown: on JACK's notification thread, once, when the server has gone.
  ///   - onGraphChange: on the same, when ports or connections came or went.
  public init(
    name: String, server: String?, times: CallbackTimes? = nil,
    onShutdown: @escaping @Sendable (String) -> Void,
    onGraphChange: @escaping @Sendable () -> Void = {}
  ) throws(JackError) {
    let shared = SharedState()
    let trampoline = Trampoline(times: times)
    var listener = JackConnection.Listener()
    listener.periodChanged = { frames in
      let ports = shared.values.withLock { $0.ports }
      ports?.engine.prepare(period: frames)
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
    trampoline.follow(connection.client, sampleRate: connection.sampleRate)
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
      }, context: Unmanaged.passUnretained(trampoline).toOpaque())
  }

  deinit { connection.close() }

  /// Gets an engine and its ports ready beside those in use: ports of the same name will be kept, with their connections;
  /// the others are registered. Waits for the server.
  ///
  /// Thread: worker.
  /// - Parameter group: under which patchbays show the microphones.
  public func prepare(_ engine: Engine, microphones names: [String], group: String, delayFrames: Int)
    throws(JackError) -> PreparedPorts
  {
    let old = shared.values.withLock { $0.ports }
    let known = Dictionary(
      uniqueKeysWithValues: zip(old?.names ?? [], (old?.microphones ?? []).map(PortHandle.init)))
    var ports: [OpaquePointer] = []
    var fresh: [PortHandle] = []
    do {
      for (order, name) in names.enumerated() {
        if let kept = known[name] {
          ports.append(kept.port)
        } else {
          let port = try connection.registerPort(name, .input)
          fresh.append(PortHandle(port))
          ports.append(port)
          connection.label(port, .microphone(name, group: group, order: order))
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
      fresh: fresh, delayFrames: delayFrames)
  }

  /// From now on the callback runs what was prepared last. Never waits.
  ///
  /// Thread: control.
  public func adopt(_ prepared: PreparedPorts) {
    shared.values.withLock {
      $0.ports = prepared.ports
      $0.delayFrames = prepared.delayFrames
    }
    // The period may have changed since: prepared twice is prepared once.
    prepared.ports.engine.prepare(period: connection.period)
    trampoline.replace(with: prepared.ports)
  }

  /// What was prepared is not wanted.
  ///
  /// Thread: worker.
  public func discard(_ prepared: PreparedPorts) {
    for port in prepared.fresh { connection.unregisterPort(port.port) }
  }

  /// Unregisters the ports of what the callback has let go of; what it still uses stays until the next call.
  ///
  /// Thread: worker.
  public func releaseRetired() {
    let free = trampoline.released()
    guard !free.isEmpty else { return }
    let used = shared.values.withLock { $0.ports?.names ?? [] }
    for old in free {
      for (name, port) in zip(old.names, old.microphones) where !used.contains(name) {
        connection.unregisterPort(port)
      }
    }
    connection.recomputeLatencies()
  }

  public var isActive: Bool { trampoline.active.load(ordering: .acquiring) }
  /// Callbacks so far. Any thread.
  public var periodsRun: Int { trampoline.callCount }

  public func activate() throws(JackError) {
    try connection.activate()
    trampoline.active.store(true, ordering: .releasing)
  }

  /// False where the client could not be closed: then no other one must be opened in this process.
  @discardableResult
  public func close() -> Bool {
    trampoline.active.store(false, ordering: .releasing)
    return connection.close()
  }

  /// Connects microphones to the physical capture ports in order, and the outputs to the first two physical
  /// playback ports. Connections that others made stay as they are.
  /// Returns the microphones that found no capture port.
  public func connectToHardware() -> [String] {
    let names = shared.values.withLock { $0.ports?.names ?? [] }
    for (source, microphone) in zip(connection.physicalCapturePorts, names) {
      connection.connect(source, "\(connection.name):\(microphone)")
    }
    for (output, destination) in zip(Self.outputNames, connection.physicalPlaybackPorts) {
      connection.connect("\(connection.name):\(output)", destination)
    }
    return Array(names.dropFirst(connection.physicalCapturePorts.count))
  }

  /// Connects the microphones to `ports` in order, as far as both are there.
  public func connectMicrophones(to ports: [String]) {
    let names = shared.values.withLock { $0.ports?.names ?? [] }
    for (source, microphone) in zip(ports, names) where connection.hasPort(source) {
      connection.connect(source, "\(connection.name):\(microphone)")
    }
  }

  /// True where this connected the two; false where they were connected already, or the other end is not there.
  public func connectOutput(_ wire: Wiring.Wire) -> Bool {
    guard !isServerGone, connection.hasPort(wire.peer) else { return false }
    let own = "\(connection.name):\(wire.port)"
    return !connection.connections(of: own).contains(wire.peer) && connection.connect(own, wire.peer)
  }

  public func disconnectOutput(_ wire: Wiring.Wire) {
    guard !isServerGone else { return }
    connection.disconnect("\(connection.name):\(wire.port)", wire.peer)
  }

  /// None where the server has gone.
  public var physicalCapturePorts: [String] { isServerGone ? [] : connection.physicalCapturePorts }

  /// Asks the server for another period; the answer is the one that it runs with then.
  public func requestPeriod(_ frames: Int) -> Int {
    if !isServerGone, frames != connection.period { connection.requestPeriod(frames) }
    return connection.period
  }

  /// Looks after our connections: makes those again whose other ends are back.
  public func tend(_ wiring: inout Wiring) -> [Wiring.Event] {
    guard !connection.isServerGone else { return [] }
    let microphones = shared.values.withLock {
      $0.ports.map { zip($0.names, $0.microphones.map(PortHandle.init)) }
    }
    let inputs = microphones.map(Array.init) ?? []
    let outputs = Array(zip(Self.outputNames, [left, right]))
    func connected() -> Set<Wiring.Wire> {
      Set(
        (inputs + outputs).flatMap { name, port in
          connection.connections(of: port.port).map { Wiring.Wire(name, $0) }
        })
    }
    func observe() -> (events: [Wiring.Event], toMake: [Wiring.Wire]) {
      wiring.observe(
        connected: connected(), ports: Set((inputs + outputs).map(\.0)), exists: connection.hasPort, now: .now
      )
    }
    let (events, toMake) = observe()
    let made = toMake.filter { wire in
      let own = "\(connection.name):\(wire.port)"
      return Self.outputNames.contains(wire.port)
        ? connection.connect(own, wire.peer) : connection.connect(wire.peer, own)
    }
    return made.isEmpty ? events : events + observe().events
  }

  public var lacksRealtime: Bool { connection.lacksRealtime }
  public var sampleRate: Int { connection.sampleRate }
  public var period: Int { connection.period }
  public var dspLoad: Double { connection.dspLoad }
  public var xruns: Int { connection.xruns }
  public var isServerGone: Bool { connection.isServerGone }

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

/// An engine with its ports, registered and not yet in use.
public final class PreparedPorts: Sendable {
  let ports: ArrayPorts
  /// Registered for it.
  let fresh: [PortHandle]
  let delayFrames: Int

  init(ports: ArrayPorts, fresh: [PortHandle], delayFrames: Int) {
    self.ports = ports
    self.fresh = fresh
    self.delayFrames = delayFrames
  }
}

/// A port's handle; libjack lets any thread use it.
struct PortHandle: @unchecked Sendable {
  // Unchecked: an opaque pointer that never changes and that libjack guards.
  let port: OpaquePointer
  init(_ port: OpaquePointer) { self.port = port }
}
