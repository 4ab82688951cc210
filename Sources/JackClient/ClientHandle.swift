import CJack
import CRealtime
import Foundation
import Synchronization
import Threads

/// An open client of libjack's, and all that libjack's callbacks reach.
///
/// It is an object of its own so that it can outlive its `JackConnection`: where libjack does not come back from closing
/// a client, the thread that closes it keeps this, and with it whatever the process callback uses.
final class ClientHandle: @unchecked Sendable {
  // Unchecked: `process` is set before `activate`, by the thread that opened the client; the rest is atomic, immutable
  // or libjack's own. Any thread may look into its shared memory; requests to the server are made one at a time.

  let client: OpaquePointer
  /// Tells this client from all others that this process ever had.
  let number = ClientHandle.opened.wrappingAdd(1, ordering: .relaxed).newValue
  private static let opened = Atomic<Int>(0)
  let gone = Atomic<Bool>(false)
  private let freewheel = Atomic<Bool>(false)
  /// Whether the server runs its graph as fast as it can. jackd then stands still for ten seconds where a client that takes no
  /// part in it, as the one that labels ports, comes and goes.
  var isFreewheeling: Bool { freewheel.load(ordering: .relaxed) && !gone.load(ordering: .acquiring) }
  let xruns = Atomic<Int>(0)
  let period: Atomic<Int>
  let sampleRate: Atomic<Int>
  private let listener: JackConnection.Listener
  /// What the process callback works on.
  private var process: AnyObject?
  /// Held while the server is asked: libjack does not keep the answers to two threads' requests apart.
  private let requests = Mutex<Void>(())
  /// Calls into libjack that are under way.
  private let users = Atomic<Int>(0)
  private let closing = Atomic<Bool>(false)
  /// How closing ended; nil before.
  private let outcome = Mutex<Bool?>(nil)
  /// Clients of this process whose closing has not come back.
  static let unfinishedCloses = Atomic<Int>(0)

  /// How long `close` waits, not counting time in which this process was stopped.
  private static let patience = Duration.seconds(2)
  /// A look at the clock tells nothing longer: what lies beyond is a standstill, in which nobody could close anything.
  private static let longestSlice = Duration.milliseconds(20)
  /// How long libjack's threads, which have just told us that the server has gone, take to come to rest. A close cancels them
  /// at any instruction: caught inside of malloc they keep its lock, and the close never comes back.
  private static let restMicroseconds: UInt32 = 20_000
  /// How long it waits, of that, for a label on its way.
  private static let grace = Duration.milliseconds(250)

  init(_ client: OpaquePointer, listener: JackConnection.Listener) {
    self.client = client
    self.listener = listener
    period = Atomic(Int(jack_get_buffer_size(client)))
    sampleRate = Atomic(Int(jack_get_sample_rate(client)))
    register()
  }

  // MARK: JACK's notification thread

  private func register() {
    // Unretained: whoever closes the client keeps this until libjack is through.
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
        // libjack also says the rate that there is.
        if handle.sampleRate.exchange(Int(rate), ordering: .relaxed) != Int(rate) {
          handle.listener.sampleRateChanged(Int(rate))
        }
        return 0
      }, context)
    jack_set_freewheel_callback(
      client,
      { isOn, context in
        let handle = ClientHandle.at(context)
        handle.freewheel.store(isOn != 0, ordering: .relaxed)
        handle.listener.freewheel(isOn != 0)
      }, context)
    jack_set_latency_callback(client, { ClientHandle.at($1).listener.latency($0) }, context)
    jack_set_port_connect_callback(
      client, { _, _, _, context in ClientHandle.at(context).listener.graphChanged() }, context)
    jack_set_port_registration_callback(
      client, { _, _, context in ClientHandle.at(context).listener.graphChanged() }, context)
    // Of the two JACK 2 calls only the one with a reason, PipeWire only the other.
    jack_on_info_shutdown(
      client,
      { _, reason, context in
        ClientHandle.at(context).lose(reason.map { String(cString: $0) } ?? "no reason given")
      }, context)
    jack_on_shutdown(client, { ClientHandle.at($0).lose("it was shut down") }, context)
  }

  private static func at(_ context: UnsafeMutableRawPointer?) -> ClientHandle {
    Unmanaged.fromOpaque(context!).takeUnretainedValue()
  }

  /// The server has gone. The first to say so counts.
  private func lose(_ reason: String) {
    if !gone.exchange(true, ordering: .acquiringAndReleasing) { listener.shutdown(reason) }
  }

  // MARK: Any thread but JACK's

  /// Looks into libjack's memory; nil where the client is closed, or being closed, or the server has gone. Never waits.
  func ask<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
    users.wrappingAdd(1, ordering: .sequentiallyConsistent)
    defer { users.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
    guard !closing.load(ordering: .sequentiallyConsistent), !gone.load(ordering: .acquiring) else {
      return nil
    }
    return body(client)
  }

  /// Asks the server, and waits for its answer, and for other threads' requests before it.
  func request<Result: Sendable>(_ body: (OpaquePointer) -> Result) -> Result? {
    ask { client in requests.withLock { _ in body(client) } }
  }

  /// Before `activate` only. `context` lives as long as the callback may run.
  func setProcess(_ callback: @escaping JackProcessCallback, context: AnyObject) {
    process = context
    jack_set_process_callback(client, callback, Unmanaged.passUnretained(context).toOpaque())
  }

  /// Closes the client in a thread of its own, and waits two seconds at most. False where it is not closed by then: then
  /// libjack keeps the server's memory. What the callback uses is kept until libjack is through. Whoever calls later is told
  /// what the first one was.
  /// - Parameter labelled: ports whose labels a server that has gone leaves behind. One that runs removes them itself.
  func close(labelled: Set<jack_uuid_t>) -> Bool {
    outcome.withLock { outcome in
      if let outcome { return outcome }
      let isClosed = closeOnce(labelled: labelled)
      outcome = isClosed
      return isClosed
    }
  }

  private func closeOnce(labelled: Set<jack_uuid_t>) -> Bool {
    let metadata = MetadataThread.shared
    metadata.drop(owner: number)
    if gone.load(ordering: .acquiring) { MetadataThread.leaveStale(labelled) }
    closing.store(true, ordering: .sequentiallyConsistent)
    let isClosed = Flag()
    Self.unfinishedCloses.wrappingAdd(1, ordering: .relaxed)
    let close: @Sendable () -> Void = { [self] in
      while users.load(ordering: .sequentiallyConsistent) > 0 { usleep(500) }
      // A label that is just being written would outlive its port.
      let graceEnd = ContinuousClock.now + Self.grace
      while metadata.isBusy(for: number), metadata.fault == nil, .now < graceEnd { usleep(500) }
      if gone.load(ordering: .acquiring) { usleep(Self.restMicroseconds) }
      jack_client_close(client)
      Self.unfinishedCloses.wrappingSubtract(1, ordering: .relaxed)
      isClosed.raise()
    }
    // Without a thread for it, it is done here: libjack must not call into what is freed after this.
    do { try BackgroundThread.start("pinna close", close) } catch { close() }
    // Not a semaphore: its timeout would follow the wall clock.
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
