import Acoustics
import Detection
import Glibc
import JackClient
import JackTools
import Messages

/// The graph of a running JACK server, or of PipeWire in its place. Never starts one.
struct JackCaptureGraph: CaptureGraph {
  private static let patience = Duration.seconds(2)

  /// Nil for the default server.
  let server: String?

  /// - Throws: status `noServer` if no server answers within 2 s.
  func capturePorts() throws -> [CapturePort] {
    try ServerRequests(stops: StopCount()).ask(within: Self.patience) { [server] in
      let connection = try JackConnection(name: "pinna-detect-\(getpid())", server: server)
      defer { connection.close() }
      return connection.physicalCapturePorts.map {
        CapturePort(name: $0, aliases: connection.aliases(of: $0))
      }
    }
  }
}
