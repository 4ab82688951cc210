import CLapack

/// Minimises a smooth function of up to a few hundred variables, whose second derivatives are at hand.
///
/// Each iteration solves (H + μ·mean|diag H|·1) p = −g. The damping μ grows until the matrix is positive definite and
/// the step lowers the function, and shrinks where the quadratic model predicts well. Near a minimum the steps converge
/// quadratically, so the result hardly depends on the path, nor on how the arithmetic rounds. A quasi-Newton method is
/// no substitute: it builds its model of the curvature from differences of gradients along the path, and stops in flat
/// valleys at a place that rounding decides.
/// - Source: Nocedal and Wright, Numerical Optimization (2006), chapters 3.4 and 4.1; Madsen, Nielsen and Tingleff,
///   Methods for Non-linear Least Squares Problems (2004), for the control of the damping.
package struct DampedNewton {
  package let iterations: Int
  /// Stops with a step from which the model promises less than this part of the function's value.
  package let tolerance: Double

  private static let firstDamping = 1e-3
  private static let leastDamping = 1e-7
  private static let greatestDamping = 1e12
  /// Steps that are damped more than this do not end the search: they are short whatever is left to gain.
  private static let greatestFinalDamping = 1e-2

  package init(iterations: Int, tolerance: Double = 1e-12) {
    self.iterations = iterations
    self.tolerance = tolerance
  }

  /// - Parameters:
  ///   - start: where to begin.
  ///   - function: value at a point; writes the gradient and the second derivatives there. Of the latter, row by row,
  ///     the upper triangle counts.
  /// - Returns: the best point found.
  package func minimise<Failure: Error>(
    from start: [Double],
    _ function: (
      _ point: [Double], _ gradient: inout [Double], _ curvature: inout [Double]
    ) throws(Failure) -> Double
  ) throws(Failure) -> [Double] {
    let order = start.count
    var point = start
    var trial = start
    var gradient = [Double](repeating: 0, count: order)
    var nextGradient = gradient
    var curvature = [Double](repeating: 0, count: order * order)
    var nextCurvature = curvature
    var factor = curvature
    var step = gradient
    var value = try function(point, &gradient, &curvature)
    var damping = Self.firstDamping
    for _ in 0..<iterations {
      let scale = (0..<order).reduce(0) { $0 + abs(curvature[$1 * order + $1]) } / Double(order)
      var isLower = false
      while !isLower {
        guard damping <= Self.greatestDamping else { return point }
        let shift = damping * scale
        guard Self.solve(curvature, plus: shift, gradient, &step, factor: &factor) else {
          damping = max(4 * damping, Self.leastDamping)
          continue
        }
        // With (H + s)p = −g the model −gᵀp − pᵀHp/2 is −gᵀp/2 + s·pᵀp/2.
        let promise = 0.5 * (shift * Self.dot(step, step) - Self.dot(gradient, step))
        for j in trial.indices { trial[j] = point[j] + step[j] }
        if damping < Self.greatestFinalDamping, promise <= tolerance * max(abs(value), 1e-3) { return trial }
        let next = try function(trial, &nextGradient, &nextCurvature)
        let gain = value - next
        if gain > 1e-4 * promise {
          isLower = true
          if gain > 0.75 * promise {
            damping = damping > Self.leastDamping ? damping / 8 : 0
          } else if gain < 0.25 * promise {
            damping = max(2 * damping, Self.leastDamping)
          }
          swap(&point, &trial)
          swap(&gradient, &nextGradient)
          swap(&curvature, &nextCurvature)
          value = next
        } else {
          damping = max(4 * damping, Self.leastDamping)
        }
      }
    }
    return point
  }

  /// The solution of (`matrix` + `shift`·1)·x = −`right`; false where that matrix is not positive definite.
  private static func solve(
    _ matrix: [Double], plus shift: Double, _ right: [Double], _ solution: inout [Double],
    factor: inout [Double]
  ) -> Bool {
    let order = right.count
    for row in 0..<order {
      for column in row..<order { factor[row * order + column] = matrix[row * order + column] }
      factor[row * order + row] += shift
      solution[row] = -right[row]
    }
    guard Cholesky.factor(&factor, order: order) else { return false }
    Cholesky.solve(factor, order: order, &solution)
    return true
  }

  private static func dot(_ a: [Double], _ b: [Double]) -> Double {
    var sum = 0.0
    for j in a.indices { sum += a[j] * b[j] }
    return sum
  }
}
