import Acoustics
import Session

/// The directions that words name, as a listener sees them.
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

/// Where a scene's talkers are.
extension YAMLReader {
  static let placeKeys = ["direction", "azimuth", "elevation", "from", "distance", "position", "path"]
  private static let distances = 0.3...100.0
  private static let waypointLimit = 256
  /// Metres and degrees per second: faster, delays and what a body does would no longer be true.
  private static let speedLimit = 100.0
  private static let turnLimit = 720.0

  /// Exactly one of `direction`, `azimuth` (with `elevation`), `from`, `position` and `path`.
  func path(_ fields: YAMLFields, facing frame: HeadFrame?, in room: Room?) throws(DescriptionError) -> Path {
    let ways = ["direction", "azimuth", "from", "position", "path"].compactMap(fields.optional)
    guard let way = ways.first, ways.count == 1 else {
      throw failure(
        "has \(ways.isEmpty ? "none" : "several") of direction, azimuth, from, position and path; write one of them"
      )
    }
    if let elevation = fields.optional("elevation"), fields.optional("azimuth") == nil {
      throw elevation.failure("goes with azimuth; remove it, or write azimuth too")
    }
    if let distance = fields.optional("distance"), ["position", "path"].contains(where: way.isField) {
      throw distance.failure("goes with direction, azimuth and from; remove it")
    }
    let path =
      if fields.optional("path") != nil {
        try way.waypoints(try way.listener(frame))
      } else if fields.optional("position") != nil {
        Path(straight: [(0, try way.position(try way.listener(frame)))])
      } else {
        Path(
          Place(
            try direction(fields, way, facing: frame),
            distance: try fields.optional("distance")?.number(in: Self.distances, unit: "m")))
      }
    try check(path, at: way, in: room)
    return path
  }

  private func direction(_ fields: YAMLFields, _ way: YAMLReader, facing frame: HeadFrame?)
    throws(DescriptionError) -> Direction
  {
    if fields.optional("direction") != nil { return try way.direction() }
    let frame = try way.listener(frame)
    if fields.optional("from") != nil { return try way.word(Bearing.self).direction(in: frame) }
    return frame.direction(
      azimuth: .degrees(try way.number(in: -360...360, unit: "degrees")),
      elevation: .degrees(try fields.optional("elevation")?.number(in: -90...90, unit: "degrees") ?? 0))
  }

  private func isField(_ name: String) -> Bool { field.hasSuffix("." + name) }

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
    var last = -1.0
    for element in elements {
      let fields = try element.fields(["at", "azimuth", "elevation", "distance", "position"])
      let at = try fields.required("at", example: "1.5")
      let time = try at.number(in: 0...Scene.longest, unit: "s")
      guard time > last else {
        throw at.failure("does not come after the waypoint before; put them in order")
      }
      last = time
      if let position = fields.optional("position") {
        guard ["azimuth", "elevation", "distance"].allSatisfy({ fields.optional($0) == nil }) else {
          throw element.failure("has a position and angles; write one of the two")
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
      throw failure("has positions and angles; write one of the two in all of its waypoints")
    }
    guard Set(around.map { $0.distance == nil }).count <= 1 else {
      throw failure("has a distance in some of its waypoints; write it in all or in none")
    }
    return straight.isEmpty ? Path(around: frame, around) : Path(straight: straight)
  }

  /// Refuses what no talker does.
  private func check(_ path: Path, at way: YAMLReader, in room: Room?) throws(DescriptionError) {
    guard path.nearest.map({ $0 >= Self.distances.lowerBound }) ?? true else {
      throw way.failure(
        "comes within \(Self.distances.lowerBound) m of the device, where waves are not plane; keep away from it"
      )
    }
    guard path.speed <= Self.speedLimit, path.turn <= Self.turnLimit else {
      throw way.failure(
        "moves faster than \(Int(Self.speedLimit)) m/s or \(Int(Self.turnLimit))° per second; give it more time"
      )
    }
    guard let room else { return }
    guard path.nearest != nil else {
      throw way.failure("has no distance, which a talker in a room needs; add \"distance: 2\"")
    }
    guard path.samples.allSatisfy({ room.contains($0.position) }) else {
      throw way.failure("leaves the room; keep it within the room's size, or make the room larger")
    }
  }
}

extension YAMLReader {
  func room(facing frame: HeadFrame?) throws(DescriptionError) -> Room {
    let fields = try fields(["size", "device", "absorption", "order"])
    let size = try fields.required("size", example: "[5, 4, 2.6]").vector(in: 1...100, unit: "m")
    let place = try fields.required("device", example: "[2, 2, 1.2]")
    let device = try place.vector(in: 0...100, unit: "m")
    guard (0..<3).allSatisfy({ device[$0] >= 0.3 && device[$0] <= size[$0] - 0.3 }) else {
      throw place.failure(
        "is not in the room, 0.3 m from its walls; write [forward, left, up] from its corner")
    }
    let walls = fields.optional("order")
    let order = try walls?.number(in: 0...Double(Room.highestOrder), unit: "walls") ?? 3
    if let walls, order != order.rounded() {
      throw walls.failure("is not a whole number; write how many walls")
    }
    return Room(
      frame: try listener(frame), size: size, device: device,
      absorption: try fields.required("absorption", example: "0.3").absorption(), order: Int(order))
  }

  /// A number for all walls, or a number for each.
  private func absorption() throws(DescriptionError) -> Room.Absorption {
    if scalar != nil { return Room.Absorption(try number(in: 0...1, unit: "parts of the energy")) }
    let walls = ["front", "back", "left", "right", "ceiling", "floor"]
    let fields = try fields(walls)
    var values: [String: Double] = [:]
    for wall in walls {
      values[wall] = try fields.required(wall, example: "0.3").number(
        in: 0...1, unit: "parts of the energy")
    }
    return Room.Absorption(
      low: [values["back"]!, values["right"]!, values["floor"]!],
      high: [values["front"]!, values["left"]!, values["ceiling"]!])
  }
}
