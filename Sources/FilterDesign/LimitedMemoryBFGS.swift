/// Minimises a smooth function of a few dozen variables.
/// - Source: Nocedal and Wright, Numerical Optimization (2006), algorithm 7.4 (two-loop recursion); line search
///   by bisection to the weak Wolfe conditions after Lewis and Overton, Nonsmooth optimization via quasi-Newton
///   methods (2013).
package struct LimitedMemoryBFGS {
  package let iterations: Int
  /// Steps remembered.
  let memory = 10
  /// Stops once an iteration lowers the function by less than this part of it.
  package let tolerance: Double

  package init(iterations: Int, tolerance: Double = 1e-8) {
    self.iterations = iterations
    self.tolerance = tolerance
  }

  private struct Step {
    let move: [Double]
    let turn: [Double]
    let inverseProduct: Double
  }

  /// - Parameters:
  ///   - start: where to begin.
  ///   - function: value at a point; writes the gradient there.
  /// - Returns: the best point found.
  package func minimise<Failure: Error>(
    from start: [Double],
    _ function: (_ point: [Double], _ gradient: inout [Double]) throws(Failure) -> Double
  ) throws(Failure) -> [Double] {
    var point = start
    var gradient = [Double](repeating: 0, count: start.count)
    var value = try function(point, &gradient)
    var steps: [Step] = []
    for _ in 0..<iterations {
      var direction = Self.direction(gradient, steps)
      var slope = Self.dot(direction, gradient)
      if slope >= 0 {
        steps = []
        direction = gradient.map { -$0 }
        slope = -Self.dot(gradient, gradient)
      }
      let length = steps.isEmpty ? min(1, 1 / max((-slope).squareRoot(), 1e-300)) : 1
      guard slope < 0,
        let found = try Self.search(
          from: point, value, along: direction, slope: slope, first: length, function)
      else { break }
      let move = zip(found.point, point).map { $0 - $1 }
      let turn = zip(found.gradient, gradient).map { $0 - $1 }
      let product = Self.dot(move, turn)
      if product > 1e-300 {
        if steps.count == memory { steps.removeFirst() }
        steps.append(Step(move: move, turn: turn, inverseProduct: 1 / product))
      }
      let gained = value - found.value
      (point, gradient, value) = (found.point, found.gradient, found.value)
      if gained <= tolerance * max(abs(value), 1e-3) { break }
    }
    return point
  }

  private static func direction(_ gradient: [Double], _ steps: [Step]) -> [Double] {
    var result = gradient.map { -$0 }
    var shares = [Double](repeating: 0, count: steps.count)
    for (i, step) in steps.enumerated().reversed() {
      shares[i] = step.inverseProduct * dot(step.move, result)
      for j in result.indices { result[j] -= shares[i] * step.turn[j] }
    }
    if let last = steps.last {
      let scale = 1 / (last.inverseProduct * dot(last.turn, last.turn))
      for j in result.indices { result[j] *= scale }
    }
    for (i, step) in steps.enumerated() {
      let share = shares[i] - step.inverseProduct * dot(step.turn, result)
      for j in result.indices { result[j] += share * step.move[j] }
    }
    return result
  }

  private static func search<Failure: Error>(
    from point: [Double], _ value: Double, along direction: [Double], slope: Double, first: Double,
    _ function: (_ point: [Double], _ gradient: inout [Double]) throws(Failure) -> Double
  ) throws(Failure) -> (point: [Double], gradient: [Double], value: Double)? {
    var (low, high, length) = (0.0, Double.infinity, first)
    var trial = point
    var gradient = point
    var best: (point: [Double], gradient: [Double], value: Double)?
    for _ in 0..<20 {
      for j in trial.indices { trial[j] = point[j] + length * direction[j] }
      let reached = try function(trial, &gradient)
      if !(reached <= value + 1e-4 * length * slope) {
        high = length
      } else {
        best = (trial, gradient, reached)
        if dot(gradient, direction) >= 0.9 * slope { return best }
        low = length
      }
      length = high.isFinite ? (low + high) / 2 : 2 * low
    }
    return best
  }

  private static func dot(_ a: [Double], _ b: [Double]) -> Double {
    var sum = 0.0
    for j in a.indices { sum += a[j] * b[j] }
    return sum
  }
}
