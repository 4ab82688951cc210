import Acoustics
import Foundation
import Manifolds
import Numerics

/// The error of the mesh that designs use, per octave, against a mesh with many times as many panels (A11).
struct MeshErrors {
  /// Edge lengths in millimetres.
  let name: String
  /// The end of the band that the mesh carries, in hertz.
  let highestFrequency: Double
  /// Keyed by octave centre in hertz: energy of the error relative to that of the responses, in dB.
  let errors: [Int: Double]
  private let isTooLarge: Bool

  static let centres = [1000, 2000, 4000, 8000, 16_000]

  /// −30 dB to 8 kHz and −22 dB to 16 kHz, in every octave. A box too large for panels of 4.5 mm has −22 dB in all octaves
  /// that it is modelled in, at least those to 4 kHz.
  var isReached: Bool {
    Self.centres.allSatisfy { centre in
      guard let error = errors[centre] else { return isTooLarge && centre > 4000 }
      return error <= (centre <= 8000 && !isTooLarge ? -30 : -22)
    }
  }

  /// The bodies of the table: a phone, a tablet, a small cube, and a cube too large for panels of 4.5 mm.
  static func bodies(phone: Device) throws -> [MeshErrors] {
    [
      try MeshErrors([0.072, 0.147, 0.008], positions: phone.microphones.map(\.position)),
      try MeshErrors([0.24, 0.17, 0.007]), try MeshErrors([0.06, 0.06, 0.06]),
      try MeshErrors([0.3, 0.3, 0.3], isTooLarge: true),
    ]
  }

  /// - Parameters:
  ///   - size: edge lengths in metres.
  ///   - positions: of the microphones, in metres; nil for six on three faces.
  ///   - isTooLarge: whether panels of 4.5 mm are too many for the box.
  init(_ size: SIMD3<Double>, positions: [Position]? = nil, isTooLarge: Bool = false) throws {
    self.isTooLarge = isTooLarge
    name = (0..<3).map { String(Int(size[$0] * 1000)) }.joined(separator: " × ")
    let positions = positions ?? Self.positions(on: size)
    let designs = try BoxManifold(positions: positions, size: size)
    let converged = try BoxManifold(positions: positions, size: size, parameters: Self.converged)
    highestFrequency = designs.band.upperBound
    let directions = fibonacciSphere(200)
    var errors: [Int: Double] = [:]
    for centre in Self.centres {
      let edge = 2.0.squareRoot()
      // Both meshes are solved at these frequencies, so that nothing is interpolated.
      let frequencies = stride(from: 750.0, through: min(16_500, highestFrequency), by: 750).filter {
        $0 > Double(centre) / edge && $0 <= Double(centre) * edge
      }
      guard !frequencies.isEmpty else { continue }
      let found = designs.responses(from: directions, frequencies: frequencies)
      let expected = converged.responses(from: directions, frequencies: frequencies)
      var (error, energy) = (0.0, 0.0)
      for (a, b) in zip(found.values, expected.values) {
        error += (a - b).squaredMagnitude
        energy += b.squaredMagnitude
      }
      errors[centre] = 10 * log10(error / energy)
    }
    self.errors = errors
  }

  /// Panels of a third of the designs' width, or as many as fit.
  private static var converged: DesignParameters.Box {
    var box = DesignParameters.Box(panelWidth: 0.0015)
    box.maximumPanelCount = 1600
    box.frequencyCount = 32
    return box
  }

  private static func positions(on size: SIMD3<Double>) -> [Position] {
    [
      [1, 0.3, 0.1], [-1, 0.7, 0], [0.2, 0.5, 1], [-0.6, -0.8, 1], [0.1, -0.3, -1], [0.4, 1, 0.2],
    ].map { (place: Position) in place * size / 2 }
  }
}
