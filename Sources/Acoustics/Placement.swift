/// How a device is normally placed, which says what the coordinates of its file mean and in which input orientations
/// stereo makes sense.
public enum Placement: String, NamedWord, Codable {
  /// Held upright like a phone: x to the right and y up as seen by somebody who faces it, z towards them.
  case upright
  /// Lying on a table, drawn from above: x to the right and y up on the drawing, z upwards from the table.
  case table
  /// Worn on the head: x to the wearer's left, y up, z where the wearer looks.
  case worn
  /// On or in a camera or screen: like upright.
  case camera

  public static let kind = "placement"

  /// Converts a vector from the file's frame to the device frame. It is a rotation by half a turn: applied twice, it
  /// changes nothing. The top of a drawing of a table becomes the device's front.
  public func turned(_ vector: SIMD3<Double>) -> SIMD3<Double> {
    self == .table ? [-vector.x, vector.z, vector.y] : vector
  }

  public func turned(_ direction: Direction) -> Direction { Direction(turned(direction.vector))! }

  /// Whether people face the device, so that its left and right are named as they see them.
  public var isFaced: Bool { self == .upright || self == .camera }

  /// The input orientations of a device that is never held in others.
  public var orientations: [InputOrientation] {
    switch self {
    case .upright: InputOrientation.allCases
    case .table, .camera: [.portrait, .portraitUpsideDown]
    case .worn: [.portrait]
    }
  }
}
