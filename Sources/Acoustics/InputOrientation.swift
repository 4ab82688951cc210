/// How the device is held: which of its directions is up in the world.
public enum InputOrientation: String, NamedWord, Codable {
  case portrait, portraitUpsideDown, landscapeLeft, landscapeRight

  public static let kind = "input orientation"

  /// The direction of the device frame that points up. `landscapeRight`: the bottom edge is at the right of
  /// somebody facing the screen, so that +x is up.
  public var up: Direction {
    switch self {
    case .portrait: .plusY
    case .portraitUpsideDown: Direction.plusY.opposite
    case .landscapeLeft: Direction.plusX.opposite
    case .landscapeRight: .plusX
    }
  }
}
