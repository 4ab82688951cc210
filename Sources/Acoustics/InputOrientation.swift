/// How the device is held: which direction of the device frame points up in the world.
public enum InputOrientation: String, NamedWord, Codable {
  case portrait, portraitUpsideDown, landscapeLeft, landscapeRight

  public static let kind = "input orientation"

  /// The direction of the device frame that points up. In `landscapeRight` the bottom edge is at the right of
  /// somebody facing the screen, so +x is up.
  public var up: Direction {
    switch self {
    case .portrait: .plusY
    case .portraitUpsideDown: Direction.plusY.opposite
    case .landscapeLeft: Direction.plusX.opposite
    case .landscapeRight: .plusX
    }
  }
}
