import FilterDesign
import Testing

@Suite struct LimitedMemoryBFGSTests {
  @Test func findsTheBottomOfRosenbrocksValley() {
    let solver = LimitedMemoryBFGS(iterations: 200, tolerance: 1e-16)
    let point = solver.minimise(from: [-1.2, 1]) { point, gradient in
      let (x, y) = (point[0], point[1])
      let (a, b) = (1 - x, y - x * x)
      gradient[0] = -2 * a - 400 * x * b
      gradient[1] = 200 * b
      return a * a + 100 * b * b
    }
    #expect(abs(point[0] - 1) < 1e-5 && abs(point[1] - 1) < 1e-5)
  }

  @Test func staysWhereTheGradientVanishes() {
    let point = LimitedMemoryBFGS(iterations: 10).minimise(from: [3]) { _, gradient in
      gradient[0] = 0
      return 1
    }
    #expect(point == [3])
  }
}
