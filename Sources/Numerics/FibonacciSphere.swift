import Glibc

/// A Fibonacci lattice: `count` unit vectors spread evenly over the sphere, each for the same solid angle.
/// - Source: González, Measurement of areas on a sphere using Fibonacci lattices (2010).
package func fibonacciSphere(_ count: Int) -> [SIMD3<Double>] {
  (0..<count).map { i in
    let z = 1 - (2 * Double(i) + 1) / Double(count)
    let angle = .pi * (1 + 5.0.squareRoot()) * (Double(i) + 0.5)
    let radius = (1 - z * z).squareRoot()
    return [radius * cos(angle), radius * sin(angle), z]
  }
}
