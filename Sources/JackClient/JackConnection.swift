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
    public var shutdown: @Sendable (String) -> Void = { _ in }
    public init() {}
  }

  let client: OpaquePointer
  public let name: String
  private let listener: Listener
  private let xrunCount = Atomic<Int>(0)
  private let gone = Atomic<Bool>(false)

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
        Unmanaged<JackConnection>.fromOpaque(context!).takeUnretainedValue().listener.periodChanged(
          Int(frames))
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

  /// Leaves the graph; the callback does not run again. Closing can hang after a server died: then the client is
  /// left behind.
  public func close() {
    guard !closed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let handle = PortHandle(client)
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      jack_client_close(handle.port)
      done.signal()
    }
    _ = done.wait(timeout: .now() + 2)
  }
  private let closed = Atomic<Bool>(false)

  public var isServerGone: Bool { gone.load(ordering: .acquiring) }
  public var sampleRate: Int { Int(jack_get_sample_rate(client)) }
  public var period: Int { Int(jack_get_buffer_size(client)) }
  /// Percent of the period that the whole graph takes.
  public var dspLoad: Double { Double(jack_cpu_load(client)) }
  public var xruns: Int { xrunCount.load(ordering: .relaxed) }

  // MARK: Ports and connections

  public enum Direction: Sendable { case input, output }

  func registerPort(_ name: String, _ direction: Direction) throws(JackError) -> OpaquePointer {
    let flags = direction == .input ? JackPortIsInput : JackPortIsOutput
    guard let port = jack_port_register(client, name, JACK_DEFAULT_AUDIO_TYPE, UInt(flags.rawValue), 0) else {
      throw .portFailed(name)
    }
    return port
  }

  func unregisterPort(_ port: OpaquePointer) { jack_port_unregister(client, port) }

  /// Names of ports with all of `flags`, in the server's order.
  public func ports(matching pattern: String? = nil, flags: JackPortFlags) -> [String] {
    guard let list = jack_get_ports(client, pattern, JACK_DEFAULT_AUDIO_TYPE, UInt(flags.rawValue)) else {
      return []
    }
    defer { jack_free(list) }
    var names: [String] = []
    var at = list
    while let name = at.pointee {
      names.append(String(cString: name))
      at += 1
    }
    return names
  }

  /// True where the two are connected afterwards.
  @discardableResult
  public func connect(_ source: String, _ destination: String) -> Bool {
    let result = jack_connect(client, source, destination)
    return result == 0 || result == EEXIST
  }

  /// Physical capture ports, to which microphones are connected, found by the flag and never by a name.
  public var physicalCapturePorts: [String] {
    ports(flags: JackPortFlags(JackPortIsPhysical.rawValue | JackPortIsOutput.rawValue))
  }

  public var physicalPlaybackPorts: [String] {
    ports(flags: JackPortFlags(JackPortIsPhysical.rawValue | JackPortIsInput.rawValue))
  }

  /// Asks the server for another period. Blocks until it runs with it.
  @discardableResult
  public func requestPeriod(_ frames: Int) -> Bool {
    jack_set_buffer_size(client, UInt32(frames)) == 0
  }

  @discardableResult
  public func setFreewheel(_ on: Bool) -> Bool { jack_set_freewheel(client, on ? 1 : 0) == 0 }

  public func recomputeLatencies() { jack_recompute_total_latencies(client) }
}
