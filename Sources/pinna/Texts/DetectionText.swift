import Acoustics
import Detection
import Messages
import Settings
import Text

extension [DetectedCard] {
  /// What `pinna detect` prints about cards.
  var text: String {
    guard !isEmpty else { return "no sound card that captures is plugged in" }
    return flatMap(\.lines).joined(separator: "\n")
  }
}

extension DetectedCard {
  fileprivate var lines: [String] {
    let facts = [card.usb.map { "USB \($0)" }, card.serial.map { "serial number \($0)" }].compactMap(\.self)
    let heading =
      "card \(card.index), \(card.id): \(card.name)"
      + (facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))")
    let captures =
      card.formats.isEmpty
      ? "  its capture channels are not known before it is opened"
      : "  captures \(card.formats.map(\.description).joined(separator: "; "))"
    return [heading, captures] + digitalMicrophoneLines + deviceLines
  }

  private var digitalMicrophoneLines: [String] {
    guard !card.digitalMicrophones.isEmpty else { return [] }
    return ["  its firmware describes these microphones, in millimetres and degrees:"]
      + card.digitalMicrophones.map { "    \($0)" }
  }

  private var deviceLines: [String] {
    guard !matches.isEmpty else {
      let reason =
        card.lidArrayFault.map { "  no device file describes it, and \($0):" }
        ?? "  no device file describes it\(card.isLaptop ? "" : "; if it is an array"):"
      return [reason] + descriptionCommands
    }
    let question: [String] =
      if matches[0].certainty == .candidate {
        ["  unknown, but if one of these microphones is connected to its first inputs, choose it:"]
      } else if matches.count > 1 {
        ["  these devices have the same card; choose the one that you own:"]
      } else {
        []
      }
    return question + matches.flatMap { $0.lines(on: card) }
      + (matches[0].certainty == .candidate ? ["  or if it is another array:"] + descriptionCommands : [])
  }

  /// What to type to describe an array that no device file describes, and to use it.
  private var descriptionCommands: [String] {
    let device = card.digitalDevice ?? 0
    return
      ([Command("describe it:", card.descriptionCommand)]
      + card.commands(rate: card.startRate, pcm: device, device: "./NAME.yaml")).map { "    \($0.text)" }
  }
}

extension DeviceMatch {
  fileprivate func lines(on card: SoundCard) -> [String] {
    let heading = "  \(device.name): \(device.title), \(reason)"
    guard certainty != .candidate else {
      return ["\(heading); pinna run --device \(device.name) --connect"]
    }
    if let obstacle { return [heading, "    \(obstacle)"] }
    return [heading, "    delivers raw microphones at \(rates.map(String.init).joined(separator: ", ")) Hz"]
      + geometryLines + ["    capture channels: \(channelText)"]
      + card.commands(rate: rate, pcm: hardware.device, device: device.name).map { "    \($0.text)" }
  }

  private var reason: String {
    switch certainty {
    case .certain: "certain by its USB ID"
    case .likely: "likely by the name of its card"
    case .candidate: "needs \(hardware.channels) channels"
    }
  }

  private var geometryLines: [String] {
    [device.geometry?.doubt, device.geometry?.omission].compactMap { $0.map { "    " + $0 } }
  }

  /// "1 centre, 2 rim-1, 3 unused".
  private var channelText: String {
    microphonesByChannel.enumerated().map { "\($0 + 1) \($1 ?? "unused")" }.joined(separator: ", ")
  }

}

/// What to type, and what for.
private struct Command {
  let purpose: String
  let command: String

  init(_ purpose: String, _ command: String) { (self.purpose, self.command) = (purpose, command) }

  var text: String { purpose.padded(15) + command }
}

extension SoundCard {
  /// What `pinna device new laptop` lacks; nil for a card that is no laptop's, or whose firmware says enough.
  fileprivate var lidArrayFault: LidArrayFault? {
    guard isLaptop else { return nil }
    do {
      _ = try LidArray(digitalMicrophones)
      return nil
    } catch { return error }
  }

  fileprivate var descriptionCommand: String {
    guard !isLaptop else { return "pinna device new laptop NAME" + (lidArrayFault?.options ?? "") }
    let microphones = channels.map { " --microphones \($0)" } ?? ""
    return "pinna device new ring NAME\(microphones), or line, grid, box, sphere"
  }

  /// What to type to use the card as `device`, a device's name or file.
  /// - Parameter pcm: the capture device of the card.
  fileprivate func commands(rate: Int, pcm: Int, device: String) -> [Command] {
    [
      Command("JACK:", "jackd -d alsa -d hw:\(id)\(pcm == 0 ? "" : ",\(pcm)") -r \(rate)"),
      Command(
        "or PipeWire:",
        "give the card its profile Pro Audio, which has all channels, and type pw-jack before pinna"),
      Command("then:", "pinna run --device \(device) --connect"),
    ]
  }
}

extension Result<[CaptureClient], any Error> {
  /// What `pinna detect` prints about the graph.
  package var text: String {
    switch self {
    case .failure(let error): "JACK: \(Settings.Failure(error).description)"
    case .success(let clients) where clients.isEmpty: "JACK: the graph has no physical capture ports"
    case .success(let clients):
      clients.map { client in
        let first = client.ports[0].name + (client.ports[0].aliases.first.map { " (also \($0))" } ?? "")
        return "JACK: \(client.name) has \("capture port".counted(client.ports.count)): \(first)"
          + (client.ports.count > 1 ? ", …" : "")
      }.joined(separator: "\n")
    }
  }
}

extension DetectedCard {
  var json: JSONObject {
    [
      "index": card.index, "id": card.id, "driver": card.driver, "name": card.name,
      "longName": card.longName, "usb": card.usb, "serial": card.serial,
      "formats": card.formats.map(\.json), "digitalMicrophones": card.digitalMicrophones.map(\.json),
      "digitalDevice": card.digitalDevice,
      "devices": matches.map { $0.json(on: card) },
    ]
  }
}

extension CaptureFormat {
  /// With `rates`, or with `lowestRate` and `highestRate` if all rates in between are possible.
  fileprivate var json: JSONObject {
    switch rates {
    case .list(let list): ["channels": channels, "rates": list]
    case .range(let range):
      ["channels": channels, "lowestRate": range.lowerBound, "highestRate": range.upperBound]
    }
  }
}

extension DigitalMicrophone {
  fileprivate var json: JSONObject {
    [
      "channel": channel, "type": type, "location": location, "horizontalOffset": horizontalOffset,
      "verticalOffset": verticalOffset, "directionAngle": directionAngle, "elevationAngle": elevationAngle,
    ]
  }
}

extension DeviceMatch {
  fileprivate func json(on card: SoundCard) -> JSONObject {
    let commands =
      certainty == .candidate || obstacle != nil
      ? [] : card.commands(rate: rate, pcm: hardware.device, device: device.name)
    return [
      "device": device.name, "title": device.title, "certainty": certainty.rawValue, "obstacle": obstacle,
      "usable": isUsable, "rates": rates, "microphones": microphonesByChannel,
      "geometryCertainty": device.geometry?.certainty.rawValue, "leavesOut": device.geometry?.leavesOut,
      "jackCommand": commands.first?.command, "runCommand": commands.last?.command,
    ]
  }
}

extension CaptureClient {
  var json: JSONObject {
    ["client": name, "ports": ports.map { ["name": $0.name, "aliases": $0.aliases] as JSONObject }]
  }
}
