import Acoustics
import Detection
import FoundationEssentials
import Glibc
import JackClient
import JackTools
import Messages
import Presets

extension Verb {
  static let detect = Verb(
    name: "detect",
    summary: "say which microphone arrays are plugged in, which device fits each, and how to start",
    options: [Option("--server", "NAME", "the JACK server (default: the default one)"), jsonOption]
  ) { arguments in
    let cards = detectedCards(in: .standard)
    let clients = Result { try CaptureClient.list(of: JackCaptureGraph(server: arguments["--server"])) }
    arguments.print(
      json: ["cards": cards.map(\.json), "captureClients": (try? clients.get())?.map(\.json)],
      text: "\(cards.text)\n\(clients.text)")
    return .done
  }

  /// The sound cards of this computer with the devices of `library` that they may be. Malformed device files are skipped
  /// with a complaint.
  static func detectedCards(in library: PresetLibrary) -> [DetectedCard] {
    let devices = library.deviceNames().compactMap { name -> Device? in
      do { return try library.device(named: name) } catch {
        Tool.complain("ignoring the device \(name): \(error)")
        return nil
      }
    }
    return DetectedCard.list(in: systemFolders, among: devices)
  }

  static var systemFolders: SystemFolders {
    SystemFolders(environment: ProcessInfo.processInfo.environment)
  }
}

/// The graph of a running JACK server, or of PipeWire in its place. Never starts one.
private struct JackCaptureGraph: CaptureGraph {
  private static let patience = Duration.seconds(2)

  /// Nil for the default server.
  let server: String?

  /// - Throws: status `noServer` if no server answers within 2 s.
  func capturePorts() throws -> [CapturePort] {
    try ServerRequests(stops: StopCount()).ask(within: Self.patience) { [server] in
      let connection = try JackConnection(name: "pinna-detect-\(getpid())", server: server)
      defer { connection.close() }
      return connection.physicalCapturePorts.map {
        CapturePort(
          name: $0, client: connection.clientName(ofPort: $0), aliases: connection.aliases(of: $0))
      }
    }
  }
}
