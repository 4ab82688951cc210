import CLapack

/// Damped Newton method (Levenberg–Marquardt damping): minimises a smooth function of up to a few hundred variables
/// with known second derivatives.
///
/// Each iteration solves (H + μ·mean|diag H|·1) p = −g. The damping μ grows until the matrix is positive definite and
/// the step lowers the function. It shrinks where the quadratic model predicts well.
///
/// Near a minimum the steps converge quadratically, so the result hardly depends on the path or on rounding. A
/// quasi-Newton method is no substitute. It estimates the curvature from gradient differences along the path, and stops
/// in flat valleys at a point that depends on rounding.
/// - Source: Nocedal and Wright, Numerical Optimization (2006), chapters 3.4 and 4.1; Madsen, Nielsen and Tingleff,
///   Methods for Non-linear Least Squares Problems (2004), for the control of the damping.
package struct DampedNewton {
  package let iterations: Int
  /// Stops when the model predicts a reduction smaller than this fraction of the function's value. The default is a few
  /// rounding errors: the point found then does not depend on the start's rounding.
  package let tolerance: Double

  private static let initialDamping = 1e-3
  private static let minimumDamping = 1e-7
  private static let maximumDamping = 1e12
  /// Steps with more damping than this never end the search: strong damping makes them short even far from a minimum.
  private static let maximumFinalDamping = 1e-2

  package init(iterations: Int, tolerance: Double = 1e-15) {
    self.iterations = iterations
    self.tolerance = tolerance
  }

  /// - Parameters:
  ///   - start: the initial point.
  ///   - function: returns the value at a point, and writes the gradient and the Hessian there. Only the Hessian's
  ///     upper triangle is used, in row-major order.
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
    var damping = Self.initialDamping
    for _ in 0..<iterations {
      let scale = (0..<order).reduce(0) { $0 + abs(curvature[$1 * order + $1]) } / Double(order)
      var isAccepted = false
      while !isAccepted {
        guard damping <= Self.maximumDamping else { return point }
        let shift = damping * scale
        guard Self.solve(curvature, plus: shift, gradient, &step, factor: &factor) else {
          damping = max(4 * damping, Self.minimumDamping)
          continue
        }
        // With (H + s)p = −g, the predicted reduction −gᵀp − pᵀHp/2 equals −gᵀp/2 + s·pᵀp/2.
        let predictedReduction = 0.5 * (shift * Self.dot(step, step) - Self.dot(gradient, step))
        for j in trial.indices { trial[j] = point[j] + step[j] }
        if damping < Self.maximumFinalDamping, predictedReduction <= tolerance * max(abs(value), 1e-3) {
          return trial
        }
        let next = try function(trial, &nextGradient, &nextCurvature)
        let reduction = value - next
        if reduction > 1e-4 * predictedReduction {
          isAccepted = true
          if reduction > 0.75 * predictedReduction {
            damping = damping > Self.minimumDamping ? damping / 8 : 0
          } else if reduction < 0.25 * predictedReduction {
            damping = max(2 * damping, Self.minimumDamping)
          }
          swap(&point, &trial)
          swap(&gradient, &nextGradient)
          swap(&curvature, &nextCurvature)
          value = next
        } else {
          damping = max(4 * damping, Self.minimumDamping)
        }
      }
    }
    return point
  }

  /// Solves (`matrix` + `shift`·1)·x = −`right`.
  /// - Returns: false if that matrix is not positive definite.
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
