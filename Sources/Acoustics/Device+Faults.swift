/// Why a description is no device: a part of it, what is wrong, and what to do.
public struct DeviceFault: Error, Hashable, CustomStringConvertible {
  public let description: String

  /// - Parameters:
  ///   - part: "microphone top of phone5".
  ///   - text: continues it: "is at the position of front; move one of them by at least 0.5 mm".
  init(_ part: String, _ text: String) { description = "\(part) \(text)" }
}

/// The limits of devices and the rules that every device keeps. Each rule is a text that continues the name of the part
/// that breaks it. `Device.init` asks all of them; device files ask them early, so that messages point at a line.
extension Device {
  public static let microphoneLimit = 64
  /// Of the microphones, along each axis, in metres.
  public static let coordinates = -5.0...5.0
  /// Maximum distance of a microphone from the body's surface, in metres.
  public static let surfaceTolerance = 0.001
  /// Minimum distance between two microphones, in metres. Closer microphones pick up practically the same signal.
  public static let minimumSpacing = 0.0005

  /// What is wrong with the first microphone that breaks a rule; nil if none does.
  public static func fault(
    of microphones: [Microphone], on body: Body, _ placement: Placement
  ) -> (index: Int, text: String)? {
    for (index, microphone) in microphones.enumerated() {
      if let text = microphone.fault(on: body.shape, placement) { return (index, text) }
    }
    for (index, microphone) in microphones.enumerated() {
      for other in microphones[..<index]
      where (microphone.position - other.position).length < minimumSpacing {
        return (index, "is at the position of \(other.name); move one of them by at least 0.5 mm")
      }
    }
    var names: [Int: String] = [:]
    for (index, microphone) in microphones.enumerated() {
      let channel = microphone.channel ?? index + 1
      if let other = names.updateValue(microphone.name, forKey: channel) {
        return (index, "is on capture channel \(channel), like \(other); give one of them another")
      }
    }
    return nil
  }

  /// - Throws: the first rule that the device breaks. It may have no data sources: then it cannot be played, but
  ///   simulated.
  func check() throws(DeviceFault) {
    if let text = body.shape.fault { throw DeviceFault("the body of \(name)", text) }
    guard (1...Self.microphoneLimit).contains(microphones.count) else {
      throw DeviceFault(name, "has \(microphones.count) microphones; use 1 to \(Self.microphoneLimit)")
    }
    if let (index, text) = Self.fault(of: microphones, on: body, placement) {
      throw DeviceFault("microphone \(microphones[index].name) of \(name)", text)
    }
    try checkDataSources()
  }

  func checkDataSources() throws(DeviceFault) {
    for source in dataSources {
      if let text = source.fault(microphones: microphones.count, placement) {
        throw DeviceFault("data source \(source.name) of \(name)", text)
      }
    }
  }
}

extension BodyShape {
  /// Why a microphone cannot be at `position`; nil if it can.
  /// - Parameter placement: of the file, in whose frame the text names places.
  public func fault(at position: Position, _ placement: Placement) -> String? {
    guard let nearest = nearestSurfacePoint(to: position) else { return nil }
    let distance = (position - nearest).length
    guard !(distance <= Device.surfaceTolerance) else { return nil }
    func millimetres(_ metres: Double) -> Double { (metres * 10_000).rounded() / 10 + 0 }
    let side = contains(position) ? "inside" : "outside"
    let inFile = placement.turned(nearest)
    let point = [inFile.x, inFile.y, inFile.z].map { "\(millimetres($0))" }.joined(separator: ", ")
    return
      "is \(millimetres(distance)) mm \(side) the body; move it to the surface, whose nearest point is [\(point)] mm"
  }
}

extension Microphone {
  fileprivate func fault(on shape: any BodyShape, _ placement: Placement) -> String? {
    guard (0..<3).allSatisfy({ Device.coordinates.contains(position[$0]) }) else {
      return "is more than 5000 mm from the origin; move it, or give metres"
    }
    if capsule != nil, let text = shape.capsuleFault { return text }
    return shape.fault(at: position, placement)
  }
}

extension DataSource {
  /// Why `pattern` cannot be made; nil if it can.
  /// - Parameters:
  ///   - used: number of microphones of the data source.
  ///   - all: number of microphones of the device.
  public static func fault(of pattern: PolarPattern, microphonesUsed used: Int, ofAll all: Int) -> String? {
    switch pattern {
    case .omnidirectional: nil
    case _ where pattern.isOriented && all < 2:
      "is \(pattern.rawValue), which needs at least two microphones, but the device has one; remove it"
    case _ where pattern.isOriented: nil
    case _ where used < 2:
      "is \(pattern.rawValue), which needs at least two microphones; remove it, or list more under microphones"
    default: nil
    }
  }

  /// Why there is no stereo in `orientation`; nil if there is.
  public static func fault(
    of orientation: InputOrientation, forward: Direction, _ placement: Placement
  ) -> String? {
    guard HeadFrame(forward: forward, orientation: orientation) == nil else { return nil }
    return "is \(orientation.rawValue), whose up is parallel to forward, so left and right are undefined; "
      + (placement == .table || abs(forward.vector.y) < 0.999
        ? "remove it"
        : "remove it, or write placement: table if the file draws an array that lies on a table")
  }

  /// - Parameter count: number of microphones of the device.
  fileprivate func fault(microphones count: Int, _ placement: Placement) -> String? {
    guard !microphones.isEmpty, microphones.allSatisfy((0..<count).contains),
      Set(microphones).count == microphones.count
    else { return "must list microphones of the device, each once" }
    for pattern in polarPatterns {
      if let text = Self.fault(of: pattern, microphonesUsed: microphones.count, ofAll: count) {
        return "has a pattern that \(text)"
      }
    }
    for orientation in stereoOrientations where polarPatterns.contains(where: \.isOriented) {
      if let text = Self.fault(of: orientation, forward: forward, placement) {
        return "has an orientation that \(text)"
      }
    }
    return nil
  }
}
