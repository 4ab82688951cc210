import Text

#if canImport(Glibc)
  import Glibc
#endif

/// A direction to hear, seen from a data source as the device is held: azimuth from the source's forward, elevation from
/// the horizon. Left and up are positive.
public struct Look: Hashable, Sendable {
  /// In degrees, above −180 and up to 180.
  public let azimuth: Double
  /// In degrees, −90…90.
  public let elevation: Double

  public static let azimuths = -360.0...360.0
  public static let elevations = -90.0...90.0

  /// - Returns: nil out of `azimuths` or `elevations`.
  public init?(azimuth: Double, elevation: Double = 0) {
    guard Self.azimuths.contains(azimuth), Self.elevations.contains(elevation) else { return nil }
    // Adding 0 turns -0.0 into 0.0.
    (self.azimuth, self.elevation) = (Angle.turned(azimuth), elevation + 0)
  }

  /// The look from `frame` that is nearest to `direction`.
  public init(_ direction: Direction, from frame: HeadFrame) {
    let head = frame.head(fromDevice: direction.vector)
    let azimuth = Angle(radians: atan2(head.y, head.x)).degrees
    let elevation = Angle(radians: asin(max(-1, min(1, head.z)))).degrees
    self = Look(azimuth: azimuth, elevation: elevation)!
  }

  /// Along the data source's forward.
  public static let ahead = Look(azimuth: 0)!

  /// Turned by angles in degrees. The azimuth goes round, the elevation ends straight up and down.
  public func turned(left: Double, up: Double) -> Look {
    let elevation = min(max(self.elevation + up, Self.elevations.lowerBound), Self.elevations.upperBound)
    return Look(azimuth: Angle.turned(azimuth + left), elevation: elevation)!
  }

  /// The angle between both in degrees.
  public func angle(to other: Look) -> Double {
    let (a, b) = (Angle.degrees(elevation).radians, Angle.degrees(other.elevation).radians)
    let apart = Angle.degrees(azimuth - other.azimuth).radians
    return Angle(radians: acos(max(-1, min(1, sin(a) * sin(b) + cos(a) * cos(b) * cos(apart))))).degrees
  }

  /// "60", or "60,-10".
  public var word: String {
    (elevation == 0 ? [azimuth] : [azimuth, elevation]).map(\.plain).joined(separator: ",")
  }

  /// " at 60°", or " at 60°, 10° up"
  package var phrase: String { " at \(self)" }

  /// In the device frame.
  public func direction(in frame: HeadFrame) -> Direction {
    frame.direction(azimuth: .degrees(azimuth), elevation: .degrees(elevation))
  }
}

extension Look: CustomStringConvertible {
  /// "60°", or "60°, 10° down".
  public var description: String {
    let azimuth = azimuth.plain + "°"
    if elevation == 0 { return azimuth }
    return "\(azimuth), \(abs(elevation).plain)° " + (elevation > 0 ? "up" : "down")
  }
}

extension Device {
  /// The frame that looks and poses of a data source are given in: level as the device is held; for a source that looks
  /// up or down then, level in another orientation.
  public func frame(of source: DataSource, _ orientation: InputOrientation) -> HeadFrame {
    let all = [orientation, .ofMono(along: source.forward)]
    return all.lazy.compactMap { HeadFrame(forward: source.forward, orientation: $0) }.first!
  }

  /// The device with one case: the mono pattern of `selection` in the direction of its look. Its filters come from all
  /// microphones.
  /// - Throws: `UnknownWord` for an unknown data source; `Unsupported` if the device has one microphone.
  func looking(_ look: Look, _ selection: Selection) throws -> Device {
    let source = try dataSource(named: selection.dataSource)
    guard microphones.count > 1 else {
      throw Unsupported("\(name) has one microphone, which hears no directions; a look needs more")
    }
    return try with(dataSources: [
      DataSource(
        name: source.name, id: source.id, location: source.location, orientation: source.orientation,
        forward: look.direction(in: frame(of: source, selection.inputOrientation)),
        microphones: source.microphones + microphones.indices.filter { !source.microphones.contains($0) },
        polarPatterns: [selection.polarPattern], stereoOrientations: [])
    ])
  }

  /// - Throws: `UnknownWord` or `Unsupported` if the device does not offer `selection`.
  public func check(_ selection: Selection) throws {
    if try ownDevice(of: selection) == nil { _ = try filterCase(for: selection) }
  }

  /// The device that has filters for a selection whose case is designed on demand: a look, or B-format; nil if this
  /// device's filters contain it.
  /// - Throws: if no filters can.
  public func ownDevice(of selection: Selection) throws -> Device? {
    guard needsOwnFilters(selection) else { return nil }
    if selection.polarPattern.ambisonicsOrder != nil { return try ambisonics(selection) }
    return try selection.effectiveLook.map { try looking($0, selection) } ?? turned(selection)
  }

  /// Whether the case of a selection is designed on demand.
  public func needsOwnFilters(_ selection: Selection) -> Bool {
    if selection.polarPattern.ambisonicsOrder != nil {
      return !dataSources.contains(where: \.offersAmbisonics)
    }
    return selection.effectiveLook != nil || selection.polarPattern == .stereo && selection.pose != .none
  }
}

extension Look: Codable {
  /// As in presets: `[azimuth, elevation]`.
  public func encode(to encoder: any Encoder) throws { try [azimuth, elevation].encode(to: encoder) }

  public init(from decoder: any Decoder) throws {
    let numbers = try [Double](from: decoder)
    guard numbers.count == 2, let look = Look(azimuth: numbers[0], elevation: numbers[1]) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "a look is [azimuth, elevation] in degrees"))
    }
    self = look
  }
}
