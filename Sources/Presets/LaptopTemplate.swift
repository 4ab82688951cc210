import Acoustics

/// The device file of a laptop's own microphones: what `pinna device new laptop` writes.
public struct LaptopTemplate: Sendable {
  /// In metres: x to the right and y up as seen by a user who faces the lid, z towards the user; with a lid, from its
  /// middle.
  public let microphones: [Microphone]
  /// Width, height and depth of the lid in millimetres; nil for microphones in free space.
  public let lid: SIMD3<Double>?
  /// The card's ID and name.
  public let cards: [String]
  /// The capture device of the card.
  public let device: Int
  /// Whether the user measured the positions; otherwise they are the firmware's.
  public let isMeasured: Bool
  /// What the firmware does not say, a sentence each.
  public let remarks: [String]

  public init(
    _ microphones: [Microphone], lid: SIMD3<Double>?, cards: [String], device: Int, isMeasured: Bool,
    remarks: [String]
  ) {
    self.microphones = microphones
    self.lid = lid
    self.cards = cards
    self.device = device
    self.isMeasured = isMeasured
    self.remarks = remarks
  }

  /// The text of the file.
  /// - Parameter name: of the device, without the extension.
  public func text(name: String) -> String {
    let source =
      isMeasured
      ? "distance of neighbours given to pinna device new"
      : "from firmware (ACPI NHLT), certain in differences only"
    let body = lid.map { "{box: \(ArrayTemplate.text($0))}" } ?? "free"
    let channels = microphones.enumerated().map { $1.channel ?? $0 + 1 }
    let sources = [("Front", "+z"), ("Back", "-z")].map { name, forward in
      """
        \(name):
          forward: \(forward)
          microphones: all
          polarPatterns: [omnidirectional, stereo]
          stereoOrientations: [portrait]
      """
    }
    return """
      # The microphones of a laptop. Written by `pinna device new`.
      \(remarks.map { "# \($0)\n" }.joined())\
      # Confirm their order by tapping them: pinna array check --device ./\(name).yaml --live --guided

      format: 2
      title: \(name)
      placement: camera
      body: \(body)    # free, or {box: [WIDTH, HEIGHT, DEPTH]} of the lid in millimetres
      geometry:
        source: \(source)
        certainty: \(isMeasured ? "measured" : "inferred")
        leavesOut: \(lid == nil ? "the lid and the base" : "the base")
      hardware:
        card: [\(cards.map(yamlString).joined(separator: ", "))]
        device: \(device)
        channels: \(channels.max() ?? 1)
        rates: [48000]

      # Millimetres: x to the right and y up as seen by a user who faces the lid, z towards the user.
      microphones:
      \(zip(microphones, channels).enumerated().map { Self.line($1.0, channel: $1.1, place: $0 + 1) }.joined(separator: "\n"))

      # Front faces the user.
      dataSources:
      \(sources.joined(separator: "\n"))

      """
  }

  private static func line(_ microphone: Microphone, channel: Int, place: Int) -> String {
    let position = ArrayTemplate.text(1000 * microphone.position)
    var fields = channel == place ? [] : ["channel: \(channel)"]
    if let capsule = microphone.capsule {
      let word = PolarPattern.allCases.first { $0.omnidirectionalPart == capsule.omnidirectionalPart }
      fields.append("capsule: \(word?.rawValue ?? String(capsule.omnidirectionalPart))")
      fields.append("faces: \(ArrayTemplate.text(capsule.facing.vector))")
    }
    let value =
      fields.isEmpty ? position : "{\((["position: \(position)"] + fields).joined(separator: ", "))}"
    return "  \(microphone.name): \(value)"
  }
}
