import Acoustics
import Foundation
import Manifolds
import Numerics
import TestSupport
import Testing

/// A15: talkers near the array.
@Suite("Point sources") struct NearFieldTests {
  static let positions: [Position] = [[0.03, 0, 0.01], [-0.05, 0.04, 0], [0, -0.07, 0.02]]
  static let directions = fibonacciSphere(60)
  static let frequencies = [60, 250, 1000, 4000, 10_000.0]

  @Test("A15: without a body, the field of a point source is e^(-jkr)/r", arguments: [0.3, 0.5, 1])
  func free(distance: Double) {
    let near = NearFieldManifold(
      FreeFieldManifold(positions: Self.positions), radius: 0.08, distance: distance)
    let found = near.responses(from: Self.directions, frequencies: Self.frequencies)
    var wanted = found
    for (f, frequency) in Self.frequencies.enumerated() {
      for (m, position) in Self.positions.enumerated() {
        for (d, direction) in Self.directions.enumerated() {
          let path = (distance * direction - position).length
          wanted[f, m, d] =
            distance / path * Complex(phase: -2 * .pi * frequency / speedOfSound * (path - distance))
        }
      }
    }
    for level in errorLevels(found, wanted) { #expect(level < -40, "\(level)") }
  }

  // The series of a rigid sphere for a source at its distance: Duda and Martens (1998), equation 1.
  @Test("A15: around a rigid sphere, the field is that of the series for a point source")
  func sphere() {
    let (radius, distance) = (0.0875, 0.3)
    let positions: [Position] = [[radius, 0, 0], [0, 0, radius]]
    let base = RigidSphereManifold(positions: positions, radius: radius)
    let found = NearFieldManifold(base, radius: radius, distance: distance).responses(
      from: Self.directions, frequencies: Self.frequencies)
    var wanted = found
    for (f, frequency) in Self.frequencies.enumerated() {
      let k = 2 * .pi * frequency / speedOfSound
      let orders = Int(k * radius) + 25
      let far = sphericalHankel(highestOrder: orders, argument: k * distance)
      let slopes = sphericalHankelDerivatives(highestOrder: orders, argument: k * radius)
      for m in positions.indices {
        for (d, direction) in Self.directions.enumerated() {
          let cosine = direction.dot(positions[m] / radius)
          var (p0, p1, sum) = (1.0, cosine, Complex.zero)
          for n in 0...orders {
            let term = Double(2 * n + 1) * p0 * (far[n] / slopes[n])
            if term.real.isFinite && term.imaginary.isFinite { sum += term }
            (p0, p1) = (p1, (Double(2 * n + 3) * cosine * p1 - Double(n + 1) * p0) / Double(n + 2))
          }
          // Relative to the free field e^(-jkρ)/ρ at the centre.
          wanted[f, m, d] = (-distance / (k * radius * radius)) * (sum * Complex(phase: k * distance))
        }
      }
    }
    for level in errorLevels(found, wanted) { #expect(level < -30, "\(level)") }
  }
}
