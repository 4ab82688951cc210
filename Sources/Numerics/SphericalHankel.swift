import Glibc

/// Spherical Hankel functions of the second kind, h_n = j_n − j·y_n. Under e^(+jωt) they represent outgoing waves.
/// - Parameter argument: greater than zero.
/// - Returns: orders 0...`highestOrder`. Orders that overflow are infinite.
/// - Source: DLMF 10.49 (closed forms of orders 0 and 1), 10.51 (recurrence). The upward recurrence preserves the
///   relative accuracy of h, because h grows like y.
package func sphericalHankel(highestOrder: Int, argument x: Double) -> [Complex] {
  let count = max(2, highestOrder + 1)
  var h = [Complex](repeating: Complex(.infinity, .infinity), count: count)
  h[0] = Complex(sin(x) / x, cos(x) / x)
  h[1] = Complex(sin(x) / (x * x) - cos(x) / x, cos(x) / (x * x) + sin(x) / x)
  for n in 1..<count - 1 {
    let next = (Double(2 * n + 1) / x) * h[n] - h[n - 1]
    guard next.real.isFinite, next.imaginary.isFinite else { break }
    h[n + 1] = next
  }
  return Array(h[...highestOrder])
}

/// Derivatives h_n' of the spherical Hankel functions of the second kind; see `sphericalHankel`.
/// - Source: DLMF 10.51.
package func sphericalHankelDerivatives(highestOrder: Int, argument x: Double) -> [Complex] {
  let h = sphericalHankel(highestOrder: highestOrder + 1, argument: x)
  return (0...highestOrder).map { n in
    let ratio: Double = Double(n + 1) / x
    return n == 0 ? -1 * h[1] : h[n - 1] - ratio * h[n]
  }
}
