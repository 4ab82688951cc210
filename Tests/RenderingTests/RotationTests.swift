import Acoustics
import FilterDesign
import Foundation
import Rendering
import TestSupport
import Testing

@Suite("Poses of B-format") struct RotationTests {
  /// The harmonics of ACN order 0 to 8 in SN3D, written out.
  /// - Parameter d: forward, left, up.
  private static func harmonics(_ d: SIMD3<Double>) -> [Double] {
    let (x, y, z) = (d.x, d.y, d.z)
    let r = 3.0.squareRoot()
    return [
      1, y, z, x, r * x * y, r * y * z, (3 * z * z - 1) / 2, r * x * z, r / 2 * (x * x - y * y),
    ]
  }

  @Test("rotated B-format equals that of the rotated scene within -60 dB")
  func scene() throws {
    var noise = SeededNoise(seed: 5)
    let frame = try #require(HeadFrame(forward: .plusZ, orientation: .landscapeLeft))
    for _ in 0..<20 {
      let pose = Pose(
        roll: Double.random(in: -180...180, using: &noise), yaw: Double.random(in: -180...180, using: &noise))
      let gains = HarmonicRotation.gains(order: 2, pose: pose, of: frame)
      let direction = try #require(
        Direction([
          Double.random(in: -1...1, using: &noise), Double.random(in: -1...1, using: &noise),
          Double.random(in: -1...1, using: &noise),
        ]))
      let before = Self.harmonics(frame.head(fromDevice: direction.vector))
      let wanted = Self.harmonics(frame.turned(by: pose).head(fromDevice: direction.vector))
      for (row, wanted) in zip(gains, wanted) {
        #expect(abs(zip(row, before).reduce(0) { $0 + $1.0 * $1.1 } - wanted) < 1e-9)
      }
    }
  }

  @Test(
    "a listener who turns to the left hears at the right what was ahead; a device whose left side is up stays level"
  )
  func signs() throws {
    let frame = try #require(HeadFrame(forward: .plusZ, orientation: .portrait))
    let turned = frame.turned(by: Pose(yaw: 90))
    #expect((turned.forward.vector - frame.left.vector).length < 1e-12)
    let ahead = turned.head(fromDevice: frame.forward.vector)
    #expect((ahead - [0, -1, 0]).length < 1e-12)
    // The left side is up: what is up in the room is at the device's left.
    let rolled = frame.turned(by: Pose(roll: 90))
    #expect((rolled.up.vector - frame.left.vector).length < 1e-12)
    #expect(rolled.forward == frame.forward)
  }

  @Test("angles are taken around the circle, and the poses mixed for one have gains that sum to 1")
  func neighbours() {
    #expect(Pose(roll: 190, yaw: -180) == Pose(roll: -170, yaw: 180))
    #expect(Pose(roll: 360) == .none)
    let mixed = Pose(roll: 12, yaw: -3).neighbours
    #expect(
      Set(mixed.map(\.pose)) == [
        Pose(roll: 10, yaw: -5), Pose(roll: 10), Pose(roll: 15, yaw: -5), Pose(roll: 15),
      ])
    #expect(abs(mixed.reduce(0) { $0 + $1.gain } - 1) < 1e-12)
    #expect(mixed.first { $0.pose == Pose(roll: 10, yaw: -5) }.map { abs($0.gain - 0.36) < 1e-12 } ?? false)
    // On the way to no angles, yaw goes first.
    #expect(Pose(roll: 7, yaw: -5).inward == Pose(roll: 7) && Pose(roll: 7).inward == Pose(roll: 5))
    #expect(Pose(roll: 5).inward == .some(.none) && Pose.none.inward == nil)
  }
}
