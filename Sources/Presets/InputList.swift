import Acoustics

extension YAMLReader {
  /// `NAME: {title, portType, body, microphones, …}`; each is called "DEVICE.NAME".
  func furtherInputs(of device: String) throws(DescriptionError) -> [Device] {
    let entries = try entries()
    guard entries.count <= 16 else { throw failure("are \(entries.count); keep at most 16") }
    var inputs: [Device] = []
    var names: [String] = []
    for (name, value) in entries {
      try value.checkName(name, among: names)
      names.append(name)
      inputs.append(try DeviceFile.device(name: "\(device).\(name)", from: value, isFurtherInput: true))
    }
    return inputs
  }

  /// A kind of port that microphones can have.
  func inputType() throws(DescriptionError) -> PortType {
    let type = try word(PortType.self)
    guard PortType.inputs.contains(type) else {
      throw failure(
        "is \(type.rawValue), where sound goes out; use one of: "
          + PortType.inputs.map(\.rawValue).joined(separator: ", "))
    }
    return type
  }

  /// Full names of JACK ports, "client:port".
  func portNames(atMost limit: Int = 64) throws(DescriptionError) -> [String] {
    let elements = try list()
    guard elements.count <= limit else { throw failure("are \(elements.count); keep at most \(limit)") }
    var names: [String] = []
    for element in elements {
      let name = try element.string(limit: 320)
      guard name.dropFirst().dropLast().contains(":") else {
        throw element.failure("is \(quoted(name)); write a JACK port in full, client:port")
      }
      names.append(name)
    }
    return names
  }
}

extension DataSource {
  /// What an input has where there is nothing to choose: its first microphone.
  public static let only = DataSource(
    name: "Input", id: firstID, location: nil, orientation: .front, forward: .plusZ, microphones: [0],
    polarPatterns: [.omnidirectional], stereoOrientations: [])
}
