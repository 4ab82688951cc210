// The keys are C's global variables, which nobody ever writes.
@preconcurrency import CJack
import Glibc
import Threads

/// The process that writes labels of ports into JACK's metadata: `pinna`, with the word below and the server's name.
///
/// It is a process of its own because its client comes and goes while ours plays. libjack ends a client's thread wherever
/// it stands: in the middle of a call for memory, or of connecting to a client that has just come. The process then keeps a
/// lock for good, no client of it can be opened or closed any more, and the server waits five seconds for it whenever
/// somebody joins. Here nothing but the labels is lost.
package enum LabelWriter {
  /// The word that makes `pinna` a writer of labels.
  package static let word = "--write-labels"
  static let done: [UInt8] = [1]
  static let refused: [UInt8] = [0]
  /// An order to do nothing: the writer joins the graph, answers and leaves.
  static let nothing: [UInt8] = [0]

  /// - Parameter server: nil for the default one.
  package static func run(server: String?) -> Int32 {
    JackConnection.silenceLibrary()
    var status = JackStatus(rawValue: 0)
    let client = pinna_jack_client_open("pinna-labels", JackNoStartServer, &status, server)
    HelperProcess.serve { packet in
      guard let client else { return refused }
      if let order = LabelOrder(packet: packet) { write(order, client) }
      return done
    }
    guard let client else { return 1 }
    // A client whose closing hangs holds the server up whenever somebody joins; its process may end.
    alarm(2)
    close(client)
    return 0
  }

  /// The process that writes labels; nil where it cannot be had.
  /// - Parameter server: nil for the default one.
  static func start(server: String?) -> HelperProcess? {
    HelperProcess(words: [word] + (server.map { [$0] } ?? []))
  }

  /// Whether the server takes clients: a process joins it and leaves. Not this one, for the reason above.
  ///
  /// Thread: one that may wait for the server.
  /// - Parameter server: nil for the default one.
  package static func isLetIn(server: String?) -> Bool { start(server: server)?.ask(nothing) == done }

  private static func write(_ order: LabelOrder, _ client: OpaquePointer) {
    // The port's number is used again: what an earlier port left is removed before.
    jack_remove_properties(client, order.port)
    guard let label = order.label else { return }
    let text = "text/plain"
    for (key, value, type) in [
      (JACK_METADATA_PRETTY_NAME, label.prettyName, text), (JACK_METADATA_PORT_GROUP, label.group, text),
      (JACK_METADATA_ORDER, String(label.order), "http://www.w3.org/2001/XMLSchema#int"),
      (JACK_METADATA_ICON_NAME, label.iconName, text), (JACK_METADATA_SIGNAL_TYPE, "AUDIO", text),
    ] { jack_set_property(client, order.port, key, value, type) }
  }

  /// jackd sends every client word of every label, in about 4 kB, and waits where one does not read; a client that is being
  /// closed no longer reads. So all that we have written must have come back before: requests are answered in turn.
  private static func close(_ client: OpaquePointer) {
    if let name = jack_get_uuid_for_client_name(client, "pinna-labels") { jack_free(name) }
    jack_client_close(client)
  }
}
