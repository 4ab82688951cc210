import Acoustics
import Foundation
import Manifolds
import Numerics
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
}
