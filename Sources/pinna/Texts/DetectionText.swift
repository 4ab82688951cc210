import Acoustics
import Detection
import Messages

extension [DetectedCard] {
  /// What `pinna detect` prints about cards.
  var text: String {
    guard !isEmpty else { return "no sound card that captures is plugged in" }
    let remedy =
      contains { $0.matches.isEmpty }
      ? ["describe an array that no device file describes with: pinna device new"] : []
    return (flatMap(\.lines) + remedy).joined(separator: "\n")
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
    return [
      "  its firmware describes these microphones, in offsets without a unit, so check them with a ruler:"
    ]
      + card.digitalMicrophones.map { "    \($0)" }
  }

  private var deviceLines: [String] {
    guard !matches.isEmpty else {
      return ["  no device file describes it"]
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
      + commands(on: card).map { "    \($0.purpose.padded(15))\($0.command)" }
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

  /// What to type to use the device, with the purpose of each command.
  fileprivate func commands(on card: SoundCard) -> [(purpose: String, command: String)] {
    [
      ("JACK:", "jackd -d alsa -d hw:\(card.id) -r \(rate)"),
      (
        "or PipeWire:",
        "give the card its profile Pro Audio, which has all channels, and type pw-jack before pinna"
      ),
      ("then:", "pinna run --device \(device.name) --connect"),
    ]
  }
}

extension Result<[CaptureClient], any Error> {
  /// What `pinna detect` prints about the graph.
  var text: String {
    switch self {
    case .failure(let error): "JACK: \(Messages.Failure(error).description)"
    case .success(let clients) where clients.isEmpty: "JACK: the graph has no physical capture ports"
    case .success(let clients):
      clients.map { client in
        let first = client.ports[0].aliases.first.map { ", \($0)" } ?? ""
        return
          "JACK: \(client.name) has \("capture port".counted(client.ports.count)): \(client.ports[0].name)\(first)\(client.ports.count > 1 ? ", …" : "")"
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
    let commands = certainty == .candidate || obstacle != nil ? [] : commands(on: card)
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
