/// Any body, whose array manifold comes from a measurement: the files that hold it. Each of its channels is one microphone
/// of the device.
public enum ArrayMeasurement: BodyShape {
  /// A SOFA file (AES69) of impulse responses.
  case sofa(path: String)
  /// A WAV file of impulse responses, direction after direction, and a table of those directions.
  case impulseResponses(path: String, directions: String)

  public var paths: [String] {
    switch self {
    case .sofa(let path): [path]
    case .impulseResponses(let path, let directions): [path, directions]
    }
  }

  public func phrase(_ placement: Placement) -> String { "measured" }

  /// Depends on what the files contain, not on their paths.
  public func key(hash: (_ path: String) -> String) -> String {
    switch self {
    case .sofa(let path): "measured sofa \(hash(path))"
    case .impulseResponses(let path, let directions): "measured responses \(hash(path)) \(hash(directions))"
    }
  }

  public var hasEdges: Bool { true }
}
