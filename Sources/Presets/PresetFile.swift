import Acoustics
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
/// ```
public enum PresetFile {
  /// The text of a preset file for `preset`.
  public static func text(of preset: Preset) -> String {
    let text = """
      title: \(yamlString(preset.title))
      device: \(yamlString(preset.device))
      dataSource: \(yamlString(preset.selection.dataSource))
      polarPattern: \(preset.selection.polarPattern.rawValue)
      inputOrientation: \(preset.selection.inputOrientation.rawValue)
      \(preset.selection.directionText.map { $0 + "\n" }.joined())gain: \(preset.gain.value)
      highPass: \(preset.highPass.word)

      """
      + (preset.adaptation > 0 ? "adapt: \(preset.adaptation)\n" : "")
      + FeedList.text(of: preset.feeds)
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
    let fields = try reader.fields([
      "title", "device", "dataSource", "polarPattern", "inputOrientation", "look", "roll", "yaw", "follow",
      "gain", "highPass", "adapt",
      "feeds",
      "connections",
    ])
    let title = try fields.required("title", example: "My preset").string()
    let device = try fields.required("device", example: "phone5").device(device)
    let source = try fields.required("dataSource", example: "Front").dataSource(of: device)
    let pattern = try fields.required("polarPattern", example: "stereo")
    let orientation = try fields.required("inputOrientation", example: "portrait")
    let selection = Selection(
      dataSource: source.name, polarPattern: try pattern.word(PolarPattern.self),
      inputOrientation: try orientation.word(InputOrientation.self),
      look: try fields.optional("look")?.look(), pose: try fields.pose(otherwise: .none),
      follows: try fields.optional("follow")?.followed() ?? [])
    if selection.look != nil, selection.effectiveLook == nil {
      throw pattern.failure(
        "does not go with a look; use a mono pattern such as cardioid, or remove the look")
    }
    do {
      try device.check(selection)
    } catch {
      let offered = source.polarPatterns.contains(selection.polarPattern)
      throw (offered ? orientation : pattern).failure("is not possible: \(error)")
    }
    let gain = try fields.optional("gain")?.number(in: Decibels.outputGains, unit: "dB") ?? 0
    let feeds = try fields.optional("feeds")?.feeds(of: device, main: selection) ?? []
    return Preset(
      name: reader.fileName, title: title, device: device.name, selection: selection, gain: Decibels(gain),
      highPass: try fields.optional("highPass")?.highPass() ?? .off,
      adaptation: try fields.optional("adapt")?.number(in: 0...1, unit: "0 to 1") ?? 0,
      feeds: feeds, connections: try fields.optional("connections")?.connections(of: device, feeds) ?? [])
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
  func connections(of device: Device, _ feeds: [Feed]) throws(DescriptionError) -> [Preset.Connection] {
    let ports = device.microphones.map(\.name) + DescriptionName.ownPorts + feeds.flatMap(\.portNames)
    var connections: [Preset.Connection] = []
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
        connections.append(Preset.Connection(port: port, peer: name))
      }
    }
    return connections
  }

  /// Reads a corner frequency in hertz, or "off".
  func highPass() throws(DescriptionError) -> HighPass {
    if let text = try? string(), text.lowercased() == "off" { return .off }
    return .on(Hertz(try number(in: HighPass.range, unit: "Hz, or off")))
  }

  /// Reads the name of a data source of `device`, ignoring case.
  public func dataSource(of device: Device) throws(DescriptionError) -> DataSource {
    let name = try string()
    do { return try device.dataSource(named: name) } catch { throw failure("is an \(error)") }
  }
}
