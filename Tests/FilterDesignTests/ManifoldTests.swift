import Acoustics
import Foundation
import Manifolds
import Numerics
import Synchronization
import Testing

@Suite("Closed-form manifolds") struct ManifoldTests {
  @Test("a microphone nearer to the source leads") func lead() {
    let manifold = FreeFieldManifold(positions: [[0, 0, 0.1], [0, 0, -0.1]])
    let response = manifold.responses(from: [[0, 0, 1]], frequencies: [100])
    // 100 mm of 3.43 m is 10.496 degrees.
    let lead = 2 * Double.pi * 0.1 / 3.43
    #expect(abs(response[0, 0, 0].phase - lead) < 1e-12)
    #expect(abs(response[0, 1, 0].phase + lead) < 1e-12)
  }

  @Test("a rigid sphere scatters as the oracle computes") func sphereOracle() {
    let golden = Goldens.all.sphere
    let manifold = RigidSphereManifold(positions: [[0, 0, 0.0875]], radius: 0.0875)
    let directions = golden.angles.map { [sin($0 * .pi / 180), 0, cos($0 * .pi / 180)] as SIMD3<Double> }
    let response = manifold.responses(from: directions, frequencies: golden.frequencies)
    for f in golden.frequencies.indices {
      for d in directions.indices {
        let expected = Complex(golden.real[f][d], golden.imaginary[f][d])
        #expect((response[f, 0, d] - expected).magnitude < 2e-5)
      }
    }
  }

  @Test("a rigid sphere has no effect at low frequencies and doubles the pressure at high ones")
  func sphereLimits() {
    let manifold = RigidSphereManifold(positions: [[0, 0.0875, 0]], radius: 0.0875)
    let response = manifold.responses(from: [[0, 1, 0], [0, -1, 0]], frequencies: [0, 20_000])
    #expect((response[0, 0, 0] - .one).magnitude < 0.01)
    #expect((response[0, 0, 1] - .one).magnitude < 0.01)
    #expect(abs(response[1, 0, 0].magnitude - 2) < 0.05)
  }

  @Test("the Fibonacci sphere has no preferred direction") func directions() {
    let sphere = fibonacciSphere(1200)
    let mean = sphere.reduce(SIMD3<Double>.zero, +) / 1200
    #expect(mean.length < 1e-3)
    #expect(sphere.allSatisfy { abs($0.length - 1) < 1e-12 })
    for axis in 0..<3 {
      let moment = sphere.reduce(0.0) { $0 + $1[axis] * $1[axis] } / 1200
      #expect(abs(moment - 1.0 / 3) < 1e-3)
    }
  }

  @Test("each point of the cubed sphere stands for the same solid angle")
  func solidAngles() {
    let sphere = cubedSphere(1200)
    #expect(sphere.count == 1176 && sphere.allSatisfy { abs($0.length - 1) < 1e-12 })
    // Shares of caps, (1 − cos θ) / 2, and of slices.
    for axis: SIMD3<Double> in [[0, 0, 1], [0.6, 0, 0.8], [0.36, 0.48, 0.8]] {
      for height in stride(from: -0.9, through: 0.9, by: 0.3) {
        let share = Double(sphere.count { $0.dot(axis) > height }) / 1176
        #expect(abs(share - (1 - height) / 2) < 0.012)
      }
    }
  }

  @Test(
    "responses that cases share are the array's own, for every listener whose head is turned by right angles")
  func shared() throws {
    let array = RigidSphereManifold(positions: [[0, 0, 0.05], [0.03, 0.04, 0]], radius: 0.05)
    let (sphere, frequencies) = (cubedSphere(150), [0.0, 1000, 4000])
    let counting = CountingArray(array: array)
    let shared = try SharedManifold(counting, sphere: sphere, frequencies: frequencies, step: .unobserved)
    #expect(counting.asked.withLock { $0 } == sphere.count)
    for forward: SIMD3<Double> in [[1, 0, 0], [0, 0, 1], [0, 0, -1], [0, -1, 0]] {
      let direction = try #require(Direction(forward))
      for orientation in InputOrientation.allCases {
        guard let frame = HeadFrame(forward: direction, orientation: orientation) else { continue }
        let directions = sphere.map(frame.device(fromHead:))
        let expected = array.responses(from: directions, frequencies: frequencies)
        let found = try shared.responses(from: directions, frequencies: frequencies, step: .unobserved)
        #expect(zip(found.values, expected.values).allSatisfy { ($0 - $1).magnitude < 1e-9 })
      }
    }
    #expect(counting.asked.withLock { $0 } == sphere.count)
    let others = [SIMD3(0.6, 0, 0.8)]
    let expected = array.responses(from: others, frequencies: frequencies)
    let found = try shared.responses(from: others, frequencies: frequencies, step: .unobserved)
    #expect(found.values == expected.values)
  }
}

/// Counts the directions that it is asked for.
private final class CountingArray: ArrayManifold {
  let array: RigidSphereManifold
  let asked = Mutex(0)
  var positions: [Position] { array.positions }

  init(array: RigidSphereManifold) { self.array = array }

  func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    asked.withLock { $0 += directions.count }
    return array.responses(from: directions, frequencies: frequencies)
  }
}
