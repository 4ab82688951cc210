// The keys are global C variables that are never written.
@preconcurrency import CJack
import Glibc
import Threads

/// The helper process that writes port labels into JACK's metadata: `pinna` with the argument `word` and the server's
/// name.
///
/// A separate process, because its client joins and leaves while Pinna's client is active. On close, libjack cancels a
/// client's thread at any instruction, perhaps inside malloc or while connecting to a new client. The process then
/// holds a lock for ever: none of its clients can be opened or closed, and the server waits 5 s for it whenever a
/// client joins. In the helper process, only the labels are lost.
package enum LabelWriter {
  /// The command-line argument that makes `pinna` a label writer.
  package static let word = "--write-labels"
  /// Replies of the helper process.
  static let done: [UInt8] = [1]
  static let refused: [UInt8] = [0]
  /// A request without effect: the helper joins the graph, replies and leaves.
  static let nothing: [UInt8] = [0]

  /// Serves requests until the parent process ends or closes the connection.
  ///
  /// Thread: main thread of the helper process.
  /// - Parameter server: nil for the default one.
  /// - Returns: the exit status of the process.
  package static func run(server: String?) -> Int32 {
    JackConnection.silenceLibrary()
    var status = JackStatus(rawValue: 0)
    let client = pinna_jack_client_open("pinna-labels", JackNoStartServer, &status, server)
    HelperProcess.serve { packet in
      guard let client else { return refused }
      if let order = LabelRequest(packet: packet) { write(order, client) }
      return done
    }
    guard let client else { return 1 }
    // A client that hangs while closing delays the server whenever a client joins; end the process after 2 s.
    alarm(2)
    close(client)
    return 0
  }

  /// Starts the helper process; nil if that fails.
  ///
  /// Thread: metadata thread, or one that may wait for the server.
  /// - Parameter server: nil for the default one.
  static func start(server: String?) -> HelperProcess? {
    HelperProcess(words: [word] + (server.map { [$0] } ?? []))
  }

  /// Whether the server accepts clients. A helper process tries it, for the reason above.
  ///
  /// Thread: any that may wait for the server.
  /// - Parameter server: nil for the default one.
  package static func acceptsClients(server: String?) -> Bool { start(server: server)?.ask(nothing) == done }

  /// Sets the properties of the label, and removes those that it does not have.
  ///
  /// One by one, because `jack_remove_properties` walks the whole database with a cursor. So does jackd whenever a client
  /// leaves, and where the two meet, both can wait for ever (`ClientHandle.isQuiet`).
  private static func write(_ order: LabelRequest, _ client: OpaquePointer) {
    let (label, text) = (order.label, "text/plain")
    for (key, value, type) in [
      (JACK_METADATA_PRETTY_NAME, label?.prettyName, text), (JACK_METADATA_PORT_GROUP, label?.group, text),
      (JACK_METADATA_ORDER, label.map { String($0.order) }, "http://www.w3.org/2001/XMLSchema#int"),
      (JACK_METADATA_ICON_NAME, label?.iconName, text),
      // The specification has no type for MIDI.
      (JACK_METADATA_SIGNAL_TYPE, label?.isAudio == true ? "AUDIO" : nil, text),
    ] {
      if let value {
        jack_set_property(client, order.port, key, value, type)
      } else if has(key, order.port) {
        jack_remove_property(client, order.port, key)
      }
    }
  }

  /// Whether the port has this property, perhaps from an earlier port with its number.
  private static func has(_ key: UnsafePointer<CChar>?, _ port: jack_uuid_t) -> Bool {
    var value: UnsafeMutablePointer<CChar>?
    var type: UnsafeMutablePointer<CChar>?
    guard jack_get_property(port, key, &value, &type) == 0 else { return false }
    jack_free(value)
    jack_free(type)
    return true
  }

  /// Closes the helper's client after it has received all notifications.
  ///
  /// jackd notifies every client of each label, with about 4 kB, and blocks if a client does not read; a closing client
  /// does not. The server answers requests in order, so a reply to one more request means that all were delivered.
  private static func close(_ client: OpaquePointer) {
    if let name = jack_get_uuid_for_client_name(client, "pinna-labels") { jack_free(name) }
    jack_client_close(client)
  }
}
