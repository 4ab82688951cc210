import CJack
import CRealtime
import Glibc
import Synchronization
import Threads

/// An open libjack client, and everything that libjack's callbacks use.
///
/// A separate object, so that it can outlive its `JackConnection`: if libjack hangs while closing the client, the
/// closing thread retains this object and with it the context of the process callback.
///
/// A client that its server has lost is an *orphan* (`Standing`).
/// - Where the server has gone, it is closed, with PipeWire after all its ports were unregistered: libjack 1.4 and 1.6 free
///   the buffers of connected ports after the memory that they lie in, and end the process.
/// - Where another program has destroyed its node, PipeWire's libjack ends the process in whatever is asked of the client.
///   It is *abandoned*: its callbacks do nothing, and libjack keeps it until the process ends.
///
/// Thread: any but JACK's own, except for the functions under *JACK's notification thread*.
final class ClientHandle: @unchecked Sendable {
  // Unchecked: `process` is set before `activate`, by the thread that opened the client; the rest is atomic, immutable
  // or synchronised by libjack. Any thread may read libjack's shared memory; `requests` serialises server requests.

  let client: OpaquePointer
  private let standing = Atomic<Standing>(.inGraph)
  let xruns = Atomic<Int>(0)
  let period: Atomic<Int>
  let sampleRate: Atomic<Int>
  private let listener: JackConnection.Listener

  /// Where the client stands with its server. An orphan never comes back.
  private enum Standing: UInt8, AtomicRepresentable {
    /// The server knows it.
    case inGraph
    /// The server has gone.
    case orphanOfServer
    /// The server runs on, but another program has removed the client.
    case removed
  }

  /// The context of the process callback.
  private var process: AnyObject?
  /// Held during a server request: libjack does not distinguish the replies to concurrent requests.
  private let requests = Mutex<Void>(())
  /// The directions whose latencies are still to be reported, as bits `1 << mode`.
  private let dueLatencies = Atomic<UInt32>(0)
  /// Number of threads inside calls into libjack.
  private let users = Atomic<Int>(0)
  private let closing = Atomic<Bool>(false)
  private let isActivating = Atomic<Bool>(false)
  /// The registered ports.
  private let ports = Mutex<Set<PortHandle>>([])
  /// The result of `close`; nil before.
  private let outcome = Mutex<Bool?>(nil)
  /// Number of clients of this process whose `jack_client_close` has not returned.
  static let unfinishedCloses = Atomic<Int>(0)
  /// Number of clients of this process that were abandoned. Each keeps 1.2 MB, 23 descriptors and 3 threads (PipeWire 1.4).
  static let abandoned = Atomic<Int>(0)
  /// How many there may be: 1024 descriptors are the usual limit, beyond which libraries end the process.
  static let mostAbandoned = 30

  /// How long `close` waits, excluding time in which this process was suspended.
  private static let patience = Duration.seconds(2)
  /// Longest interval between two clock readings that counts as waiting; a longer one means that this process was
  /// suspended.
  private static let longestSlice = Duration.milliseconds(20)
  /// Delay between the loss of the server and `jack_client_close`, which cancels libjack's threads asynchronously. A
  /// thread cancelled inside malloc keeps malloc's lock, and the close hangs; so the threads get time to become idle.
  private static let restMicroseconds: UInt32 = 20_000

  init(_ client: OpaquePointer, listener: JackConnection.Listener) {
    self.client = client
    self.listener = listener
    period = Atomic(Int(jack_get_buffer_size(client)))
    sampleRate = Atomic(Int(jack_get_sample_rate(client)))
    register()
  }

  // MARK: JACK's notification thread

  private func register() {
    // Unretained: the closing thread retains this object until libjack has finished with it.
    let context = Unmanaged.passUnretained(self).toOpaque()
    // PipeWire calls it again in the first period after each change of period or rate: it sets two bits of a register.
    jack_set_thread_init_callback(client, { _ in pinna_flush_denormals() }, nil)
    jack_set_xrun_callback(
      client,
      {
        ClientHandle.countXrun($0!)
        return 0
      }, context)
    jack_set_buffer_size_callback(
      client,
      { frames, context in
        if ClientHandle.notesPeriod(frames, whileActivating: context!) { return 0 }
        guard let handle = ClientHandle.at(context) else { return 0 }
        handle.period.store(Int(frames), ordering: .relaxed)
        handle.listener.periodChanged(Int(frames))
        return 0
      }, context)
    jack_set_sample_rate_callback(
      client,
      { rate, context in
        guard let handle = ClientHandle.at(context) else { return 0 }
        // libjack also reports the rate when it has not changed.
        if handle.sampleRate.exchange(Int(rate), ordering: .relaxed) != Int(rate) {
          handle.listener.sampleRateChanged(Int(rate))
        }
        return 0
      }, context)
    jack_set_freewheel_callback(
      client,
      { isOn, context in
        ClientHandle.at(context)?.listener.freewheel(isOn != 0)
      }, context)
    jack_set_latency_callback(client, { ClientHandle.at($1)?.handleLatency($0) }, context)
    jack_set_port_connect_callback(
      client, { _, _, _, context in ClientHandle.at(context)?.listener.graphChanged() }, context)
    jack_set_port_registration_callback(
      client,
      { port, isRegistered, context in
        guard let handle = ClientHandle.at(context) else { return }
        if isRegistered != 0, let name = jack_port_by_id(handle.client, port).flatMap(jack_port_name) {
          handle.listener.portRegistered(String(cString: name))
        }
        handle.listener.graphChanged()
      }, context)
    if JackLibrary.isPipeWire {
      // All that a client is told when another program destroys its node. PipeWire says so only when no other client has
      // the name.
      jack_set_client_registration_callback(
        client,
        { name, isRegistered, context in
          guard isRegistered == 0, let name, let handle = ClientHandle.at(context),
            !handle.closing.load(ordering: .relaxed), strcmp(name, jack_get_client_name(handle.client)) == 0
          else { return }
          handle.handleLoss(.removed, .removed)
        }, context)
    }
    // JACK 2 calls only the callback with a reason, as PipeWire since 1.0; before, that called only the other one.
    jack_on_info_shutdown(
      client,
      { _, reason, context in
        ClientHandle.at(context)?.handleLoss(
          .orphanOfServer, .server(reason.map { String(cString: $0) } ?? "no reason given"))
      }, context)
    jack_on_shutdown(
      client, { ClientHandle.at($0)?.handleLoss(.orphanOfServer, .server("it was shut down")) }, context)
  }

  /// PipeWire tells of an xrun on the thread of the process callback.
  ///
  /// Thread: JACK's realtime or notification thread.
  @_noLocks @_noAllocation
  private static func countXrun(_ context: UnsafeMutableRawPointer) {
    Unmanaged<ClientHandle>.fromOpaque(context)._withUnsafeGuaranteedRef {
      _ = $0.xruns.wrappingAdd(1, ordering: .relaxed)
    }
  }

  /// Takes a period that arrives while `activate` waits: PipeWire 1.4 tells the first one on the thread of the process
  /// callback, where nothing may be locked or built.
  ///
  /// Thread: JACK's realtime or notification thread.
  /// - Returns: false if the client is not being activated.
  @_noLocks @_noAllocation
  private static func notesPeriod(_ frames: UInt32, whileActivating context: UnsafeMutableRawPointer) -> Bool
  {
    Unmanaged<ClientHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { handle in
      guard handle.isActivating.load(ordering: .acquiring) else { return false }
      handle.period.store(Int(frames), ordering: .relaxed)
      return true
    }
  }

  /// The handle of a callback's client; nil for an orphan, of which libjack knows nothing more.
  private static func at(_ context: UnsafeMutableRawPointer?) -> ClientHandle? {
    let handle = Unmanaged<ClientHandle>.fromOpaque(context!).takeUnretainedValue()
    return handle.isOrphan ? nil : handle
  }

  /// jackd needs the latencies before the callback returns. With PipeWire they wait for `reportLatencies`: what is set on
  /// this thread, libjack 0.3.65 sends at once, without its lock and perhaps into another thread's request; and it first
  /// runs calls that other threads left for this thread, which can wait for ever for the end of this callback.
  private func handleLatency(_ mode: JackLatencyCallbackMode) {
    guard JackLibrary.isPipeWire else { return listener.latency(mode) }
    dueLatencies.bitwiseOr(1 << mode.rawValue, ordering: .relaxed)
  }

  /// Reports that the client has become an orphan, once.
  private func handleLoss(_ new: Standing, _ loss: ClientLoss) {
    let (isFirst, _) = standing.compareExchange(
      expected: .inGraph, desired: new, ordering: .acquiringAndReleasing)
    if isFirst { listener.lost(loss) }
  }

  // MARK: Any thread but JACK's

  /// Whether the server has gone, or another program has removed the client.
  var isOrphan: Bool { standing.load(ordering: .acquiring) != .inGraph }
  private var isRemoved: Bool { standing.load(ordering: .acquiring) == .removed }

  /// Reads libjack's shared memory. Never waits.
  /// - Returns: nil if the client is closed or closing, or an orphan.
  func ask<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
    users.wrappingAdd(1, ordering: .sequentiallyConsistent)
    defer { users.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
    guard !closing.load(ordering: .sequentiallyConsistent), !isOrphan else { return nil }
    return body(client)
  }

  /// Sends a request to the server. Waits for its reply, and for earlier requests of other threads.
  /// - Returns: nil if the client is closed or closing, or an orphan.
  func request<Result: Sendable>(_ body: (OpaquePointer) -> Result) -> Result? {
    ask { client in requests.withLock { _ in body(client) } }
  }

  /// Registers a port. Waits as `request` does.
  /// - Returns: nil if the server does not.
  func registerPort(_ register: (OpaquePointer) -> OpaquePointer?) -> PortHandle? {
    ask { client in
      requests.withLock { _ in
        let port = register(client).map(PortHandle.init)
        if let port { ports.withLock { _ = $0.insert(port) } }
        return port
      }
    } ?? nil
  }

  /// Unregisters a port. Waits as `request` does.
  func unregister(_ port: PortHandle) {
    _ = request { client in
      if ports.withLock({ $0.remove(port) }) != nil { jack_port_unregister(client, port.port) }
    }
  }

  /// Reports the latencies that PipeWire has asked for since the last call. Waits for requests of other threads.
  func reportLatencies() {
    let due = dueLatencies.exchange(0, ordering: .relaxed)
    for mode in [JackCaptureLatency, JackPlaybackLatency] where due & (1 << mode.rawValue) != 0 {
      _ = request { _ in listener.latency(mode) }
    }
  }

  /// Sets the process callback; only before `activate`. Retains `context` for as long as the callback may run.
  func setProcess(_ callback: @escaping JackProcessCallback, context: AnyObject) {
    process = context
    jack_set_process_callback(client, callback, Unmanaged.passUnretained(context).toOpaque())
  }

  /// Joins the graph, and has the listener prepare for the period in use. Waits for the server.
  /// - Returns: whether the server has answered that all is well.
  func activate() -> Bool {
    isActivating.store(true, ordering: .sequentiallyConsistent)
    let result = request { jack_activate($0) }
    isActivating.store(false, ordering: .sequentiallyConsistent)
    guard result == 0 else { return false }
    var prepared: Int
    repeat {
      prepared = period.load(ordering: .sequentiallyConsistent)
      listener.periodChanged(prepared)
    } while prepared != period.load(ordering: .sequentiallyConsistent)
    return true
  }

  /// Closes the client on a thread of its own, and waits for 2 s at most; or abandons it. The context of the callback is
  /// retained until libjack has finished. Later calls return the first result.
  /// - Returns: false if the client is not closed in time; libjack then still maps the server's memory.
  func close() -> Bool {
    outcome.withLock { outcome in
      if let outcome { return outcome }
      let isClosed = closeOnce()
      outcome = isClosed
      return isClosed
    }
  }

  private func closeOnce() -> Bool {
    closing.store(true, ordering: .sequentiallyConsistent)
    let isClosed = Flag()
    Self.unfinishedCloses.wrappingAdd(1, ordering: .relaxed)
    let close: @Sendable () -> Void = { [self] in
      while users.load(ordering: .sequentiallyConsistent) > 0 { usleep(500) }
      if isOrphan { usleep(Self.restMicroseconds) }
      if JackLibrary.isPipeWire { unregisterPorts() }
      if isRemoved { abandon() } else { jack_client_close(client) }
      Self.unfinishedCloses.wrappingSubtract(1, ordering: .relaxed)
      isClosed.raise()
    }
    // If no thread can be started, close here: libjack must not call into an object that is freed afterwards.
    do { try BackgroundThread.start("pinna close", close) } catch { close() }
    // Polling rather than a semaphore, whose timeout uses the wall clock.
    var waited = Duration.zero
    var last = ContinuousClock.now
    while !isClosed.isRaised, waited < Self.patience {
      usleep(200)
      let now = ContinuousClock.now
      waited += min(now - last, Self.longestSlice)
      last = now
    }
    return isClosed.isRaised
  }

  /// Leaves the client to libjack, with what its callbacks use.
  private func abandon() {
    _ = Unmanaged.passRetained(self)
    Self.abandoned.wrappingAdd(1, ordering: .relaxed)
  }

  /// The server may have gone without a word so far. It answers each of these requests at once, or libjack does.
  private func unregisterPorts() {
    let ports = ports.withLock { ports in
      defer { ports = [] }
      return ports
    }
    for port in ports where !isRemoved { jack_port_unregister(client, port.port) }
  }

  private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isRaised: Bool { value.load(ordering: .acquiring) }
    func raise() { value.store(true, ordering: .releasing) }
  }
}
