import CJack
import Glibc
import Synchronization
import Threads

/// Asks a server whether it accepts a new client, whether it runs periods for it, and whether a client has some name.
///
/// The client lives in a helper process: `pinna` with the argument `word` and the server's name. A server that does not
/// answer then holds up only that process, which ends by itself.
package enum ServerProbe {
  /// The command-line argument that makes `pinna` the helper process.
  package static let word = "--probe-server"
  /// The helper process ends after this time, whatever the server does.
  private static let limit: UInt32 = 5
  /// How long the client stays in the graph at least. Joining may itself wake clients that PipeWire has suspended; this
  /// is long enough for their watchdogs to notice.
  private static let stay = Duration.milliseconds(500)
  /// How long the client waits for periods. The longest is 8192 frames.
  private static let patience = Duration.seconds(2)
  /// One period may be a remainder of the activation.
  private static let required = 2
  private static let periods = Atomic<Int>(0)

  /// Questions. A name follows `hasClient`.
  private static let (acceptsClients, runsPeriods, hasClient): ([UInt8], [UInt8], [UInt8]) = ([0], [1], [2])
  private static let (yes, no): ([UInt8], [UInt8]) = ([1], [0])

  /// Whether the server accepts a new client; false if it does not answer within 5 s. The client has left again when
  /// this returns.
  ///
  /// Thread: any that may wait for so long.
  /// - Parameter server: nil for the default one.
  package static func acceptsClients(server: String?) -> Bool { ask(acceptsClients, server) }

  /// Whether the server has a client called `name`; false if it does not answer within 5 s. The client that asks has
  /// left again when this returns.
  ///
  /// Thread: any that may wait for so long.
  /// - Parameter server: nil for the default one.
  package static func hasClient(_ name: String, server: String?) -> Bool {
    ask(hasClient + name.utf8, server)
  }

  /// Whether the server runs periods for a new client; false if it does not answer within 5 s.
  ///
  /// Thread: any that may wait for so long.
  /// - Parameter server: nil for the default one.
  package static func runsPeriods(server: String?) -> Bool { ask(runsPeriods, server) }

  private static func ask(_ question: [UInt8], _ server: String?) -> Bool {
    HelperProcess(words: [word] + (server.map { [$0] } ?? []))?.ask(question) == yes
  }

  /// Opens a client, answers requests, and leaves.
  ///
  /// Thread: main thread of the helper process.
  /// - Parameter server: nil for the default one.
  /// - Returns: the exit status of the process.
  package static func run(server: String?) -> Int32 {
    alarm(limit)
    JackConnection.silenceLibrary()
    var status = JackStatus(rawValue: 0)
    let client = pinna_jack_client_open("pinna-probe", JackNoStartServer, &status, server)
    HelperProcess.serve { question in
      guard let client else { return no }
      switch question.prefix(1) {
      case runsPeriods[...]: return runsPeriods(client) ? yes : no
      case hasClient[...]:
        let name = String(decoding: question.dropFirst(), as: UTF8.self)
        return JackConnection.hasClient(name, client) ? yes : no
      default: return yes
      }
    }
    guard let client else { return 1 }
    jack_client_close(client)
    return 0
  }

  private static func runsPeriods(_ client: OpaquePointer) -> Bool {
    jack_set_process_callback(
      client,
      { _, _ in
        ServerProbe.periods.wrappingAdd(1, ordering: .relaxed)
        return 0
      }, nil)
    guard jack_activate(client) == 0 else { return false }
    let start = ContinuousClock.now
    var isRunning: Bool { periods.load(ordering: .relaxed) >= required }
    while .now - start < (isRunning ? stay : patience) { usleep(10_000) }
    return isRunning
  }
}
