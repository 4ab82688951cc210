// The keys are C's global variables, which nobody ever writes.
@preconcurrency import CJack
import Synchronization

/// Writes labels of ports into JACK's metadata. The metadata thread alone calls it.
///
/// It has a client of its own, without ports and never active, for as long as there are labels to write. libjack tells the
/// server of each label over the client's socket, and does not keep requests of two threads on one socket apart; nor may a
/// client be closed while a call with it is held up.
final class LabelWriter: @unchecked Sendable {
  // Unchecked: `client` and `refused` are the metadata thread's; `stale` is guarded.
  private var client: (owner: Int, handle: OpaquePointer)?
  /// The connection whose server did not let us in: it is not asked again.
  private var refused = 0
  /// A server has gone whose clients this process may still have. Whichever of them hears of it first says so: libjack tells
  /// one after the other, and counts the server as gone with the first.
  static let serverHasGone = Atomic<Bool>(false)
  /// Numbers of ports whose labels a server that died left behind: the next server uses the numbers again.
  static let stale = Mutex<Set<jack_uuid_t>>([])

  /// - Parameter job: nil where there is none for now.
  func perform(_ job: MetadataThread.Job?) {
    if let client, client.owner != job?.owner {
      close(client.handle)
      self.client = nil
    }
    guard let job else { return }
    if client == nil { open(job) }
    guard let client = client?.handle else { return }
    // The port's number is used again: what an earlier port left is removed before.
    jack_remove_properties(client, job.port)
    guard let label = job.label else { return }
    let text = "text/plain"
    for (key, value, type) in [
      (JACK_METADATA_PRETTY_NAME, label.prettyName, text), (JACK_METADATA_PORT_GROUP, label.group, text),
      (JACK_METADATA_ORDER, String(label.order), "http://www.w3.org/2001/XMLSchema#int"),
      (JACK_METADATA_ICON_NAME, label.iconName, text), (JACK_METADATA_SIGNAL_TYPE, "AUDIO", text),
    ] { jack_set_property(client, job.port, key, value, type) }
  }

  /// Where the server has gone there is nothing to label, and nothing may be opened: libjack then frees all other clients
  /// of the process, whoever holds them (`JackLibGlobals::Init`; a C program of 30 lines crashes in its next close).
  private func open(_ job: MetadataThread.Job) {
    var status = JackStatus(rawValue: 0)
    guard job.owner != refused, job.isWanted(), !Self.serverHasGone.load(ordering: .acquiring) else { return }
    guard let handle = pinna_jack_client_open("pinna-labels", JackNoStartServer, &status, job.server) else {
      // Most likely the server has just died, and its other clients are told in a moment.
      refused = job.owner
      return
    }
    jack_on_info_shutdown(
      handle, { _, _, _ in LabelWriter.serverHasGone.store(true, ordering: .releasing) }, nil)
    client = (job.owner, handle)
    let stale = Self.stale.withLock { stale in
      defer { stale = [] }
      return stale
    }
    for port in stale { jack_remove_properties(handle, port) }
  }

  /// jackd sends every client word of every label, in about 4 kB, and waits where one does not read; a client that is being
  /// closed no longer reads. So all that we have written must have come back before: requests are answered in turn.
  private func close(_ client: OpaquePointer) {
    if let name = jack_get_uuid_for_client_name(client, "pinna-labels") { jack_free(name) }
    jack_client_close(client)
  }
}
