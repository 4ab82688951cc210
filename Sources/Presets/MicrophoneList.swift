import Acoustics

extension YAMLReader {
  static let microphoneLimit = 64
  /// Maximum distance of a microphone from the body's surface, in metres.
  private static let surfaceTolerance = 0.001
  /// Minimum distance between two microphones, in metres. Closer microphones pick up practically the same signal.
  private static let minimumSpacing = 0.0005

  /// Reads `NAME: [x, y, z]`, in millimetres, or `NAME: {position: [x, y, z], channel: 2, …}`. The order of the file is the
  /// order of the ports.
  /// - Parameter body: in the device frame.
  func microphones(on body: Body, _ placement: Placement) throws(DescriptionError) -> [Microphone] {
    let entries = try entries()
    guard !entries.isEmpty else {
      throw failure("is empty; add at least one microphone, for example \"top: [0, 73.5, 0]\"")
    }
    guard entries.count <= Self.microphoneLimit else {
      throw failure("has \(entries.count) entries; keep at most \(Self.microphoneLimit)")
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
    for (microphone, value) in zip(microphones, values) {
      try value.checkOnSurface(microphone.position, of: body, placement)
    }
    try checkSpacing(microphones, values)
    try checkChannels(microphones, values)
    return microphones
  }

  private func microphone(
    name: String, on body: Body, _ placement: Placement
  ) throws(DescriptionError) -> Microphone {
    func position(_ value: YAMLReader) throws(DescriptionError) -> Position {
      placement.turned(try value.vector(in: -5000...5000, unit: "mm") / 1000)
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
    guard body == .free else {
      throw value.failure(
        "is directional, which is modelled only with \"body: free\"; leave the body away, or give measured responses"
      )
    }
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

  /// Refuses two microphones on one capture channel.
  private func checkChannels(_ microphones: [Microphone], _ values: [YAMLReader]) throws(DescriptionError) {
    var names: [Int: String] = [:]
    for (index, microphone) in microphones.enumerated() {
      let channel = microphone.channel ?? index + 1
      if let other = names.updateValue(microphone.name, forKey: channel) {
        throw values[index].failure(
          "is on capture channel \(channel), like \(other); give one of them another")
      }
    }
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

  private func checkSpacing(_ microphones: [Microphone], _ values: [YAMLReader]) throws(DescriptionError) {
    for (index, microphone) in microphones.enumerated() {
      for other in microphones[..<index]
      where (microphone.position - other.position).length < Self.minimumSpacing {
        throw values[index].failure(
          "is at the position of \(other.name); move one of them by at least 0.5 mm")
      }
    }
  }

  private func checkOnSurface(
    _ position: Position, of body: Body, _ placement: Placement
  ) throws(DescriptionError) {
    guard let nearest = body.shape.nearestSurfacePoint(to: position) else { return }
    let distance = (position - nearest).length
    guard distance > Self.surfaceTolerance else { return }
    func millimetres(_ metres: Double) -> Double { (metres * 10_000).rounded() / 10 + 0 }
    let side = body.shape.contains(position) ? "inside" : "outside"
    let inFile = placement.turned(nearest)
    let point = [inFile.x, inFile.y, inFile.z].map { "\(millimetres($0))" }.joined(separator: ", ")
    throw failure(
      "is \(millimetres(distance)) mm \(side) the body; move it to the surface, whose nearest point is [\(point)] mm"
    )
  }
}

/// Whether a microphone's signal has the sign of the sound pressure.
public enum Polarity: String, NamedWord {
  case normal, inverted
  public static let kind = "polarity"
}

extension YAMLFields {
  /// Reads `gain`, `delay` and `polarity`, of which any may be missing.
  func deviation() throws(DescriptionError) -> Deviation {
    let microseconds = Deviation.delayRange.lowerBound * 1e6...Deviation.delayRange.upperBound * 1e6
    return Deviation(
      gain: Decibels(try optional("gain")?.number(in: Deviation.gainRange, unit: "dB") ?? 0),
      delay: try (optional("delay")?.number(in: microseconds, unit: "µs") ?? 0) * 1e-6,
      isInverted: try optional("polarity")?.word(Polarity.self) == .inverted)
  }
}
