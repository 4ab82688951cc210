/// A device of the user's whose filters take a blink.
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

  /// The device, and a preset of its name.
  public func addPair() throws { try add(Self.pair, named: "pair") }

  /// The pair with its microphones' names exchanged.
  public func addSwappedPair() throws {
    let swapped = Self.pair.replacing("left-end: [-", with: "left-end: [").replacing(
      "right-end: [", with: "right-end: [-")
    try add(swapped, named: "swapped")
  }

  /// A device file, and a preset of its name.
  public func add(_ device: String, named name: String) throws {
    try folder.write(device, to: "config/pinna/devices/\(name).yaml")
    try folder.write(Self.preset(of: name), to: "config/pinna/\(name).yaml")
  }

  /// One microphone of the data source Front, upright.
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
