import Acoustics

extension YAMLReader {
  /// Reads `NAME: [x, y, z]`, in millimetres, or `NAME: {position: [x, y, z], channel: 2, …}`. The order of the file is the
  /// order of the ports.
  /// - Parameter body: in the device frame.
  func microphones(on body: Body, _ placement: Placement) throws(DescriptionError) -> [Microphone] {
    let entries = try entries()
    guard !entries.isEmpty else {
      throw failure("is empty; add at least one microphone, for example \"top: [0, 73.5, 0]\"")
    }
    guard entries.count <= Device.microphoneLimit else {
      throw failure("has \(entries.count) entries; keep at most \(Device.microphoneLimit)")
    }
    var microphones: [Microphone] = []
    for (name, value) in entries {
      try value.checkName(name, among: microphones.map(\.name))
      guard !DescriptionName.ownPorts.contains(name.lowercased()) else {
        throw value.failure("is the name of a port of Pinna itself; choose another name")
      }
      microphones.append(try value.microphone(name: name, on: body, placement))
    }
    let values = entries.map(\.value)
    try checkUnit(microphones, values)
    if let (index, text) = Device.fault(of: microphones, on: body, placement) {
      throw values[index].failure(text)
    }
    return microphones
  }

  private func microphone(
    name: String, on body: Body, _ placement: Placement
  ) throws(DescriptionError) -> Microphone {
    func position(_ value: YAMLReader) throws(DescriptionError) -> Position {
      let (least, most) = (Device.coordinates.lowerBound, Device.coordinates.upperBound)
      return placement.turned(try value.vector(in: 1000 * least...1000 * most, unit: "mm") / 1000)
    }
    guard case .mapping = node.content else { return Microphone(name: name, position: try position(self)) }
    let fields = try fields(["position", "channel", "capsule", "faces", "gain", "delay", "polarity"])
    return Microphone(
      name: name,
      position: try position(fields.required("position", example: "[0, 43, 0]")),
      capsule: try capsule(fields, on: body, placement),
      deviation: try fields.deviation(),
      channel: try fields.optional("channel").map { (value) throws(DescriptionError) in
        try value.wholeNumber(in: 1...256)
      })
  }

  /// Reads `capsule: cardioid` and `faces: [x, y, z]`.
  private func capsule(
    _ fields: YAMLFields, on body: Body, _ placement: Placement
  ) throws(DescriptionError) -> Capsule? {
    guard let value = fields.optional("capsule") else {
      if let faces = fields.optional("faces") {
        throw faces.failure("is given without capsule; add capsule, for example \"capsule: cardioid\"")
      }
      return nil
    }
    let part = try value.omnidirectionalPart()
    guard part < 1 else { return nil }
    if let text = body.shape.capsuleFault { throw value.failure(text) }
    let faces = try fields.required("faces", example: "[1, 0, 0]").direction()
    return Capsule(omnidirectionalPart: part, facing: placement.turned(faces))
  }

  /// Reads the name of a first-order pattern, or its α.
  private func omnidirectionalPart() throws(DescriptionError) -> Double {
    if case .scalar(let text, quoted: false) = node.content, Double(text) != nil {
      return try number(in: 0...1, unit: "")
    }
    let pattern = try word(PolarPattern.self)
    guard let part = pattern.omnidirectionalPart else {
      throw failure(
        "is \(pattern.rawValue), which no capsule is; write cardioid or the like, or a number from 0 to 1")
    }
    return part
  }

  /// Refuses a list in which all coordinates are below 1 mm: it was most likely written in metres.
  private func checkUnit(_ microphones: [Microphone], _ values: [YAMLReader]) throws(DescriptionError) {
    func largest(_ microphone: Microphone) -> Double {
      let p = microphone.position
      return max(abs(p.x), abs(p.y), abs(p.z))
    }
    guard microphones.allSatisfy({ largest($0) < 0.001 }),
      let first = microphones.firstIndex(where: { largest($0) > 0 })
    else { return }
    throw values[first].failure(
      "is within 1 mm of the origin, like all others; write millimetres, not metres")
  }
}

/// Whether a microphone's signal has the sign of the sound pressure.
public enum Polarity: String, NamedWord {
  case normal, inverted
  public static let kind = "polarity"
}

extension YAMLFields {
  /// Reads `gain`, `delay` and `polarity`, of which any may be missing.
  /// - Parameters:
  ///   - gains: those allowed, in dB.
  ///   - delays: those allowed, in seconds.
  public func deviation(
    gains: ClosedRange<Double> = Deviation.gainRange, delays: ClosedRange<Double> = Deviation.delayRange
  ) throws(DescriptionError) -> Deviation {
    let microseconds = delays.lowerBound * 1e6...delays.upperBound * 1e6
    return Deviation(
      gain: Decibels(try optional("gain")?.number(in: gains, unit: "dB") ?? 0),
      delay: try (optional("delay")?.number(in: microseconds, unit: "µs") ?? 0) * 1e-6,
      isInverted: try optional("polarity")?.word(Polarity.self) == .inverted)
  }
}
