import Numerics
import Testing

@Suite("The damped Newton method") struct DampedNewtonTests {
  @Test("the minimum of Rosenbrock's valley is found") func valley() {
    let point = DampedNewton(iterations: 50).minimise(from: [-1.2, 1]) { point, gradient, curvature in
      let (x, y) = (point[0], point[1])
      let (a, b) = (1 - x, y - x * x)
      gradient[0] = -2 * a - 400 * x * b
      gradient[1] = 200 * b
      curvature[0] = 2 - 400 * b + 800 * x * x
      curvature[1] = -400 * x
      curvature[3] = 200
      return a * a + 100 * b * b
    }
    #expect(abs(point[0] - 1) < 1e-8 && abs(point[1] - 1) < 1e-8)
  }

  @Test("a saddle point is left downhill") func saddle() {
    // x²/2 + y⁴/4 − y²/2 has its saddle at the origin, and minima at y = ±1.
    let point = DampedNewton(iterations: 50).minimise(from: [1, 1e-3]) { point, gradient, curvature in
      let (x, y) = (point[0], point[1])
      gradient = [x, y * y * y - y]
      curvature = [1, 0, 0, 3 * y * y - 1]
      return x * x / 2 + y * y * y * y / 4 - y * y / 2
    }
    #expect(abs(point[0]) < 1e-6 && abs(point[1] - 1) < 1e-6)
  }

  @Test("the search stops where the gradient vanishes") func stationaryPoint() {
    let point = DampedNewton(iterations: 10).minimise(from: [3]) { _, gradient, curvature in
      gradient[0] = 0
      curvature[0] = 0
      return 1
    }
    #expect(point == [3])
  }
}
