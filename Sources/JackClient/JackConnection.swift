import CJack
import Glibc
import Synchronization
import Threads

/// A client of a JACK server. Life cycle: open, set the process callback, activate, close.
///
/// Thread: any but JACK's own. Each function says whether it waits for the server; if so, it also waits for other
/// threads' requests. The process callback runs on JACK's realtime thread, the closures of `Listener` on JACK's
/// notification thread.
public final class JackConnection: Sendable {
  /// Callbacks for the server's notifications.
  ///
  /// Thread: JACK's notification thread.
  public struct Listener: Sendable {
    /// Receives the new period, in frames. Also called by the thread that activates the client.
    public var periodChanged: @Sendable (Int) -> Void = { _ in }
    /// Receives the new sample rate, in hertz.
    public var sampleRateChanged: @Sendable (Int) -> Void = { _ in }
    public var freewheel: @Sendable (Bool) -> Void = { _ in }
    public var latency: @Sendable (JackLatencyCallbackMode) -> Void = { _ in }
    /// Ports or connections have appeared or disappeared.
    public var graphChanged: @Sendable () -> Void = {}
    /// A port has appeared; receives its full name. Called before `graphChanged`.
    public var portRegistered: @Sendable (String) -> Void = { _ in }
    /// The client is in no graph any more. Called once.
    public var lost: @Sendable (ClientLoss) -> Void = { _ in }
    public init() {}
  }

  let handle: ClientHandle
  public let name: String
  let server: String?

  package var client: OpaquePointer { handle.client }

  /// Opens a client. Waits for the server; never starts one.
  /// - Parameter server: nil for the default one.
  /// - Throws: `noServer`, `nameTaken`, `nameOfServer` or `openFailed`.
  public init(name: String, server: String?, listener: Listener = Listener()) throws(JackError) {
    // jackd names the sockets of servers and clients alike: a client with the server's name would replace its socket.
    let named = server ?? getenv("JACK_DEFAULT_SERVER").map { String(cString: $0) }
    if name == server ?? Self.standardServer { throw .nameOfServer(name) }
    // libjack 1.9.21 overruns a buffer.
    if let named, named.utf8.count > 255 {
      throw .openFailed("the server's name has \(named.utf8.count) bytes; give one of at most 255")
    }
    guard Self.abandonedClients < ClientHandle.mostAbandoned else {
      throw .openFailed(
        "other programs have removed this one \(Self.abandonedClients) times; find out which, then start it again"
      )
    }
    var status = JackStatus(rawValue: 0)
    let options = JackOptions(rawValue: JackNoStartServer.rawValue | JackUseExactName.rawValue)
    guard let client = pinna_jack_client_open(name, options, &status, server) else {
      if status.rawValue & JackNameNotUnique.rawValue != 0 { throw .nameTaken(name) }
      if status.rawValue & JackServerFailed.rawValue != 0 { throw .noServer(named) }
      if Self.hasClient(name, server: server) { throw .nameTaken(name) }
      throw .openFailed(Self.words(status.rawValue))
    }
    guard !Self.hasNamesake(client, name) else {
      jack_client_close(client)
      throw .nameTaken(name)
    }
    self.name = name
    self.server = server
    handle = ClientHandle(client, listener: listener)
  }

  deinit { close() }

  /// Silences libjack's messages on standard error, for programs that print their own. Call it once, before opening a
  /// client. It affects the whole process, so only a program may call it, not a library.
  public static func silenceLibrary() {
    jack_set_error_function { _ in }
    jack_set_info_function { _ in }
  }

  /// Explains the status with which libjack refused a client.
  private static func words(_ status: UInt32) -> String {
    func has(_ flag: JackStatus) -> Bool { status & flag.rawValue != 0 }
    if has(JackVersionError) { return "the versions of the server and libjack differ; reinstall both" }
    if has(JackShmFailure) { return "the server's shared memory is not accessible; restart the server" }
    if has(JackBackendError) { return "the server's driver failed; see the server's messages" }
    if let limit = Self.memoryLimit, has(JackServerError) || status == JackFailure.rawValue {
      return
        "this process may use only \(limit >> 20) MiB of memory, which may be too little for that of the server; raise "
        + "the limit (ulimit -v)"
    }
    if has(JackServerError) {
      return "the server closed the connection, perhaps because it is starting or stopping; try again"
    }
    return "status \(status); see the server's messages"
  }

  /// Whether another client has ports under the name of a client that has just been opened. PipeWire admits namesakes.
  private static func hasNamesake(_ client: OpaquePointer, _ name: String) -> Bool {
    guard JackLibrary.isPipeWire, let list = jack_get_ports(client, nil, nil, 0) else { return false }
    defer { jack_free(list) }
    var at = list
    while let port = at.pointee {
      if clientName(ofPort: String(cString: port), client) == name { return true }
      at += 1
    }
    return false
  }

  /// The client that a port belongs to, by its full name. Names of clients may have colons, and so may those of ports:
  /// the longest part before a colon that is a client's name counts, or else what stands before the last colon. Waits
  /// for the server if there are several colons.
  static func clientName(ofPort port: String, _ client: OpaquePointer) -> String {
    let parts = port.indices.filter { port[$0] == ":" }.map { String(port[..<$0]) }
    guard parts.count > 1 else { return parts.first ?? port }
    return parts.last { hasClient($0, client) } ?? parts.last!
  }

  /// Whether the server would refuse a client with this name, because a client or the server has it. Waits for the
  /// server.
  func isTaken(_ name: String) -> Bool {
    if name == server ?? Self.standardServer { return true }
    return handle.request { Self.hasClient(name, $0) } ?? false
  }

  /// The server of clients that name none.
  private static var standardServer: String {
    getenv("JACK_DEFAULT_SERVER").map { String(cString: $0) } ?? "default"
  }

  /// The limit on this process's address space, in bytes; nil if there is none.
  private static var memoryLimit: rlim_t? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max else {
      return nil
    }
    return limit.rlim_cur
  }

  /// Whether a client of the server has this name. Waits for the server.
  ///
  /// jackd2 reports a name that is in use as `JackServerError`, as it does much else.
  private static func hasClient(_ name: String, server: String?) -> Bool {
    guard HelperProcess.program == nil else { return ServerProbe.hasClient(name, server: server) }
    var status = JackStatus(rawValue: 0)
    guard let probe = pinna_jack_client_open("pinna-probe", JackNoStartServer, &status, server) else {
      return false
    }
    defer { jack_client_close(probe) }
    return hasClient(name, probe)
  }

  /// The same, asked through a client of that server.
  static func hasClient(_ name: String, _ client: OpaquePointer) -> Bool {
    let uuid = jack_get_uuid_for_client_name(client, name)
    defer { jack_free(uuid) }
    return uuid != nil
  }

  /// Sets the process callback; only before `activate`. `context` is retained for as long as the callback may run. If
  /// libjack hangs while closing, that is longer than the connection's life, so it must not retain the connection.
  package func setProcess(_ callback: @escaping JackProcessCallback, context: AnyObject) {
    handle.setProcess(callback, context: context)
  }

  /// Joins the graph. Waits for the server.
  /// - Throws: `activationFailed` or `serverGone`.
  public func activate() throws(JackError) {
    guard handle.activate() else {
      throw isAnswering ? .activationFailed : .serverGone
    }
  }

  /// Leaves the graph; the callback does not run again. Waits for 2 s at most.
  ///
  /// Closing can hang after a server has died, or if the server does not answer. It then
  /// continues on a thread of its own, which retains everything that the callback may use. Until `unfinishedCloses` is
  /// 0 again, no client of another server may be opened in this process: libjack still maps the old server's memory.
  /// - Returns: false if the client is not closed in time. A second call returns the first result.
  @discardableResult
  public func close() -> Bool { handle.close() }

  /// Number of clients of this process whose `close` has not returned. Never waits.
  public static var unfinishedCloses: Int { ClientHandle.unfinishedCloses.load(ordering: .relaxed) }

  /// Number of clients of this process that libjack keeps, because closing them could end the process. Never waits.
  public static var abandonedClients: Int { ClientHandle.abandoned.load(ordering: .relaxed) }

  /// How many there may be.
  public static var mostAbandonedClients: Int { ClientHandle.mostAbandoned }

  /// Whether the server has gone, or has lost this client. Never waits.
  public var isServerGone: Bool { handle.isOrphan }
  /// Whether the server answers a harmless request. Waits for it.
  var isAnswering: Bool { handle.request { jack_recompute_total_latencies($0) } == 0 && !isServerGone }
  /// In frames; the last one if the server has gone. Never waits.
  public var period: Int {
    handle.ask { Int(jack_get_buffer_size($0)) } ?? handle.period.load(ordering: .relaxed)
  }
  /// In hertz; the last one if the server has gone. Never waits.
  public var sampleRate: Int {
    let rate = handle.ask { Int(jack_get_sample_rate($0)) } ?? 0
    return rate > 0 ? rate : handle.sampleRate.load(ordering: .relaxed)
  }
  /// Percent of the period that the whole graph uses. Never waits.
  public var dspLoad: Double { handle.ask { Double(jack_cpu_load($0)) } ?? 0 }
  /// Number of xruns that the server has reported. Never waits.
  public var xruns: Int { handle.xruns.load(ordering: .relaxed) }

  /// Whether the server uses realtime scheduling. Never waits.
  public var isServerRealtime: Bool { handle.ask { jack_is_realtime($0) != 0 } ?? false }

  /// Whether the server uses realtime scheduling but the system did not grant it to this client. Valid after
  /// `activate`. Never waits.
  public var lacksRealtime: Bool {
    handle.ask { client in
      let thread = jack_client_thread_id(client)
      // PipeWire 1.6 has no thread before `activate`.
      guard thread != 0, jack_is_realtime(client) != 0 else { return false }
      var policy: Int32 = 0
      var parameters = sched_param()
      return pthread_getschedparam(thread, &policy, &parameters) == 0
        && policy == SCHED_OTHER
    } ?? false
  }
}
