import Acoustics
import Settings
import Text

/// Reads and writes a preset file.
///
/// ```yaml
/// title: Stereo in the direction of the camera
/// device: phone5
/// dataSource: Back
/// polarPattern: stereo
/// inputOrientation: portrait
/// gain: 0       # dB, -60 to 24; optional
/// highPass: 80  # Hz, 20 to 400, or off; optional
/// adapt: 1      # how far stereo follows the sound, 0 to 1; optional
/// feeds:        # optional
///   anna: {dataSource: Left, polarPattern: cardioid, gain: -3}
/// connections:  # optional
///   bottom-left: system:capture_1
///   out_left: [system:playback_1, recorder:in_1]
/// seats: {anna: 40, ben: [-35, 10]}  # azimuth, or azimuth and elevation in degrees; optional
/// ```
public enum PresetFile {
  /// The text of a preset file for `preset`.
  public static func text(of preset: Preset) -> String {
    let entries =
      ["title: \(yamlString(preset.title))", "device: \(yamlString(preset.device))"] + preset.main.entries
    let seats = preset.seats.map {
      "\(yamlString($0.name)): [\($0.look.azimuth.plain), \($0.look.elevation.plain)]"
    }.joined(separator: ", ")
    let text =
      entries.map { $0 + "\n" }.joined() + FeedList.text(of: preset.others)
      + (seats.isEmpty ? "" : "seats: {\(seats)}\n")
    guard !preset.connections.isEmpty else { return text }
    let peers = Dictionary(grouping: preset.connections, by: \.port).mapValues { $0.map(\.peer) }
    let lines = peers.keys.sorted().map { port in
      "  \(yamlString(port)): [\(peers[port]!.map(yamlString).joined(separator: ", "))]\n"
    }
    return text + "connections:\n" + lines.joined()
  }

  /// Reads a preset, which is named after the file.
  /// - Parameter device: returns the device with a given name.
  /// - Throws: `DescriptionError` for an error in the preset file or in the device file that it names.
  public static func read(_ reader: YAMLReader, device: (String) throws -> Device) throws(DescriptionError)
    -> Preset
  {
    let fields = try reader.fields(
      ["title", "device"] + SettingKey.ofFeeds.compactMap(\.row.feed?.yaml) + [
        "feeds", "connections", "seats",
      ])
    let title = try fields.required("title", example: "My preset").string()
    let device = try fields.required("device", example: "phone5").device(device)
    let source = try fields.required("dataSource", example: "Front").dataSource(of: device)
    let pattern = try fields.required("polarPattern", example: "stereo")
    let orientation = try fields.required("inputOrientation", example: "portrait")
    var main = FeedSetting(
      Selection(dataSource: source.name, polarPattern: .omnidirectional, inputOrientation: .portrait))
    for (key, value) in try fields.values(of: device) { main.set(key, value) }
    if main.selection.look != nil, main.selection.effectiveLook == nil {
      throw pattern.failure(
        "does not go with a look; use a mono pattern such as cardioid, or remove the look")
    }
    do {
      try device.check(main.selection)
    } catch {
      let offered = source.polarPatterns.contains(main.selection.polarPattern)
      throw (offered ? orientation : pattern).failure("is not possible: \(error)")
    }
    let others = try fields.optional("feeds")?.feeds(of: device, main: main) ?? []
    return Preset(
      name: reader.fileName, title: title, device: device.name, main: main, others: others,
      connections: try fields.optional("connections")?.connections(of: device, others) ?? [],
      seats: try fields.optional("seats")?.seats() ?? [])
  }
}

extension PresetFile {
  /// Says which part a preset asks for in vain: of somebody without a seat.
  /// - Parameter reader: of the file that `preset` was read from.
  public static func checkParts(_ reader: YAMLReader, of preset: Preset) throws(DescriptionError) {
    var groups = [try reader.entries()]
    for feed in try reader.value(of: "feeds")?.entries() ?? [] { groups.append(try feed.value.entries()) }
    for (key, value) in groups.joined() where key.lowercased() == "part" {
      guard case .one(let name)? = try? FeedPart(word: try value.string()), Int(name) == nil,
        !preset.seats.contains(where: { $0.name == name })
      else { continue }
      throw value.failure(
        "is \(name.quoted), who has no seat\(didYouMean(name, among: preset.seats.map(\.name))); add one to seats, "
          + "such as seats: {\(name): 40}")
    }
  }
}

extension YAMLReader {
  /// Reads the name of a device and returns the device.
  public func device(_ find: (String) throws -> Device) throws(DescriptionError) -> Device {
    let name = try string()
    do {
      return try find(name)
    } catch let error as DescriptionError {
      throw error
    } catch {
      throw failure("cannot be used: \(error)")
    }
  }

  /// Reads a group of ports of Pinna, each with one or more ports of other clients.
  func connections(of device: Device, _ feeds: [FeedSetting]) throws(DescriptionError)
    -> [Setting.Connection]
  {
    let ports = device.microphones.map(\.name) + DescriptionName.ownPorts + feeds.flatMap(\.portNames)
    var connections: [Setting.Connection] = []
    for (port, value) in try entries() {
      guard ports.contains(port) else {
        throw value.failure(
          "is no port of \(device.name)\(didYouMean(port, among: ports)); use one of: \(ports.joined(separator: ", "))"
        )
      }
      let peers: [YAMLReader]
      if case .sequence = value.node.content { peers = try value.list() } else { peers = [value] }
      for peer in peers {
        let name = try peer.string(limit: 320)
        guard name.dropFirst().dropLast().contains(":") else {
          throw peer.failure("is \(name.quoted); write a full JACK port name, such as system:capture_1")
        }
        connections.append(Setting.Connection(port: port, peer: name))
      }
    }
    return connections
  }

  /// Reads a group of names with looks.
  func seats() throws(DescriptionError) -> [Seat] {
    var seats: [Seat] = []
    for (name, value) in try entries() {
      let look = try value.look()
      do { seats = try Seat.list(seats.map(\.word) + ["\(name)=\(look.word)"]) } catch {
        throw value.failure("cannot be used: \(error)")
      }
    }
    return seats
  }

  /// Reads the name of a data source of `device`, ignoring case.
  public func dataSource(of device: Device) throws(DescriptionError) -> DataSource {
    let name = try string()
    do { return try device.dataSource(named: name) } catch { throw failure("is an \(error)") }
  }
}
