/// Small user devices whose filters are designed at once.
extension PinnaHome {
  public static let pair = """
    title: Two microphones on a ball
    body: {sphere: 80}
    microphones:
      left-end: [-80, 0, 0]
      right-end: [80, 0, 0]
    dataSources:
      Front:
        forward: +z
        microphones: all
        polarPatterns: [omnidirectional, stereo]
        stereoOrientations: [portrait]

    """

  /// A device with two microphones, of which "front" has the name of one of phone5's.
  public static let duo = """
    title: Two microphones
    body: free
    microphones:
      spare: [-50, 0, 0]
      front: [50, 0, 0]
    dataSources:
      Front:
        forward: +z
        microphones: all
        polarPatterns: [omnidirectional]

    """

  /// Writes the pair's device file and a preset of its name.
  public func addPair() throws { try add(Self.pair, named: "pair") }

  /// Writes the pair with its microphones' names exchanged.
  public func addSwappedPair() throws {
    let swapped = Self.pair.replacing("left-end: [-", with: "left-end: [").replacing(
      "right-end: [", with: "right-end: [-")
    try add(swapped, named: "swapped")
  }

  /// Writes a device file and a preset of its name.
  public func add(_ device: String, named name: String) throws {
    try folder.write(device, to: "config/pinna/devices/\(name).yaml")
    try folder.write(Self.preset(of: name), to: "config/pinna/\(name).yaml")
  }

  /// A preset of one microphone of the data source Front, held upright.
  public static func preset(of device: String) -> String {
    """
    title: \(device.prefix(1).uppercased() + device.dropFirst())
    device: \(device)
    dataSource: Front
    polarPattern: omnidirectional
    inputOrientation: portrait

    """
  }
}
