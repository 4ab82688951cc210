import Foundation

/// A complex number, laid out as LAPACK and BLAS expect it.
package struct Complex: Hashable, Sendable {
  package var real: Double
  package var imaginary: Double

  package static let zero = Complex(0, 0)
  package static let one = Complex(1, 0)

  package init(_ real: Double, _ imaginary: Double) {
    self.real = real
    self.imaginary = imaginary
  }

  /// e^(j·phase), phase in radians.
  package init(phase: Double) { self.init(cos(phase), sin(phase)) }

  package var conjugate: Complex { Complex(real, -imaginary) }
  package var squaredMagnitude: Double { real * real + imaginary * imaginary }
  package var magnitude: Double { squaredMagnitude.squareRoot() }
  package var phase: Double { atan2(imaginary, real) }
  /// The number of the same phase and magnitude 1; 1 for zero.
  package var direction: Complex {
    let magnitude = magnitude
    return magnitude > 0 ? Complex(real / magnitude, imaginary / magnitude) : .one
  }

  package static func + (a: Complex, b: Complex) -> Complex {
    Complex(a.real + b.real, a.imaginary + b.imaginary)
  }
  package static func - (a: Complex, b: Complex) -> Complex {
    Complex(a.real - b.real, a.imaginary - b.imaginary)
  }
  package static func * (a: Complex, b: Complex) -> Complex {
    Complex(a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real)
  }
  package static func * (a: Double, b: Complex) -> Complex { Complex(a * b.real, a * b.imaginary) }
  package static func / (a: Complex, b: Complex) -> Complex {
    (1 / b.squaredMagnitude) * (a * b.conjugate)
  }
  package static func += (a: inout Complex, b: Complex) { a = a + b }
  package static func *= (a: inout Complex, b: Complex) { a = a * b }
}
