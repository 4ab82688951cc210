import CJack
import Foundation
import Synchronization
import Threads

/// A client of a JACK server: opened, given a process callback, activated, closed.
///
/// Threads: everything here may be called from any thread but JACK's own; each function says whether it waits for the
/// server, which it then also does for other threads' requests. The process callback runs on JACK's realtime thread, `Listener`'s closures on JACK's notification thread.
public final class JackConnection: Sendable {
  /// What the server tells a client outside the process callback.
  public struct Listener: Sendable {
    public var periodChanged: @Sendable (Int) -> Void = { _ in }
    /// The server runs at another rate than before.
    public var sampleRateChanged: @Sendable (Int) -> Void = { _ in }
    public var freewheel: @Sendable (Bool) -> Void = { _ in }
    public var latency: @Sendable (JackLatencyCallbackMode) -> Void = { _ in }
    /// A port came or went, or a connection did.
    public var graphChanged: @Sendable () -> Void = {}
    /// The server has gone: once.
    public var shutdown: @Sendable (String) -> Void = { _ in }
    public init() {}
  }

  let handle: ClientHandle
  public let name: String
  let server: String?
  /// Ports that carry labels.
  let labelled = Mutex<Set<jack_uuid_t>>([])

  package var client: OpaquePointer { handle.client }

  /// Waits for the server.
  /// - Parameter server: nil for the default one. A server is never started.
  public init(name: String, server: String?, listener: Listener = Listener()) throws(JackError) {
    // jackd keeps the sockets of servers and clients under one name each: ours would replace the server's.
    let named = server ?? getenv("JACK_DEFAULT_SERVER").map { String(cString: $0) }
    if name == named ?? "default" { throw .nameOfServer(name) }
    var status = JackStatus(rawValue: 0)
    let options = JackOptions(rawValue: JackNoStartServer.rawValue | JackUseExactName.rawValue)
    guard let client = pinna_jack_client_open(name, options, &status, server) else {
      if status.rawValue & JackNameNotUnique.rawValue != 0 { throw .nameTaken(name) }
      if status.rawValue & JackServerFailed.rawValue != 0 { throw .noServer(named) }
      if Self.letsIn(server: server) { throw .nameTaken(name) }
      throw .openFailed(Self.words(status.rawValue))
    }
    self.name = name
    self.server = server
    handle = ClientHandle(client, listener: listener)
  }

  deinit { close() }

  /// libjack explains itself on standard error; a program that explains it in its own words asks for silence, once, before
  /// it opens a client. It concerns the whole process, so that no library may decide it.
  public static func silenceLibrary() {
    jack_set_error_function { _ in }
    jack_set_info_function { _ in }
  }

  /// What libjack says of a client that was not let in.
  private static func words(_ status: UInt32) -> String {
    func has(_ flag: JackStatus) -> Bool { status & flag.rawValue != 0 }
    if has(JackVersionError) { return "the server is of another version than libjack; install both anew" }
    if has(JackShmFailure) { return "the server's shared memory cannot be reached; start the server again" }
    if has(JackBackendError) { return "the server's driver failed; see the server's messages" }
    if has(JackServerError) {
      return "the server broke off, as one does that is just starting or ending; try again"
    }
    return "status \(status); see the server's messages"
  }

  /// Whether the server takes a client of any name. jackd2 hides that a name is taken behind
  /// `JackServerError`, so that this tells.
  private static func letsIn(server: String?) -> Bool {
    guard HelperProcess.program == nil else { return LabelWriter.isLetIn(server: server) }
    var status = JackStatus(rawValue: 0)
    guard let probe = pinna_jack_client_open("pinna-probe", JackNoStartServer, &status, server) else {
      return false
    }
    jack_client_close(probe)
    return true
  }

  /// Sets the process callback: before `activate` only. `context` lives as long as the callback may run, which is longer
  /// than the connection where libjack does not come back from closing it; so it must not keep the connection alive.
  package func setProcess(_ callback: @escaping JackProcessCallback, context: AnyObject) {
    handle.setProcess(callback, context: context)
  }

  /// Waits for the server.
  public func activate() throws(JackError) {
    guard handle.request({ jack_activate($0) }) == 0 else {
      throw isAnswering ? .activationFailed : .serverGone
    }
  }

  /// Leaves the graph; the callback does not run again.
  ///
  /// Closing can hang, after a server died and behind a server or a metadata database that does not answer: after two
  /// seconds at most it goes on in a thread of its own, with all that the callback may touch, and the answer is false.
  /// Until `unfinishedCloses` is 0 again no client of another server must be opened in this process: libjack still has
  /// the old server's memory. A second call answers as the first did.
  @discardableResult
  public func close() -> Bool { handle.close(labelled: labelled.withLock { $0 }) }

  /// Clients of this process whose closing has not come back. Never waits.
  public static var unfinishedCloses: Int { ClientHandle.unfinishedCloses.load(ordering: .relaxed) }

  /// Never waits.
  public var isServerGone: Bool { handle.gone.load(ordering: .acquiring) }
  /// Whether the server answers a question that it has no reason to refuse. Waits for it.
  var isAnswering: Bool { handle.request { jack_recompute_total_latencies($0) } == 0 && !isServerGone }
  /// Never waits; the last one where the server has gone.
  public var period: Int {
    handle.ask { Int(jack_get_buffer_size($0)) } ?? handle.period.load(ordering: .relaxed)
  }
  /// Never waits.
  public var sampleRate: Int { handle.sampleRate.load(ordering: .relaxed) }
  /// Percent of the period that the whole graph takes. Never waits.
  public var dspLoad: Double { handle.ask { Double(jack_cpu_load($0)) } ?? 0 }
  /// Never waits.
  public var xruns: Int { handle.xruns.load(ordering: .relaxed) }

  /// The server runs its clients with realtime scheduling, but the system did not grant it to ours. After
  /// `activate`. Never waits.
  public var lacksRealtime: Bool {
    handle.ask { client in
      guard jack_is_realtime(client) != 0 else { return false }
      var policy: Int32 = 0
      var parameters = sched_param()
      return pthread_getschedparam(jack_client_thread_id(client), &policy, &parameters) == 0
        && policy == SCHED_OTHER
    } ?? false
  }
}
