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

  /// How long `close` waits.
  private static let patience = Duration.seconds(2)
  /// How long it waits, of that, for a label on its way.
  private static let grace = Duration.milliseconds(250)

  init(_ client: OpaquePointer, listener: JackConnection.Listener) {
    self.client = client
    self.listener = listener
    period = Atomic(Int(jack_get_buffer_size(client)))
    sampleRate = Atomic(Int(jack_get_sample_rate(client)))
    // libjack let us in: it has no client of a dead server any more.
    LabelWriter.serverHasGone.store(false, ordering: .releasing)
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
      client, { ClientHandle.at($1).listener.freewheel($0 != 0) }, context)
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
    LabelWriter.serverHasGone.store(true, ordering: .releasing)
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

  /// Closes the client in a thread of its own, and waits two seconds at most. False where it is not closed by then, or
  /// where a client that writes its labels is still open and held up: then libjack keeps the server's memory. What the
  /// callback uses is kept until libjack is through. Whoever calls later is told what the first one was.
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
    if gone.load(ordering: .acquiring) { LabelWriter.stale.withLock { $0.formUnion(labelled) } }
    closing.store(true, ordering: .sequentiallyConsistent)
    let (isClosed, isDone) = (Flag(), Flag())
    Self.unfinishedCloses.wrappingAdd(1, ordering: .relaxed)
    let close: @Sendable () -> Void = { [self] in
      while users.load(ordering: .sequentiallyConsistent) > 0 { usleep(500) }
      // A label that is just being written would outlive its port.
      let graceEnd = ContinuousClock.now + Self.grace
      while metadata.isBusy(for: number), metadata.fault == nil, .now < graceEnd { usleep(500) }
      jack_client_close(client)
      isClosed.raise()
      while metadata.isBusy(for: number) { usleep(500) }
      Self.unfinishedCloses.wrappingSubtract(1, ordering: .relaxed)
      isDone.raise()
    }
    // Without a thread for it, it is done here: libjack must not call into what is freed after this.
    do { try BackgroundThread.start("pinna close", close) } catch { close() }
    // Not a semaphore: its timeout would follow the wall clock.
    let end = ContinuousClock.now + Self.patience
    while !isDone.isRaised {
      // What is held up already is not waited for.
      if .now >= end || (isClosed.isRaised && metadata.fault != nil) { return false }
      usleep(200)
    }
    return true
  }

  private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isRaised: Bool { value.load(ordering: .acquiring) }
    func raise() { value.store(true, ordering: .releasing) }
  }
}
