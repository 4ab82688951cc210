import Acoustics
import Text

extension YAMLReader {
  /// Reads `NAME: {title, portType, body, microphones, …}`. Each input is named "DEVICE.NAME".
  func furtherInputs(of device: String) throws(DescriptionError) -> [Device] {
    let entries = try entries()
    guard entries.count <= 16 else { throw failure("has \(entries.count) entries; keep at most 16") }
    var inputs: [Device] = []
    var names: [String] = []
    for (name, value) in entries {
      try value.checkName(name, among: names)
      names.append(name)
      inputs.append(try DeviceFile.device(name: "\(device).\(name)", from: value, isFurtherInput: true))
    }
    return inputs
  }

  /// Reads a port type that an input can have.
  func inputType() throws(DescriptionError) -> PortType {
    let type = try word(PortType.self)
    guard PortType.inputs.contains(type) else {
      throw failure(
        "is \(type.rawValue), which is an output; use one of: "
          + PortType.inputs.map(\.rawValue).joined(separator: ", "))
    }
    return type
  }

  /// Reads a list of full JACK port names, "client:port".
  func portNames(atMost limit: Int = 64) throws(DescriptionError) -> [String] {
    let elements = try list()
    guard elements.count <= limit else {
      throw failure("has \(elements.count) entries; keep at most \(limit)")
    }
    return try elements.map { (element) throws(DescriptionError) in
      let name = try element.string(limit: 320)
      guard name.dropFirst().dropLast().contains(":") else {
        throw element.failure("is \(name.quoted); write the full name of a JACK port, client:port")
      }
      return name
    }
  }
}

extension DataSource {
  /// The data source of an input without a choice: its first microphone.
  public static let only = DataSource(
    name: "Input", id: firstID, location: nil, orientation: .front, forward: .plusZ, microphones: [0],
    polarPatterns: [.omnidirectional], stereoOrientations: [])
}
