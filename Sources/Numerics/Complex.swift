import Glibc

/// A complex number with the memory layout that LAPACK and BLAS expect: real part, imaginary part.
///
/// `@frozen @usableFromInline`, with stored properties that are `@usableFromInline`: else other modules call its operators
/// (Swift 6.3), which keeps the loops around them scalar.
@frozen @usableFromInline package struct Complex: Hashable, Sendable {
  @usableFromInline package var real: Double
  @usableFromInline package var imaginary: Double

  @inlinable package static var zero: Complex { Complex(0, 0) }
  @inlinable package static var one: Complex { Complex(1, 0) }

  @inlinable package init(_ real: Double, _ imaginary: Double) {
    self.real = real
    self.imaginary = imaginary
  }

  /// e^(j·phase), phase in radians.
  @inlinable package init(phase: Double) { self.init(cos(phase), sin(phase)) }

  @inlinable package var conjugate: Complex { Complex(real, -imaginary) }
  @inlinable package var squaredMagnitude: Double { real * real + imaginary * imaginary }
  @inlinable package var magnitude: Double { squaredMagnitude.squareRoot() }
  @inlinable package var phase: Double { atan2(imaginary, real) }
  /// The complex number of magnitude 1 and the same phase; 1 for zero.
  @inlinable package var direction: Complex {
    let magnitude = magnitude
    return magnitude > 0 ? Complex(real / magnitude, imaginary / magnitude) : .one
  }

  @inlinable package static func + (a: Complex, b: Complex) -> Complex {
    Complex(a.real + b.real, a.imaginary + b.imaginary)
  }
  @inlinable package static func - (a: Complex, b: Complex) -> Complex {
    Complex(a.real - b.real, a.imaginary - b.imaginary)
  }
  @inlinable package static func * (a: Complex, b: Complex) -> Complex {
    Complex(a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real)
  }
  @inlinable package static func * (a: Double, b: Complex) -> Complex { Complex(a * b.real, a * b.imaginary) }
  @inlinable package static func / (a: Complex, b: Complex) -> Complex {
    (1 / b.squaredMagnitude) * (a * b.conjugate)
  }
  @inlinable package static func += (a: inout Complex, b: Complex) { a = a + b }
  @inlinable package static func *= (a: inout Complex, b: Complex) { a = a * b }
}
