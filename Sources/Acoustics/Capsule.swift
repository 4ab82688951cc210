/// The directivity of a microphone that is not omnidirectional: α + (1 − α) cos θ, with θ from where it faces.
public struct Capsule: Hashable, Sendable {
  /// α: 0 for a figure of eight, 0.5 for a cardioid, 1 for an omnidirectional capsule.
  public let omnidirectionalPart: Double
  /// In the device frame.
  public let facing: Direction

  public init(omnidirectionalPart: Double, facing: Direction) {
    self.omnidirectionalPart = omnidirectionalPart
    self.facing = facing
  }

  /// Amplitude factor for a plane wave; negative where the capsule inverts.
  /// - Parameter direction: unit vector towards the source, in the device frame.
  public func sensitivity(from direction: SIMD3<Double>) -> Double {
    omnidirectionalPart + (1 - omnidirectionalPart) * direction.dot(facing.vector)
  }
}
