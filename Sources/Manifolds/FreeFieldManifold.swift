import Acoustics
import Numerics

/// Array manifold of microphones in the free field: p = e^(+jk d·r), times the directivity of the capsule.
/// - Source: Van Trees, Optimum Array Processing (2002), section 2.2.
package struct FreeFieldManifold: ArrayManifold {
  package let positions: [Position]
  /// One per microphone; nil for an omnidirectional one.
  private let capsules: [Capsule?]

  /// - Parameter capsules: nil if all microphones are omnidirectional.
  package init(positions: [Position], capsules: [Capsule?]? = nil) {
    self.positions = positions
    self.capsules = capsules ?? [Capsule?](repeating: nil, count: positions.count)
    precondition(self.capsules.count == positions.count, "one capsule per microphone")
  }

  package init(_ microphones: [Microphone]) {
    self.init(positions: microphones.map(\.position), capsules: microphones.map(\.capsule))
  }

  package func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    let lead = positions.flatMap { position in directions.map { $0.dot(position) / speedOfSound } }
    let sensitivity =
      capsules.contains { $0 != nil }
      ? capsules.flatMap { capsule in directions.map { capsule?.sensitivity(from: $0) ?? 1 } } : nil
    var phasors = Phasors(delays: lead)
    return ResponseGrid(
      frequencies: frequencies.count, channels: positions.count, directions: directions.count
    ) { values in
      for (f, frequency) in frequencies.enumerated() {
        phasors.advance(to: frequency)
        let row = values + f * lead.count
        phasors.values.withUnsafeBufferPointer { row.update(from: $0.baseAddress!, count: lead.count) }
        sensitivity?.withUnsafeBufferPointer { sensitivity in
          for i in 0..<lead.count { row[i] = sensitivity[i] * row[i] }
        }
      }
    }
  }
}

extension FreeField: BodyManifold {
  func manifold(for device: Device, step: DesignStep) -> any ArrayManifold {
    FreeFieldManifold(device.microphones)
  }
}
