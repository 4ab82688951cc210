import Acoustics
import Numerics

/// The spherical harmonics of B-format: ACN channel order, SN3D normalisation; x is the frame's forward, y left, z up.
/// W is 1 everywhere, and the channels of first order are y, z and x.
package struct SphericalHarmonicTargets: Sendable {
  package let order: Int
  /// Unit vectors of the device frame.
  package let directions: [SIMD3<Double>]
  /// Shape `[channel][direction]`, flat.
  package let values: [Double]

  package init(order: Int, frame: HeadFrame, directions: [SIMD3<Double>]) {
    self.order = order
    self.directions = directions
    let count = (order + 1) * (order + 1)
    let harmonics = realSphericalHarmonics(order: order, at: directions.map(frame.head(fromDevice:)))
    values = (0..<count).flatMap { channel in
      let normalisation = (4 * Double.pi * Self.diffuseEnergy(channel)).squareRoot()
      return directions.indices.map { normalisation * harmonics[$0 * count + channel] }
    }
  }

  package var channels: Int { (order + 1) * (order + 1) }

  /// The degree l of a channel, which is an order of B-format.
  package static func degree(_ channel: Int) -> Int { Int(Double(channel).squareRoot()) }

  /// The mean energy of a channel over all directions, 1 / (2l + 1): its level in a diffuse field.
  package static func diffuseEnergy(_ channel: Int) -> Double { 1 / Double(2 * degree(channel) + 1) }

  /// Whether a channel is 0 at the horizon and has opposite signs above and below, as Z does.
  package static func changesSignWithHeight(_ channel: Int) -> Bool {
    let degree = degree(channel)
    return !(channel - degree * (degree + 1) + degree).isMultiple(of: 2)
  }

  /// "W", "Y", "Z", "X", then the channel number.
  package static func name(_ channel: Int) -> String {
    channel < 4 ? ["W", "Y", "Z", "X"][channel] : "\(channel)"
  }

  /// The harmonics as heard at `origin`: a wave from direction d reaches it d·origin / c before the frame's origin.
  /// - Returns: shape `[channel][direction]`, flat.
  package func heard(at origin: Position, frequency: Double) -> [Complex] {
    let wavenumber = 2 * .pi * frequency / speedOfSound
    let count = directions.count
    return [Complex](unsafeUninitializedCapacity: values.count) { heard, size in
      size = values.count
      values.withUnsafeBufferPointer { values in
        // Two at a time; the last one of an odd number twice.
        for d in stride(from: 0, to: count, by: 2) {
          let next = min(d + 1, count - 1)
          let (cosine, sine) = Turns.cosineAndSine(
            wavenumber * SIMD2(directions[d].dot(origin), directions[next].dot(origin)))
          let (a, b) = (Complex(cosine.x, sine.x), Complex(cosine.y, sine.y))
          for row in stride(from: 0, to: values.count, by: count) {
            heard[row + d] = values[row + d] * a
            heard[row + next] = values[row + next] * b
          }
        }
      }
    }
  }

  /// The same with the harmonics in each direction times its factor.
  package func scaled(by factors: [Double]) -> SphericalHarmonicTargets {
    SphericalHarmonicTargets(
      order: order, directions: directions,
      values: values.indices.map { values[$0] * factors[$0 % factors.count] })
  }

  private init(order: Int, directions: [SIMD3<Double>], values: [Double]) {
    (self.order, self.directions, self.values) = (order, directions, values)
  }
}
