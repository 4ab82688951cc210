import Acoustics
import Presets

/// Directions that a scene file names by words, relative to the listener.
enum Bearing: String, NamedWord {
  case front, left, right, back, above, below

  static let kind = "direction"

  func direction(in frame: HeadFrame) -> Direction {
    switch self {
    case .front: frame.forward
    case .left: frame.left
    case .right: frame.right
    case .back: frame.forward.opposite
    case .above: frame.up
    case .below: frame.up.opposite
    }
  }
}

/// The positions and paths of talkers.
extension YAMLReader {
  static let placeKeys = ["direction", "azimuth", "elevation", "from", "distance", "position", "path"]
  private static let distances = 0.3...100.0
  private static let waypointLimit = 256
  /// In metres and degrees per second. Faster movement would make the simulated delays and body responses inaccurate.
  private static let speedLimit = 100.0
  private static let turnLimit = 720.0

  /// Reads exactly one of `direction`, `azimuth` (with `elevation`), `from`, `position` and `path`.
  func path(_ fields: YAMLFields, facing frame: HeadFrame?, in room: Room?) throws(DescriptionError) -> Path {
    let values = ["direction", "azimuth", "from", "position", "path"].compactMap(fields.optional)
    guard let value = values.first, values.count == 1 else {
      throw failure(
        "has \(values.isEmpty ? "none" : "several") of direction, azimuth, from, position and path; write exactly one"
      )
    }
    if let elevation = fields.optional("elevation"), fields.optional("azimuth") == nil {
      throw elevation.failure("needs azimuth; add azimuth, or remove elevation")
    }
    if let distance = fields.optional("distance"), ["position", "path"].contains(where: value.isField) {
      throw distance.failure("is allowed only with direction, azimuth or from; remove it")
    }
    let path =
      if fields.optional("path") != nil {
        try value.waypoints(try value.listener(frame))
      } else if fields.optional("position") != nil {
        Path(straight: [(0, try value.position(try value.listener(frame)))])
      } else {
        Path(
          Place(
            try direction(fields, value, facing: frame),
            distance: try fields.optional("distance")?.number(in: Self.distances, unit: "m")))
      }
    try check(path, at: value, in: room)
    return path
  }

  private func direction(_ fields: YAMLFields, _ value: YAMLReader, facing frame: HeadFrame?)
    throws(DescriptionError) -> Direction
  {
    if fields.optional("direction") != nil { return try value.direction() }
    let frame = try value.listener(frame)
    if fields.optional("from") != nil { return try value.word(Bearing.self).direction(in: frame) }
    return frame.direction(
      azimuth: .degrees(try value.number(in: -360...360, unit: "degrees")),
      elevation: .degrees(try fields.optional("elevation")?.number(in: -90...90, unit: "degrees") ?? 0))
  }

  private func isField(_ name: String) -> Bool { field.hasSuffix("." + name) }

  /// `frame`, or an error that tells how to add the listener that this value needs.
  func listener(_ frame: HeadFrame?) throws(DescriptionError) -> HeadFrame {
    guard let frame else {
      throw failure(
        "needs a listener; add \"facing: {dataSource: NAME, inputOrientation: portrait}\" to the scene")
    }
    return frame
  }

  /// `[forward, left, up]`, in metres.
  private func position(_ frame: HeadFrame) throws(DescriptionError) -> Position {
    frame.device(
      fromHead: try vector(in: -Self.distances.upperBound...Self.distances.upperBound, unit: "m"))
  }

  /// A list of waypoints: `at` with `azimuth` (and `elevation`, `distance`), or with `position`.
  private func waypoints(_ frame: HeadFrame) throws(DescriptionError) -> Path {
    let elements = try list()
    guard (1...Self.waypointLimit).contains(elements.count) else {
      throw failure("has \(elements.count) waypoints; write between 1 and \(Self.waypointLimit)")
    }
    var around: [(time: Double, azimuth: Angle, elevation: Angle, distance: Double?)] = []
    var straight: [(time: Double, position: Position)] = []
    var previous = -1.0
    for element in elements {
      let fields = try element.fields(["at", "azimuth", "elevation", "distance", "position"])
      let at = try fields.required("at", example: "1.5")
      let time = try at.number(in: 0...Scene.maximumDuration, unit: "s")
      guard time > previous else {
        throw at.failure("does not come after the previous waypoint; put the waypoints in order of time")
      }
      previous = time
      if let position = fields.optional("position") {
        guard ["azimuth", "elevation", "distance"].allSatisfy({ fields.optional($0) == nil }) else {
          throw element.failure("has both a position and angles; remove one of them")
        }
        straight.append((time, try position.position(frame)))
      } else {
        let azimuth = try fields.required("azimuth", example: "90")
        around.append(
          (
            time, .degrees(try azimuth.number(in: -3600...3600, unit: "degrees")),
            .degrees(try fields.optional("elevation")?.number(in: -90...90, unit: "degrees") ?? 0),
            try fields.optional("distance")?.number(in: Self.distances, unit: "m")
          ))
      }
    }
    guard straight.isEmpty || around.isEmpty else {
      throw failure("mixes positions and angles; use the same one in all waypoints")
    }
    guard Set(around.map { $0.distance == nil }).count <= 1 else {
      throw failure("has a distance in only some waypoints; write it in all or in none")
    }
    return straight.isEmpty ? Path(around: frame, around) : Path(straight: straight)
  }

  /// Refuses a path that is too close, too fast, or outside the room.
  private func check(_ path: Path, at value: YAMLReader, in room: Room?) throws(DescriptionError) {
    guard path.minimumDistance.map({ $0 >= Self.distances.lowerBound }) ?? true else {
      throw value.failure(
        "comes within \(Self.distances.lowerBound) m of the device, where waves are not plane; keep farther away"
      )
    }
    guard path.maximumSpeed <= Self.speedLimit, path.maximumTurnRate <= Self.turnLimit else {
      throw value.failure(
        "moves faster than \(Int(Self.speedLimit)) m/s or \(Int(Self.turnLimit))° per second; give it more time"
      )
    }
    guard let room else { return }
    guard path.minimumDistance != nil else {
      throw value.failure("has no distance, which every talker in a room needs; add \"distance: 2\"")
    }
    guard path.sampledPlaces.allSatisfy({ room.contains($0.position) }) else {
      throw value.failure("leaves the room; keep it within the room's size, or make the room larger")
    }
  }
}

extension YAMLReader {
  func room(facing frame: HeadFrame?) throws(DescriptionError) -> Room {
    let fields = try fields(["size", "device", "absorption", "order"])
    let size = try fields.required("size", example: "[5, 4, 2.6]").vector(in: 1...100, unit: "m")
    let position = try fields.required("device", example: "[2, 2, 1.2]")
    let device = try position.vector(in: 0...100, unit: "m")
    guard (0..<3).allSatisfy({ device[$0] >= 0.3 && device[$0] <= size[$0] - 0.3 }) else {
      throw position.failure(
        "is not inside the room, at least 0.3 m from every wall; write [forward, left, up] in metres from the corner "
          + "that is behind, right and below")
    }
    let orderField = fields.optional("order")
    let order = try orderField?.number(in: 0...Double(Room.highestOrder), unit: "reflections") ?? 3
    if let orderField, order != order.rounded() {
      throw orderField.failure("is not a whole number; write the maximum number of reflections")
    }
    return Room(
      frame: try listener(frame), size: size, device: device,
      absorption: try fields.required("absorption", example: "0.3").absorption(), order: Int(order))
  }

  /// One absorption coefficient for all walls, or one for each wall.
  private func absorption() throws(DescriptionError) -> Room.Absorption {
    let unit = "(absorbed share of the energy)"
    if scalar != nil { return Room.Absorption(try number(in: 0...1, unit: unit)) }
    let walls = ["front", "back", "left", "right", "ceiling", "floor"]
    let fields = try fields(walls)
    var values: [String: Double] = [:]
    for wall in walls {
      values[wall] = try fields.required(wall, example: "0.3").number(in: 0...1, unit: unit)
    }
    return Room.Absorption(
      low: [values["back"]!, values["right"]!, values["floor"]!],
      high: [values["front"]!, values["left"]!, values["ceiling"]!])
  }
}
