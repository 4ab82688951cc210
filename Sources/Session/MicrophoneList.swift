import Acoustics

extension YAMLReader {
  static let microphoneLimit = 64
  /// How far from the body's surface a microphone may be, in metres.
  private static let surfaceTolerance = 0.001
  /// Nearer together than this, in metres, two microphones hear the same.
  private static let smallestSpacing = 0.0005

  /// `NAME: [x, y, z]` in millimetres, in the order of the ports.
  func microphones(on body: Body) throws(DescriptionError) -> [Microphone] {
    let entries = try entries()
    guard !entries.isEmpty else {
      throw failure("are none; add at least one, for example \"top: [0, 73.5, 0]\"")
    }
    guard entries.count <= Self.microphoneLimit else {
      throw failure("are \(entries.count); keep at most \(Self.microphoneLimit)")
    }
    var microphones: [Microphone] = []
    for (name, value) in entries {
      try value.checkName(name, among: microphones.map(\.name))
      guard !DescriptionName.ownPorts.contains(name.lowercased()) else {
        throw value.failure("has the name of a port of Pinna's own; choose another")
      }
      let position = try value.vector(in: -5000...5000, unit: "mm") / 1000
      microphones.append(Microphone(name: name, position: position))
    }
    let values = entries.map(\.value)
    try checkUnit(microphones, values)
    for (microphone, value) in zip(microphones, values) {
      try value.checkOnSurface(microphone.position, of: body)
    }
    try checkSpacing(microphones, values)
    return microphones
  }

  /// Coordinates all below a millimetre were meant in metres.
  private func checkUnit(_ microphones: [Microphone], _ values: [YAMLReader]) throws(DescriptionError) {
    func largest(_ microphone: Microphone) -> Double {
      let p = microphone.position
      return max(abs(p.x), abs(p.y), abs(p.z))
    }
    guard microphones.allSatisfy({ largest($0) < 0.001 }),
      let first = microphones.firstIndex(where: { largest($0) > 0 })
    else { return }
    throw values[first].failure("looks like metres, as do all the others; write millimetres")
  }

  private func checkSpacing(_ microphones: [Microphone], _ values: [YAMLReader]) throws(DescriptionError) {
    for (index, microphone) in microphones.enumerated() {
      for other in microphones[..<index]
      where (microphone.position - other.position).length < Self.smallestSpacing {
        throw values[index].failure("is where \(other.name) is; move one of them by 0.5 mm or more")
      }
    }
  }

  private func checkOnSurface(_ position: Position, of body: Body) throws(DescriptionError) {
    let (distance, surface) = body.distance(to: position)
    guard abs(distance) > Self.surfaceTolerance else { return }
    let millimetres = (abs(distance) * 10_000).rounded() / 10
    let side = distance > 0 ? "outside" : "inside"
    throw failure("is \(millimetres) mm \(side) the body; put it on the surface, \(surface)")
  }
}

extension Body {
  /// How far `position` is outside the surface (negative: inside), in metres, and where the surface is.
  fileprivate func distance(to position: Position) -> (Double, surface: String) {
    func millimetres(_ metres: Double) -> String { String((metres * 1e6).rounded() / 1000) }
    switch self {
    case .free: return (0, "anywhere")
    case .sphere(let radius):
      return (position.length - radius, "\(millimetres(radius)) mm from the centre")
    case .box(let size):
      let beyond = SIMD3(abs(position.x), abs(position.y), abs(position.z)) - size / 2
      let outside = beyond.replacing(with: 0, where: beyond .< 0)
      let surface =
        "where x is ±\(millimetres(size.x / 2)), y ±\(millimetres(size.y / 2)) or z ±\(millimetres(size.z / 2)) mm"
      return (outside.length > 0 ? outside.length : beyond.max(), surface)
    }
  }
}
