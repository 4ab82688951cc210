import CJack
import Glibc
import Realtime
import Synchronization
import Threads

/// Pinna's client in a JACK graph: one input port per microphone, the ports out_left and out_right, the engine between
/// them, and the MIDI port control.
///
/// Threads, named by the MARK above each group of functions and by the parameters of `init`:
/// - *Worker*: any thread but JACK's own, one at a time. These functions wait for the server.
/// - *Any*: any thread but JACK's own, concurrently. These functions never wait.
/// - *Notification*: JACK's notification thread.
/// - *Realtime*: JACK's realtime thread.
public final class ArrayClient: Sendable {
  public static let outputNames = ["out_left", "out_right"]

  /// Name of the MIDI port.
  public static let controlName = "control"

  package let connection: JackConnection
  let trampoline: Trampoline
  private let history: GraphHistory
  let left: PortHandle
  let right: PortHandle
  let control: PortHandle
  let shared: SharedState

  /// The state shared with the notification thread.
  final class SharedState: Sendable {
    struct Values {
      var ports: ArrayPorts?
      var delayFrames = 0
      /// Connections requested through this client.
      var wanted: Set<Wiring.Wire> = []
      /// Ports that have appeared since the last graph check.
      var newPorts: Set<String> = []
    }
    /// No check drains `newPorts` while the server does not answer.
    static let maxNewPorts = 4096
    let values = Mutex(Values())
  }

  // MARK: Worker

  /// Opens the client. It is silent until `adopt`.
  /// - Parameters:
  ///   - times: records the duration of each callback.
  ///   - onLoss: notification thread; called once, when the client is in no graph any more.
  ///   - onGraphChange: notification thread; ports or connections have appeared or disappeared.
  ///   - onSampleRate: notification thread; receives the new sample rate when it changes.
  public init(
    name: String, server: String?, times: CallbackTimes? = nil,
    onLoss: @escaping @Sendable (ClientLoss) -> Void,
    onGraphChange: @escaping @Sendable () -> Void = {},
    onSampleRate: @escaping @Sendable (Int) -> Void = { _ in }
  ) throws(JackError) {
    let shared = SharedState()
    let trampoline = Trampoline(times: times)
    var listener = JackConnection.Listener()
    let history = GraphHistory()
    listener.periodChanged = { frames in
      history.note(.period)
      let ports = shared.values.withLock { $0.ports }
      ports?.engine.prepare(period: frames)
    }
    listener.sampleRateChanged = { rate in
      history.note(.period)
      onSampleRate(rate)
    }
    listener.freewheel = { isOn in
      history.note(.freewheel, isFreewheel: isOn)
      guard trampoline.freewheeling.exchange(isOn, ordering: .relaxed) != isOn else { return }
      trampoline.freewheelChanges.wrappingAdd(1, ordering: .relaxed)
      onGraphChange()
    }
    listener.latency = { mode in
      shared.values.withLock { Self.reportLatency(mode, $0, trampoline) }
    }
    listener.lost = onLoss
    listener.graphChanged = {
      history.note(.graph)
      onGraphChange()
    }
    listener.portRegistered = { name in
      shared.values.withLock { if $0.newPorts.count < SharedState.maxNewPorts { $0.newPorts.insert(name) } }
    }
    let connection = try JackConnection(name: name, server: server, listener: listener)
    self.connection = connection
    self.history = history
    self.trampoline = trampoline
    trampoline.follow(
      connection.client, sampleRate: connection.sampleRate,
      counting: JackLibrary.isPipeWire ? .position : .withThisPeriod)
    self.shared = shared
    left = PortHandle(try connection.registerPort(Self.outputNames[0], .output))
    right = PortHandle(try connection.registerPort(Self.outputNames[1], .output))
    control = PortHandle(try connection.registerPort(Self.controlName, .input, type: .midi))
    trampoline.listen(to: control.port)
    trampoline.outputs.withLock { $0 = [left, right] }
    StaleClients.flush(server: server)
    connection.setProcess(
      { frames, context in
        Unmanaged<Trampoline>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.run(frames) }
        return 0
      }, context: trampoline)
  }

  deinit { close() }

  /// Whether the server would refuse a client with this name. Waits for the server.
  package func isTaken(_ name: String) -> Bool { connection.isTaken(name) }

  /// Prepares an engine and its ports while another is in use. Ports with names in use are shared and keep their
  /// connections; the others are registered.
  /// - Throws: `serverGone`, `portFailed` or `stalled`; then no port is registered.
  public func prepare(_ engine: Engine, microphones names: [String], delayFrames: Int)
    throws(JackError) -> PreparedPorts
  {
    guard trampoline.canReplace else { throw .stalled }
    guard areReleased(names) else { throw .stalled }
    let old = shared.values.withLock { $0.ports }
    let known = Dictionary(
      uniqueKeysWithValues: zip(old?.names ?? [], (old?.microphones ?? []).map(PortHandle.init)))
    var ports: [OpaquePointer] = []
    var newPorts: [PortHandle] = []
    do throws(JackError) {
      for name in names {
        if let kept = known[name] {
          ports.append(kept.port)
        } else {
          let port = try connection.registerPort(name, .input)
          newPorts.append(PortHandle(port))
          ports.append(port)
        }
      }
    } catch {
      // All or none: a leftover port would make the next attempt fail.
      for port in newPorts { connection.unregisterPort(port.port) }
      throw error
    }
    engine.prepare(period: connection.period)
    return PreparedPorts(
      ports: ArrayPorts(
        engine: engine, names: names, microphones: ports, left: left.port, right: right.port,
        feeds: old?.feeds ?? []),
      newPorts: newPorts, delayFrames: delayFrames)
  }

  /// Waits, for 2 s at most, until no replaced engine has ports with any of `names` that the current engine does not
  /// share: a name can be registered only once.
  /// - Returns: false if the callback still uses such ports, because no period runs.
  func areReleased(_ names: [String]) -> Bool {
    let end = ContinuousClock.now + .seconds(2)
    let wanted = Set(names).subtracting(
      shared.values.withLock { $0.ports?.named.map(\.name) ?? [] })
    releaseRetired()
    while !trampoline.retiredNames.isDisjoint(with: wanted) {
      if .now >= end { return false }
      usleep(1_000)
      releaseRetired()
    }
    return true
  }

  /// Unregisters the ports of an engine that will not be used. Does nothing if it was adopted already: the callback
  /// uses its ports, and `close` releases them.
  public func discard(_ prepared: PreparedPorts) {
    guard shared.values.withLock({ $0.ports !== prepared.ports }) else { return }
    for port in prepared.newPorts { connection.unregisterPort(port.port) }
  }

  /// Completes `adopt`: unregisters the ports that are no longer used, and gives its memory back to the
  /// system. Does nothing while the callback may still use the previous engine; call it repeatedly.
  public func releaseRetired() {
    // The engines are freed at the end of this scope, before their memory is given back.
    do {
      let free = trampoline.released()
      guard !free.isEmpty else { return }
      // One port may belong to several that are replaced.
      var used = Set(shared.values.withLock { $0.ports }?.named.map(\.port) ?? [])
      used.formUnion(trampoline.retiredPorts.map(\.port))
      for port in free.flatMap({ $0.named.map(\.port) }) where used.insert(port).inserted {
        connection.unregisterPort(port)
      }
    }
    connection.recomputeLatencies()
    FreeMemory.giveBack()
  }

  /// Reports the latencies of own ports that PipeWire has asked for since the last call; call it repeatedly. jackd gets
  /// them when it asks.
  public func reportLatencies() { connection.reportLatencies() }

  /// Joins the graph: the callback runs from now on.
  /// - Throws: `activationFailed` or `serverGone`.
  public func activate() throws(JackError) {
    try connection.activate()
    trampoline.isActive.store(true, ordering: .releasing)
  }

  /// Closes the client, and frees the engines. Waits for 2 s at most.
  /// - Returns: false if the client is not closed by then (`JackConnection.close`). Until `JackConnection.unfinishedCloses` is 0, no
  ///   client of another server may be opened in this process.
  @discardableResult
  public func close() -> Bool {
    trampoline.isActive.store(false, ordering: .releasing)
    let isClosed = connection.close()
    shared.values.withLock { $0.ports = nil }
    trampoline.freeEngines()
    return isClosed
  }

  /// Requests another period, in frames. Waits for half a second at most until the server uses another: PipeWire accepts
  /// at once, and changes it some periods later.
  /// - Returns: the period that the server then uses.
  public func requestPeriod(_ frames: Int) -> Int {
    let (before, end) = (connection.period, ContinuousClock.now + .milliseconds(500))
    guard frames != before, connection.requestPeriod(frames) else { return before }
    while connection.period == before, .now < end { usleep(2_000) }
    return connection.period
  }

  // MARK: Any

  /// Makes the callback run `prepared`. Calls of `adopt` must not overlap.
  public func adopt(_ prepared: PreparedPorts) {
    shared.values.withLock {
      $0.ports = prepared.ports
      $0.delayFrames = prepared.delayFrames
    }
    // The period may have changed since `prepare`; preparing twice is harmless.
    prepared.ports.engine.prepare(period: connection.period)
    trampoline.replace(with: prepared.ports)
  }

  /// MIDI messages that arrived since the last call, oldest first. Never waits. Only one thread may call it.
  public func drainMIDI() -> [MIDIMessage] { trampoline.drainMIDI() }

  public var isActive: Bool { trampoline.isActive.load(ordering: .acquiring) }
  /// Empty if the server has gone.
  public var physicalCapturePorts: [String] { connection.physicalCapturePorts }
  /// Full names of the audio output ports of a client, in the server's order. Worker.
  public func outputPorts(ofClient name: String) -> [String] {
    connection.ports(flags: JackPortIsOutput).filter {
      $0.hasPrefix(name + ":") && clientName(ofPort: $0) == name
    }
  }
  /// The client that a port belongs to. Worker.
  public func clientName(ofPort name: String) -> String { connection.clientName(ofPort: name) }
  /// Other full names of any client's port, at most two.
  public func aliases(ofPort name: String) -> [String] { connection.aliases(of: name) }
  /// Names of the microphones' ports; empty before `adopt`.
  public var microphones: [String] { shared.values.withLock { $0.ports?.names ?? [] } }
  /// Whether the server uses realtime scheduling but the system did not grant it to this client.
  public var lacksRealtime: Bool { connection.lacksRealtime }
  /// The server's current rate in hertz, the last one if the server has gone; `onSampleRate` reports changes.
  public var sampleRate: Int { connection.sampleRate }
  /// In frames; the last one if the server has gone.
  public var period: Int { connection.period }
  /// Percent of the period that the graph uses.
  public var dspLoad: Double { connection.dspLoad }
  /// Number of xruns that the server has reported, or of times that it left this client out, whichever is more: some
  /// servers report none.
  public var xruns: Int { max(connection.xruns, trampoline.missedPeriods) }
  public var isServerGone: Bool { connection.isServerGone }
  /// Number of callbacks of this client so far; constant while the graph is stalled.
  public var periodsRun: Int { trampoline.periodsRun }
  /// Why the server left this client out at some time; nil where only the machine or this process can have been too slow, as
  /// always with jackd, which leaves out nobody else.
  public var explanations: GraphHistory? { JackLibrary.isPipeWire ? history : nil }
  /// How often the server went over to freewheel, or back.
  public var freewheelChanges: Int { trampoline.freewheelChanges.load(ordering: .relaxed) }
  /// Whether the server is in freewheel mode, or about to enter it.
  public var isFreewheeling: Bool { trampoline.freewheeling.load(ordering: .relaxed) }
  /// Number of clients of this process that libjack keeps, because closing them would end the process.
  public static var abandonedClients: Int { JackConnection.abandonedClients }
  // MARK: Notification

  /// Sets the latency of own ports for one direction: the latency at the other side plus the filters' delay.
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
