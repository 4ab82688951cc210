import Acoustics
import FilterBanks
import FilterDesign
import Foundation
import Manifolds
import Numerics
import TestSupport
import Testing

@Suite("Capsules, cylinders and deviations") struct CapsuleTests {
  @Test("a cardioid capsule hears all of the front, half of the side and nothing from behind") func cardioid()
  {
    let capsule = Capsule(omnidirectionalPart: 0.5, facing: .plusX)
    let manifold = FreeFieldManifold(positions: [[0, 0, 0]], capsules: [capsule])
    let responses = manifold.responses(
      from: [[1, 0, 0], [0, 1, 0], [-1, 0, 0]], frequencies: [100, 10_000])
    for f in 0..<2 {
      #expect(abs(responses[f, 0, 0].real - 1) < 1e-12)
      #expect(abs(responses[f, 0, 1].real - 0.5) < 1e-12)
      #expect(responses[f, 0, 2].magnitude < 1e-12)
    }
  }

  struct CylinderPoint: Sendable {
    let frequency: Double
    let direction: SIMD3<Double>
    /// Of the two microphones.
    let wanted: [Complex]
  }

  /// Incident plus scattered field with the cylindrical functions of scipy (`Tests/Golden/cylinder.py`).
  static let points = [
    CylinderPoint(
      frequency: 200, direction: [0, 0, 1],
      wanted: [Complex(0.955405388, 0.397941015), Complex(0.969050175, -0.131873328)]),
    CylinderPoint(
      frequency: 200, direction: [0.6, 0.64, 0.48],
      wanted: [Complex(0.969787792, 0.239252698), Complex(0.990539844, 0.074199662)]),
    CylinderPoint(
      frequency: 3000, direction: [0.6, 0.64, 0.48],
      wanted: [Complex(-1.024205488, 1.339146207), Complex(1.545328107, 0.150057201)]),
    CylinderPoint(
      frequency: 3000, direction: [-0.8, 0, -0.6],
      wanted: [Complex(-0.347281763, -0.869499312), Complex(0.006778262, -0.999138559)]),
    CylinderPoint(
      frequency: 16_000, direction: [0, 0, 1],
      wanted: [Complex(-1.042898156, 1.698823302), Complex(0.759446641, -0.253540486)]),
    CylinderPoint(
      frequency: 16_000, direction: [0.6, 0.64, 0.48],
      wanted: [Complex(-0.236415437, -1.872959059), Complex(1.611611244, -0.792095813)]),
  ]

  @Test("the field on a rigid cylinder is the sum of incident and scattered waves", arguments: points)
  func cylinder(point: CylinderPoint) {
    let manifold = RigidCylinderManifold(
      positions: [[0, 0.02, 0.05], [0.05 * sin(2.0), -0.03, 0.05 * cos(2.0)]], radius: 0.05)
    let responses = manifold.responses(from: [point.direction], frequencies: [point.frequency])
    for m in 0..<2 { #expect((responses[0, m, 0] - point.wanted[m]).magnitude < 1e-7) }
  }

  @Test("along its axis a cylinder has no effect") func alongTheAxis() {
    let cylinder = RigidCylinderManifold(positions: [[0, 0.1, 0.05]], radius: 0.05)
    let free = FreeFieldManifold(positions: [[0, 0.1, 0.05]])
    let frequencies = [100.0, 5000]
    for direction in [SIMD3<Double>(0, 1, 0), [0, -1, 0]] {
      let (a, b) = (
        cylinder.responses(from: [direction], frequencies: frequencies),
        free.responses(from: [direction], frequencies: frequencies)
      )
      for f in 0..<2 { #expect((a[f, 0, 0] - b[f, 0, 0]).magnitude < 1e-4) }
    }
  }

  @Test("a design for late, loud and inverted microphones gives what one for the array without them gives")
  func deviations() throws {
    let device = Banks.ring7.device
    let deviations = Dictionary(
      uniqueKeysWithValues: device.microphones.enumerated().map { m, microphone in
        (
          microphone.name,
          Deviation(gain: Decibels(Double(m) - 3), delay: Double(m - 3) * 21e-6, isInverted: m == 2)
        )
      })
    let source = DataSource(
      name: "Front", id: 1, location: nil, orientation: .front, forward: .plusZ,
      microphones: [6, 0, 1, 2, 3, 4, 5], polarPatterns: [.omnidirectional, .cardioid, .figureEight],
      stereoOrientations: [])
    let nominal = try device.with(dataSources: [source])
    let real = nominal.with(calibration: Calibration(deviations: deviations, date: "", method: ""))
    let (wanted, found) = (try bank(nominal), try bank(real).undoing(real.deviations))
    let free = FreeFieldManifold(device.microphones)
    let late = DeviatingManifold(free, deviations: real.deviations)
    // Below the crossover, where the match is unique.
    let frequencies = stride(from: 100.0, to: 2000, by: 171).map(\.self)
    for (a, b) in zip(wanted.cases, found.cases) {
      let (a, b) = (outputs(a, free, frequencies), outputs(b, late, frequencies))
      let energy = a.values.reduce(0) { $0 + $1.squaredMagnitude }
      // Phases above the crossover and the delay of one microphone alone are free.
      let error = zip(a.values, b.values).reduce(0) { $0 + pow($1.0.magnitude - $1.1.magnitude, 2) }
      #expect(10 * log10(error / energy) < -20)
    }
    // Without a delay only factors change.
    let factors = real.deviations.map { Deviation(gain: $0.gain, isInverted: $0.isInverted) }
    let loud = DeviatingManifold(free, deviations: factors)
    for (a, b) in zip(wanted.cases, wanted.undoing(factors).cases) {
      let (a, b) = (outputs(a, free, frequencies), outputs(b, loud, frequencies))
      let error = zip(a.values, b.values).reduce(0) { $0 + ($1.0 - $1.1).squaredMagnitude }
      #expect(error < 1e-9 * a.values.reduce(0) { $0 + $1.squaredMagnitude })
    }
  }

  private func bank(_ device: Device) throws -> FilterBank {
    useSingleThreadedBLAS()
    return try FilterBank.design(device: device, sampleRate: 48_000)
  }

  private func outputs(
    _ coefficients: FilterCoefficients, _ manifold: any ArrayManifold, _ frequencies: [Double]
  ) -> ResponseGrid {
    FilterResponse(taps: coefficients.taps, sampleRate: 48_000, delayFrames: 64, frequencies: frequencies)
      .outputs(manifold, from: fibonacciSphere(50))
  }
}
