import Acoustics

/// The array that a take was recorded with, whole and exact, so that the take is rendered alike wherever it is, and
/// whatever becomes of the array's file. Lengths are in metres, in the device frame (`Position`), delays in seconds, gains
/// in decibels.
///
/// Thread: any; a value.
public struct RecordedDevice: Codable, Sendable, Hashable {
  public struct Microphone: Codable, Sendable, Hashable {
    let name: String
    let position: [Double]
    /// Of a directional capsule; nil for an omnidirectional one.
    let omnidirectionalPart: Double?
    let facing: [Double]?
    let deviation: RecordedDeviation?
    let channel: Int?
  }

  public struct RecordedDeviation: Codable, Sendable, Hashable {
    let gain: Double
    let delay: Double
    let inverted: Bool
  }

  public struct Body: Codable, Sendable, Hashable {
    /// "free", "sphere", "cylinder", "box", "sofa" or "impulseResponses".
    let kind: String
    var radius: Double?
    /// Along x, y and z.
    var size: [Double]?
    /// Of a measurement.
    var files: [MeasuredFile]?
  }

  /// A file that the filters depend on.
  public struct MeasuredFile: Codable, Sendable, Hashable {
    public let path: String
    /// A hash of its content; nil if it could not be read.
    public let digest: String?
  }

  public struct Source: Codable, Sendable, Hashable {
    let name: String
    let id: UInt32
    let location: String?
    let orientation: String
    let forward: [Double]
    /// Indices among the microphones.
    let microphones: [Int]
    let polarPatterns: [String]
    let stereoOrientations: [String]
  }

  public struct RecordedCalibration: Codable, Sendable, Hashable {
    let date: String
    let method: String
    let source: String?
    let microphones: [String: RecordedDeviation]
  }

  public let title: String
  /// Where its file was; nil for a device of none.
  public let file: String?
  public let placement: String
  public let body: Body
  public let microphones: [Microphone]
  public let dataSources: [Source]
  /// Of the head for which stereo was designed; nil for the one that comes with Pinna.
  public let hrtf: MeasuredFile?
  public let calibration: RecordedCalibration?

  /// - Parameter digest: of the file at a path.
  public init(_ device: Device, digest: (_ path: String) -> String?) {
    func measured(_ path: String) -> MeasuredFile { MeasuredFile(path: path, digest: digest(path)) }
    title = device.title
    file = device.source.path
    placement = device.placement.rawValue
    switch device.body {
    case .free: body = Body(kind: "free")
    case .sphere(let sphere): body = Body(kind: "sphere", radius: sphere.radius)
    case .cylinder(let cylinder): body = Body(kind: "cylinder", radius: cylinder.radius)
    case .box(let box): body = Body(kind: "box", size: Self.numbers(box.size))
    case .measured(let measurement):
      if case .sofa = measurement {
        body = Body(kind: "sofa", files: measurement.paths.map(measured))
      } else {
        body = Body(kind: "impulseResponses", files: measurement.paths.map(measured))
      }
    }
    microphones = device.microphones.map { microphone in
      Microphone(
        name: microphone.name, position: Self.numbers(microphone.position),
        omnidirectionalPart: microphone.capsule?.omnidirectionalPart,
        facing: microphone.capsule.map { Self.numbers($0.facing.vector) },
        deviation: RecordedDeviation(microphone.deviation), channel: microphone.channel)
    }
    dataSources = device.dataSources.map { source in
      Source(
        name: source.name, id: source.id, location: source.location?.rawValue,
        orientation: source.orientation.rawValue, forward: Self.numbers(source.forward.vector),
        microphones: source.microphones, polarPatterns: source.polarPatterns.map(\.rawValue),
        stereoOrientations: source.stereoOrientations.map(\.rawValue))
    }
    hrtf = device.hrtf.map(measured)
    calibration = device.calibration.map { calibration in
      RecordedCalibration(
        date: calibration.date, method: calibration.method, source: calibration.source?.rawValue,
        microphones: calibration.deviations.compactMapValues(RecordedDeviation.init))
    }
  }

  private static func numbers(_ vector: SIMD3<Double>) -> [Double] { [vector.x, vector.y, vector.z] }

  // MARK: Back

  /// The device of this name.
  /// - Parameter locate: the present path of a measured file.
  /// - Throws: if no device can be like this: the sidecar is damaged or forged.
  public func device(named name: String, locate: (MeasuredFile) throws -> String) throws -> Device {
    let body = try self.body.body(locate)
    guard let placement = Placement(rawValue: placement), (1...32).contains(dataSources.count),
      microphones.count <= Device.microphoneLimit,
      ([title, name] + microphones.map(\.name) + dataSources.map(\.name)).allSatisfy(Self.isText),
      Set(microphones.map(\.name)).count == microphones.count,
      Set(dataSources.map(\.name)).count == dataSources.count
    else { throw Self.fault }
    let device = try Device(
      name: name, title: title, body: body, placement: placement,
      microphones: microphones.map { try $0.microphone() }, dataSources: dataSources.map { try $0.source() },
      hrtf: hrtf.map(locate), isCentred: true)
    return (file.map(device.with(file:)) ?? device).with(calibration: try calibration?.calibration())
  }

  static let fault = TakeError("describes an array that there cannot be")

  /// Whether it is the same array: all that filters depend on, wherever its files are.
  public func isSame(as other: RecordedDevice) -> Bool {
    func digests(_ device: RecordedDevice) -> [String?] {
      ((device.body.files ?? []) + [device.hrtf].compactMap(\.self)).map(\.digest)
    }
    return placement == other.placement && body.kind == other.body.kind && body.radius == other.body.radius
      && body.size == other.body.size && microphones == other.microphones && dataSources == other.dataSources
      && (hrtf == nil) == (other.hrtf == nil) && calibration == other.calibration
      && digests(self) == digests(other)
  }

  private static func isText(_ text: String) -> Bool {
    (1...256).contains(text.utf8.count)
      && !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
  }

  static func vector(_ numbers: [Double]) throws(TakeError) -> SIMD3<Double> {
    guard numbers.count == 3, numbers.allSatisfy({ abs($0) < 1e6 }) else { throw fault }
    return [numbers[0], numbers[1], numbers[2]]
  }

  static func direction(_ numbers: [Double]) throws(TakeError) -> Direction {
    guard let direction = Direction.exactly(try vector(numbers)) else { throw fault }
    return direction
  }
}

extension RecordedDevice.RecordedDeviation {
  /// Nil for none.
  fileprivate init?(_ deviation: Deviation) {
    if deviation == .none { return nil }
    (gain, delay, inverted) = (deviation.gain.value, deviation.delay, deviation.isInverted)
  }

  fileprivate func deviation() throws(TakeError) -> Deviation {
    guard Deviation.gainRange.contains(gain), Deviation.delayRange.contains(delay) else {
      throw RecordedDevice.fault
    }
    return Deviation(gain: Decibels(gain), delay: delay, isInverted: inverted)
  }
}

extension RecordedDevice.Microphone {
  fileprivate func microphone() throws(TakeError) -> Acoustics.Microphone {
    var capsule: Capsule?
    if let omnidirectionalPart, let facing {
      guard (0...1).contains(omnidirectionalPart) else { throw RecordedDevice.fault }
      capsule = Capsule(
        omnidirectionalPart: omnidirectionalPart, facing: try RecordedDevice.direction(facing))
    }
    guard (1...256).contains(channel ?? 1) else { throw RecordedDevice.fault }
    return Acoustics.Microphone(
      name: name, position: try RecordedDevice.vector(position), capsule: capsule,
      deviation: try deviation?.deviation() ?? .none, channel: channel)
  }
}

extension RecordedDevice.Source {
  fileprivate func source() throws(TakeError) -> DataSource {
    let patterns = polarPatterns.compactMap(PolarPattern.init).filter(PolarPattern.allCases.contains)
    let orientations = stereoOrientations.compactMap(InputOrientation.init)
    guard let orientation = DataSource.Orientation(rawValue: orientation), !patterns.isEmpty,
      patterns.count == polarPatterns.count, orientations.count == stereoOrientations.count,
      Set(patterns).count == patterns.count, Set(orientations).count == orientations.count
    else { throw RecordedDevice.fault }
    return DataSource(
      name: name, id: id, location: location.flatMap(DataSource.Location.init), orientation: orientation,
      forward: try RecordedDevice.direction(forward), microphones: microphones, polarPatterns: patterns,
      stereoOrientations: orientations)
  }
}

extension RecordedDevice.Body {
  fileprivate func body(_ locate: (RecordedDevice.MeasuredFile) throws -> String) throws -> Acoustics.Body {
    let paths = try (files ?? []).prefix(2).map(locate)
    switch (kind, radius, paths.count) {
    case ("free", _, _): return .free
    case ("sphere", let radius?, _): return .sphere(radius: radius)
    case ("cylinder", let radius?, _): return .cylinder(radius: radius)
    case ("box", _, _): return .box(size: try RecordedDevice.vector(size ?? []))
    case ("sofa", _, 1): return .measured(.sofa(path: paths[0]))
    case ("impulseResponses", _, 2):
      return .measured(.impulseResponses(path: paths[0], directions: paths[1]))
    default: throw RecordedDevice.fault
    }
  }
}

extension RecordedDevice.RecordedCalibration {
  fileprivate func calibration() throws(TakeError) -> Calibration {
    var deviations: [String: Deviation] = [:]
    for (name, deviation) in microphones { deviations[name] = try deviation.deviation() }
    return Calibration(
      deviations: deviations, date: date, method: method, source: source.flatMap(Calibration.Source.init))
  }
}
