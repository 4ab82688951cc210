import Acoustics
import Glibc

/// Where a talker is at one moment, as the device's centre sees it.
public struct Place: Hashable, Sendable {
  /// In the device frame.
  public let direction: Direction
  /// In metres; nil for a talker so far away that its level does not depend on where it is.
  public let distance: Double?

  public init(_ direction: Direction, distance: Double? = nil) {
    self.direction = direction
    self.distance = distance
  }

  /// Nil at the device's centre.
  public init?(position: Position) {
    guard let direction = Direction(position) else { return nil }
    self.init(direction, distance: position.length)
  }

  /// In the device frame, in metres; 1 m away where there is no distance.
  var position: Position { (distance ?? 1) * direction.vector }
}

/// Where a talker is over time: at one place, or on its way from waypoint to waypoint.
public struct Path: Sendable {
  /// At a time in seconds after the talker's start; what the value means is the course's business.
  struct Waypoint: Hashable, Sendable {
    let time: Double
    let value: SIMD3<Double>
  }

  private enum Course: Sendable {
    case still(Place)
    /// Azimuth and elevation in radians and distance in metres, as the listener sees them.
    case around(HeadFrame, hasDistance: Bool)
    /// Positions of the device frame.
    case straight
  }

  private let course: Course
  let waypoints: [Waypoint]

  public init(_ place: Place) {
    course = .still(place)
    waypoints = []
  }

  /// Azimuth, elevation and distance change evenly between the waypoints, and stay before the first and after the
  /// last.
  /// - Parameter waypoints: at least one, by time; distances in metres, in all of them or in none.
  public init(
    around frame: HeadFrame,
    _ waypoints: [(time: Double, azimuth: Angle, elevation: Angle, distance: Double?)]
  ) {
    precondition(!waypoints.isEmpty)
    course = .around(frame, hasDistance: waypoints[0].distance != nil)
    self.waypoints = waypoints.map {
      Waypoint(time: $0.time, value: [$0.azimuth.radians, $0.elevation.radians, $0.distance ?? 0])
    }
  }

  /// Straight lines between positions of the device frame, in metres, none of them through the device's centre.
  /// - Parameter waypoints: at least one, by time.
  public init(straight waypoints: [(time: Double, position: Position)]) {
    precondition(!waypoints.isEmpty)
    course = .straight
    self.waypoints = waypoints.map { Waypoint(time: $0.time, value: $0.position) }
  }

  var isStill: Bool { waypoints.count <= 1 || waypoints.allSatisfy { $0.value == waypoints[0].value } }

  /// - Parameter time: seconds after the talker's start.
  public func place(at time: Double) -> Place {
    switch course {
    case .still(let place): return place
    case .around(let frame, let hasDistance):
      let value = value(at: time)
      return Place(
        frame.direction(azimuth: Angle(radians: value.x), elevation: Angle(radians: value.y)),
        distance: hasDistance ? value.z : nil)
    case .straight: return Place(position: value(at: time)) ?? Place(.plusX, distance: 0)
    }
  }

  private func value(at time: Double) -> SIMD3<Double> {
    guard time > waypoints[0].time else { return waypoints[0].value }
    guard time < waypoints.last!.time else { return waypoints.last!.value }
    var (low, high) = (0, waypoints.count - 1)
    while high - low > 1 {
      let middle = (low + high) / 2
      if waypoints[middle].time <= time { low = middle } else { high = middle }
    }
    let (a, b) = (waypoints[low], waypoints[high])
    return a.value + (time - a.time) / (b.time - a.time) * (b.value - a.value)
  }

  /// Places along the way, close enough together to judge it by.
  var samples: [Place] {
    guard waypoints.count > 1 else { return [place(at: 0)] }
    return zip(waypoints, waypoints.dropFirst()).flatMap { a, b in
      (0...64).map { place(at: a.time + (b.time - a.time) * Double($0) / 64) }
    }
  }

  /// The greatest distance from the device, in metres; 0 for a talker that is far away.
  var farthest: Double { samples.map { $0.distance ?? 0 }.max() ?? 0 }
}

/// What a scene file is judged by.
extension Path {
  /// How near it comes to the device, in metres; nil for a talker that is far away.
  var nearest: Double? {
    switch course {
    case .still(let place): return place.distance
    case .around(_, let hasDistance): return hasDistance ? waypoints.map(\.value.z).min() : nil
    case .straight:
      let ends = waypoints.map(\.value.length)
      let between = zip(waypoints, waypoints.dropFirst()).map { a, b in
        let way = b.value - a.value
        let part = min(1, max(0, -a.value.dot(way) / max(way.dot(way), 1e-12)))
        return (a.value + part * way).length
      }
      return (ends + between).min()
    }
  }

  /// The greatest speed, in metres per second; 0 for a talker that is far away.
  var speed: Double { nearest == nil ? 0 : rate { ($0.position - $1.position).length } }

  /// The greatest speed at which its direction turns, in degrees per second.
  var turn: Double {
    rate { a, b in
      let (u, v) = (a.direction.vector, b.direction.vector)
      return atan2(u.cross(v).length, u.dot(v)) * 180 / .pi
    }
  }

  private func rate(_ change: (Place, Place) -> Double) -> Double {
    zip(waypoints, waypoints.dropFirst()).map { a, b in
      let step = (b.time - a.time) / 64
      return (0..<64).map { n in
        let time = a.time + Double(n) * step
        return change(place(at: time), place(at: time + step)) / step
      }.max()!
    }.max() ?? 0
  }
}
