import Acoustics
import Glibc

/// The position of a talker at one moment, relative to the device's centre.
public struct Place: Hashable, Sendable {
  /// In the device frame.
  public let direction: Direction
  /// In metres; nil for a talker in the far field, whose level does not depend on distance.
  public let distance: Double?

  public init(_ direction: Direction, distance: Double? = nil) {
    self.direction = direction
    self.distance = distance
  }

  /// Nil if `position` is the device's centre, which has no direction.
  public init?(position: Position) {
    guard let direction = Direction(position) else { return nil }
    self.init(direction, distance: position.length)
  }

  /// In the device frame, in metres; 1 m from the centre for a far-field talker.
  var position: Position { (distance ?? 1) * direction.vector }
}

/// The position of a talker over time: fixed, or interpolated linearly between waypoints.
public struct Path: Sendable {
  /// A value at a time in seconds after the talker's start. The `Course` defines what the value means.
  struct Waypoint: Hashable, Sendable {
    let time: Double
    let value: SIMD3<Double>
  }

  private enum Course: Sendable {
    case stationary(Place)
    /// Azimuth and elevation in radians and distance in metres, relative to the listener.
    case around(HeadFrame, hasDistance: Bool)
    /// Positions in the device frame, in metres.
    case straight
  }

  private let course: Course
  let waypoints: [Waypoint]

  public init(_ place: Place) {
    course = .stationary(place)
    waypoints = []
  }

  /// A path with linear interpolation of azimuth, elevation and distance. It is constant before the first waypoint and
  /// after the last.
  /// - Parameter waypoints: at least one, in order of time (seconds). Distances in metres: in all waypoints or in none.
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

  /// A path of straight lines between positions in the device frame, in metres. No line may pass through the device's
  /// centre.
  /// - Parameter waypoints: at least one, in order of time (seconds).
  public init(straight waypoints: [(time: Double, position: Position)]) {
    precondition(!waypoints.isEmpty)
    course = .straight
    self.waypoints = waypoints.map { Waypoint(time: $0.time, value: $0.position) }
  }

  var isStationary: Bool { waypoints.count <= 1 || waypoints.allSatisfy { $0.value == waypoints[0].value } }

  /// - Parameter time: seconds after the talker's start.
  public func place(at time: Double) -> Place {
    switch course {
    case .stationary(let place): return place
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

  /// Positions sampled along the path, 65 per segment, for checks that need no closed form.
  var sampledPlaces: [Place] {
    guard waypoints.count > 1 else { return [place(at: 0)] }
    return zip(waypoints, waypoints.dropFirst()).flatMap { a, b in
      (0...64).map { place(at: a.time + (b.time - a.time) * Double($0) / 64) }
    }
  }

  /// The maximum distance from the device, in metres; 0 for a far-field talker.
  var maximumDistance: Double { sampledPlaces.map { $0.distance ?? 0 }.max() ?? 0 }
}

/// Properties that scene files are validated by.
extension Path {
  /// The minimum distance from the device, in metres; nil for a far-field talker.
  var minimumDistance: Double? {
    switch course {
    case .stationary(let place): return place.distance
    case .around(_, let hasDistance): return hasDistance ? waypoints.map(\.value.z).min() : nil
    case .straight:
      let ends = waypoints.map(\.value.length)
      let between = zip(waypoints, waypoints.dropFirst()).map { a, b in
        let segment = b.value - a.value
        let fraction = min(1, max(0, -a.value.dot(segment) / max(segment.dot(segment), 1e-12)))
        return (a.value + fraction * segment).length
      }
      return (ends + between).min()
    }
  }

  /// The maximum speed, in metres per second; 0 for a far-field talker.
  var maximumSpeed: Double {
    minimumDistance == nil ? 0 : maximumRate { ($0.position - $1.position).length }
  }

  /// The maximum angular speed of the talker's direction, in degrees per second.
  var maximumTurnRate: Double {
    maximumRate { a, b in
      let (u, v) = (a.direction.vector, b.direction.vector)
      return atan2(u.cross(v).length, u.dot(v)) * 180 / .pi
    }
  }

  /// The maximum of `change` per second, over 64 steps per segment.
  private func maximumRate(of change: (Place, Place) -> Double) -> Double {
    zip(waypoints, waypoints.dropFirst()).map { a, b in
      let step = (b.time - a.time) / 64
      return (0..<64).map { n in
        let time = a.time + Double(n) * step
        return change(place(at: time), place(at: time + step)) / step
      }.max()!
    }.max() ?? 0
  }
}
