import Acoustics
import Detection
import FoundationEssentials
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
    if arguments.isJSON {
      let object: JSONObject = [
        "cards": cards.map(\.json), "captureClients": (try? clients.get())?.map(\.json),
      ]
      print(object.text)
    } else {
      print(([cards.text] + [clients.text]).joined(separator: "\n"))
    }
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
    let folders = SystemFolders(environment: ProcessInfo.processInfo.environment)
    return DetectedCard.list(in: folders, among: devices)
  }
}
