import CJack
import CRealtime
import Foundation
import Synchronization

/// A client of a JACK server: opened, given a process callback, activated, closed.
///
/// Threads: everything here is for control threads. The process callback runs on JACK's realtime thread;
/// `Listener`'s closures on JACK's notification thread.
public final class JackConnection: @unchecked Sendable {
  // Unchecked: libjack's client functions may be called from any thread but the callback's.

  /// What the server tells a client outside the process callback.
  public struct Listener: Sendable {
    public var periodChanged: @Sendable (Int) -> Void = { _ in }
    public var freewheel: @Sendable (Bool) -> Void = { _ in }
    public var latency: @Sendable (JackLatencyCallbackMode) -> Void = { _ in }
    /// A port came or went, or a connection did.
    public var graphChanged: @Sendable () -> Void = {}
    public var shutdown: @Sendable (String) -> Void = { _ in }
    public init() {}
  }

  let client: OpaquePointer
  public let name: String
  private let listener: Listener
  private let xrunCount = Atomic<Int>(0)
  private let gone = Atomic<Bool>(false)
  private let closed = Atomic<Bool>(false)
  private let lastPeriod: Atomic<Int>
  /// Ports that carry labels, which the server keeps until somebody removes them.
  let labelled = Mutex<Set<jack_uuid_t>>([])
  public let sampleRate: Int

  /// - Parameter server: nil for the default one. A server is never started.
  public init(name: String, server: String?, listener: Listener = Listener()) throws(JackError) {
    // jackd keeps the sockets of servers and clients under one name each: ours would replace the server's.
    let serverName = server ?? getenv("JACK_DEFAULT_SERVER").map { String(cString: $0) } ?? "default"
    if name == serverName { throw .nameOfServer(name) }
    // libjack explains itself on standard error; we explain it in one sentence instead.
    jack_set_error_function { _ in }
    jack_set_info_function { _ in }
    var status = JackStatus(rawValue: 0)
    let options = JackOptions(rawValue: JackNoStartServer.rawValue | JackUseExactName.rawValue)
    guard let client = pinna_jack_client_open(name, options, &status, server) else {
      if status.rawValue & JackNameNotUnique.rawValue != 0 { throw .nameTaken(name) }
      if status.rawValue & JackServerFailed.rawValue != 0 { throw .noServer(server) }
      if Self.letsIn(server: server) { throw .nameTaken(name) }
      throw .openFailed("status \(status.rawValue)")
    }
    self.client = client
    self.name = name
    self.listener = listener
    sampleRate = Int(jack_get_sample_rate(client))
    lastPeriod = Atomic(Int(jack_get_buffer_size(client)))
    register()
  }

  deinit { close() }

  /// Whether the server takes a client of any name. jackd2 hides that a name is taken behind
  /// `JackServerError`, so that this tells.
  private static func letsIn(server: String?) -> Bool {
    var status = JackStatus(rawValue: 0)
    guard let probe = pinna_jack_client_open("pinna-probe", JackNoStartServer, &status, server) else {
      return false
    }
    jack_client_close(probe)
    return true
  }

  private func register() {
    let context = Unmanaged.passUnretained(self).toOpaque()
    jack_set_thread_init_callback(client, { _ in pinna_flush_denormals() }, nil)
    jack_set_xrun_callback(
      client,
      {
        Unmanaged<JackConnection>.fromOpaque($0!).takeUnretainedValue().xrunCount
          .wrappingAdd(1, ordering: .relaxed)
        return 0
      }, context)
    jack_set_buffer_size_callback(
      client,
      { frames, context in
        let connection = Unmanaged<JackConnection>.fromOpaque(context!).takeUnretainedValue()
        connection.lastPeriod.store(Int(frames), ordering: .relaxed)
        connection.listener.periodChanged(Int(frames))
        return 0
      }, context)
    jack_set_freewheel_callback(
      client,
      { starting, context in
        Unmanaged<JackConnection>.fromOpaque(context!).takeUnretainedValue().listener.freewheel(starting != 0)
      }, context)
    jack_set_latency_callback(
      client,
      { mode, context in
        Unmanaged<JackConnection>.fromOpaque(context!).takeUnretainedValue().listener.latency(mode)
      }, context)
    jack_set_port_connect_callback(
      client,
      { _, _, _, context in
        Unmanaged<JackConnection>.fromOpaque(context!).takeUnretainedValue().listener.graphChanged()
      }, context)
    jack_set_port_registration_callback(
      client,
      { _, _, context in
        Unmanaged<JackConnection>.fromOpaque(context!).takeUnretainedValue().listener.graphChanged()
      }, context)
    jack_on_info_shutdown(
      client,
      { _, reason, context in
        let connection = Unmanaged<JackConnection>.fromOpaque(context!).takeUnretainedValue()
        connection.gone.store(true, ordering: .releasing)
        connection.listener.shutdown(reason.map { String(cString: $0) } ?? "no reason given")
      }, context)
  }

  /// Sets the process callback: before `activate` only. `context` must outlive the connection.
  func setProcess(_ callback: @escaping JackProcessCallback, context: UnsafeMutableRawPointer) {
    jack_set_process_callback(client, callback, context)
  }

  public func activate() throws(JackError) {
    guard jack_activate(client) == 0 else { throw .activationFailed }
  }

  /// Leaves the graph; the callback does not run again.
  ///
  /// Closing can hang after a server died: after two seconds the client is left behind, with all that its callback
  /// may touch, and the answer is false. Then no other client must be opened in this process: libjack still has the
  /// dead server's memory.
  @discardableResult
  public func close() -> Bool {
    guard !closed.exchange(true, ordering: .acquiringAndReleasing) else { return true }
    let handle = PortHandle(client)
    let ports = labelled.withLock { $0 }
    let done = CloseFlag()
    Thread.detachNewThread {
      for port in ports { jack_remove_properties(handle.port, port) }
      jack_client_close(handle.port)
      done.isSet.store(true, ordering: .releasing)
    }
    // Not a semaphore: its timeout would follow the wall clock.
    let end = ContinuousClock.now + .seconds(2)
    while !done.isSet.load(ordering: .acquiring) {
      guard .now < end else {
        _ = Unmanaged.passRetained(self)
        return false
      }
      usleep(200)
    }
    return true
  }

  public var isServerGone: Bool { gone.load(ordering: .acquiring) }
  /// The server answers: nobody must ask it anything else.
  private var isOpen: Bool { !isServerGone && !closed.load(ordering: .acquiring) }
  /// The last one where the server has gone.
  public var period: Int {
    isOpen ? Int(jack_get_buffer_size(client)) : lastPeriod.load(ordering: .relaxed)
  }
  /// Percent of the period that the whole graph takes.
  public var dspLoad: Double { isOpen ? Double(jack_cpu_load(client)) : 0 }
  public var xruns: Int { xrunCount.load(ordering: .relaxed) }

  /// The server runs its clients with realtime scheduling, but the system did not grant it to ours. After
  /// `activate`.
  public var lacksRealtime: Bool {
    guard isOpen, jack_is_realtime(client) != 0 else { return false }
    var policy: Int32 = 0
    var parameters = sched_param()
    return pthread_getschedparam(jack_client_thread_id(client), &policy, &parameters) == 0
      && policy == SCHED_OTHER
  }
}

private final class CloseFlag: Sendable {
  let isSet = Atomic<Bool>(false)
}
