import Acoustics

extension YAMLReader {
  static let microphoneLimit = 64
  /// Maximum distance of a microphone from the body's surface, in metres.
  private static let surfaceTolerance = 0.001
  /// Minimum distance between two microphones, in metres. Closer microphones pick up practically the same signal.
  private static let minimumSpacing = 0.0005

  /// Reads `NAME: [x, y, z]`, in millimetres. The order of the file is the order of the ports.
  func microphones(on body: Body) throws(DescriptionError) -> [Microphone] {
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

  private func checkOnSurface(_ position: Position, of body: Body) throws(DescriptionError) {
    guard let nearest = body.nearestSurfacePoint(to: position) else { return }
    let distance = (position - nearest).length
    guard distance > Self.surfaceTolerance else { return }
    func millimetres(_ metres: Double) -> Double { (metres * 10_000).rounded() / 10 + 0 }
    let side = body.contains(position) ? "inside" : "outside"
    let point = [nearest.x, nearest.y, nearest.z].map { "\(millimetres($0))" }.joined(separator: ", ")
    throw failure(
      "is \(millimetres(distance)) mm \(side) the body; move it to the surface, whose nearest point is [\(point)] mm"
    )
  }
}

extension Body {
  /// Nil for a body without a known surface.
  fileprivate func nearestSurfacePoint(to position: Position) -> Position? {
    switch self {
    case .free, .measured: return nil
    case .sphere(let radius):
      return radius * (Direction(position) ?? .plusZ).vector
    case .box(let size):
      var point = position.clamped(lowerBound: -size / 2, upperBound: size / 2)
      guard contains(position) else { return point }
      let gaps = size / 2 - SIMD3(abs(point.x), abs(point.y), abs(point.z))
      let axis = (0..<3).first { gaps[$0] == gaps.min() } ?? 0
      point[axis] = (point[axis] < 0 ? -size : size)[axis] / 2
      return point
    }
  }

  fileprivate func contains(_ position: Position) -> Bool {
    switch self {
    case .free, .measured: return false
    case .sphere(let radius): return position.length < radius
    case .box(let size):
      return (0..<3).allSatisfy { abs(position[$0]) < size[$0] / 2 }
    }
  }
}
