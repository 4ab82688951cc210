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
/// Thread: any but JACK's own, except for the functions under *JACK's notification thread*.
final class ClientHandle: @unchecked Sendable {
  // Unchecked: `process` is set before `activate`, by the thread that opened the client; the rest is atomic, immutable
  // or synchronised by libjack. Any thread may read libjack's shared memory; `requests` serialises server requests.

  let client: OpaquePointer
  let gone = Atomic<Bool>(false)
  let xruns = Atomic<Int>(0)
  let period: Atomic<Int>
  let sampleRate: Atomic<Int>
  private let listener: JackConnection.Listener
  /// The context of the process callback.
  private var process: AnyObject?
  /// Held during a server request: libjack does not distinguish the replies to concurrent requests.
  private let requests = Mutex<Void>(())
  /// The directions whose latencies are still to be reported, as bits `1 << mode`.
  private let dueLatencies = Atomic<UInt32>(0)
  /// Number of threads inside calls into libjack.
  private let users = Atomic<Int>(0)
  private let closing = Atomic<Bool>(false)
  /// The result of `close`; nil before.
  private let outcome = Mutex<Bool?>(nil)
  /// Number of clients of this process whose `jack_client_close` has not returned.
  static let unfinishedCloses = Atomic<Int>(0)

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
    jack_set_thread_init_callback(client, { _ in pinna_flush_denormals() }, nil)
    jack_set_xrun_callback(
      client,
      {
        ClientHandle.at($0).xruns.wrappingAdd(1, ordering: .relaxed)
        return 0
      }, context)
    jack_set_buffer_size_callback(
      client,
      { frames, context in
        let handle = ClientHandle.at(context)
        handle.period.store(Int(frames), ordering: .relaxed)
        handle.listener.periodChanged(Int(frames))
        return 0
      }, context)
    jack_set_sample_rate_callback(
      client,
      { rate, context in
        let handle = ClientHandle.at(context)
        // libjack also reports the rate when it has not changed.
        if handle.sampleRate.exchange(Int(rate), ordering: .relaxed) != Int(rate) {
          handle.listener.sampleRateChanged(Int(rate))
        }
        return 0
      }, context)
    jack_set_freewheel_callback(
      client,
      { isOn, context in
        ClientHandle.at(context).listener.freewheel(isOn != 0)
      }, context)
    jack_set_latency_callback(client, { ClientHandle.at($1).handleLatency($0) }, context)
    jack_set_port_connect_callback(
      client, { _, _, _, context in ClientHandle.at(context).listener.graphChanged() }, context)
    jack_set_port_registration_callback(
      client,
      { port, isRegistered, context in
        let handle = ClientHandle.at(context)
        if isRegistered != 0, let name = jack_port_by_id(handle.client, port).flatMap(jack_port_name) {
          handle.listener.portRegistered(String(cString: name))
        }
        handle.listener.graphChanged()
      }, context)
    // JACK 2 calls only the callback with a reason, PipeWire only the one without.
    jack_on_info_shutdown(
      client,
      { _, reason, context in
        ClientHandle.at(context).handleShutdown(reason.map { String(cString: $0) } ?? "no reason given")
      }, context)
    jack_on_shutdown(client, { ClientHandle.at($0).handleShutdown("it was shut down") }, context)
  }

  private static func at(_ context: UnsafeMutableRawPointer?) -> ClientHandle {
    Unmanaged.fromOpaque(context!).takeUnretainedValue()
  }

  /// jackd needs the latencies before the callback returns. With PipeWire they wait for `reportLatencies`: what is set on
  /// this thread, libjack 0.3.65 sends at once, without its lock and perhaps into another thread's request; and it first
  /// runs calls that other threads left for this thread, which can wait for ever for the end of this callback.
  private func handleLatency(_ mode: JackLatencyCallbackMode) {
    guard JackLibrary.isPipeWire else { return listener.latency(mode) }
    dueLatencies.bitwiseOr(1 << mode.rawValue, ordering: .relaxed)
  }

  /// Reports the loss of the server, once.
  private func handleShutdown(_ reason: String) {
    if !gone.exchange(true, ordering: .acquiringAndReleasing) { listener.shutdown(reason) }
  }

  // MARK: Any thread but JACK's

  /// Reads libjack's shared memory. Never waits.
  /// - Returns: nil if the client is closed or closing, or the server has gone.
  func ask<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
    users.wrappingAdd(1, ordering: .sequentiallyConsistent)
    defer { users.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
    guard !closing.load(ordering: .sequentiallyConsistent), !gone.load(ordering: .acquiring) else {
      return nil
    }
    return body(client)
  }

  /// Sends a request to the server. Waits for its reply, and for earlier requests of other threads.
  /// - Returns: nil if the client is closed or closing, or the server has gone.
  func request<Result: Sendable>(_ body: (OpaquePointer) -> Result) -> Result? {
    ask { client in requests.withLock { _ in body(client) } }
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

  /// Closes the client on a thread of its own, and waits for 2 s at most. The context of the callback is retained until
  /// libjack has finished. Later calls return the first result.
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
      if gone.load(ordering: .acquiring) { usleep(Self.restMicroseconds) }
      jack_client_close(client)
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

  private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isRaised: Bool { value.load(ordering: .acquiring) }
    func raise() { value.store(true, ordering: .releasing) }
  }
}
