import Acoustics
import FilterBanks
import FilterDesign
import Glibc
import Manifolds
import Numerics

/// The patterns of B-format's channels per octave beside their spherical harmonics: the data of their plots.
///
/// Each channel is shown in a plane in which its harmonic is loud: the horizontal one, or a vertical one if it is 0 at
/// the horizon, as Z is.
struct HarmonicCurves: Sendable {
  struct Channel: Sendable {
    /// "W", "Y", "Z", "X", then its ACN number.
    let name: String
    /// Where the vertical plane meets the horizon, in degrees to the left of forward; nil for the horizontal plane.
    let planeAzimuth: Double?
    /// Level of the mean power over the octave in decibels, `[octave][angle]`. 0 dB is the harmonic's maximum in the plane.
    let levels: [[Double]]
    let targetLevels: [Double]
    /// The array does not hear it at all: its filters are zeros.
    let isSilent: Bool
  }

  /// Degrees: 0, 2.5 … 357.5. In the horizontal plane counter-clockwise from forward, in a vertical one upwards from the
  /// horizon.
  let angles = stride(from: 0.0, to: 360, by: 2.5).map(\.self)
  /// Centres in hertz.
  let octaves: [Int]
  /// In ACN order.
  let channels: [Channel]

  /// - Parameters:
  ///   - coefficients: a case of B-format of `bank`.
  ///   - device: the device that `bank` was designed for.
  ///   - manifold: of the device.
  init(
    _ coefficients: FilterCoefficients, bank: FilterBank, device: Device, manifold: any ArrayManifold
  ) throws(DesignError) {
    let filterCase = coefficients.filterCase
    guard let order = filterCase.polarPattern.ambisonicsOrder,
      let source = device.dataSources.first(where: { $0.name == filterCase.dataSource }),
      let orientation = filterCase.inputOrientation,
      let frame = HeadFrame(forward: source.forward, orientation: orientation)
    else { throw DesignError("\(filterCase) is not B-format of \(device.name)") }
    let grid = DesignGrid(sampleRate: bank.sampleRate).frequencies
    let octaves = HarmonicOctaves(grid)
    let response = FilterResponse(
      taps: coefficients.taps, sampleRate: bank.sampleRate, delayFrames: bank.delayFrames, frequencies: grid)

    let planes = (0..<(order + 1) * (order + 1)).map(Self.plane)
    var channels = [Channel?](repeating: nil, count: planes.count)
    for plane in Set(planes) {
      let directions = angles.map { frame.device(fromHead: Self.direction($0, in: plane)) }
      let reached = response.outputs(manifold, from: directions)
      let harmonics = SphericalHarmonicTargets(order: order, frame: frame, directions: directions)
      for channel in planes.indices where planes[channel] == plane {
        let target = harmonics.values[channel * directions.count..<(channel + 1) * directions.count]
        let peak = target.map(\.magnitude).max()!
        let powers = directions.indices.map { d in
          octaves.means { reached[$0, channel, d].squaredMagnitude / (peak * peak) }
        }
        channels[channel] = Channel(
          name: SphericalHarmonicTargets.name(channel), planeAzimuth: plane,
          levels: octaves.centres.indices.map { octave in powers.map { Self.level($0[octave]) } },
          targetLevels: target.map { Self.level($0 * $0 / (peak * peak)) },
          isSilent: powers.joined().allSatisfy { $0 == 0 })
      }
    }
    self.octaves = octaves.centres
    self.channels = channels.map { $0! }
  }

  private static func level(_ power: Double) -> Double { 10 * log10(power + 1e-12) }

  /// The azimuth of the plane in which a channel is shown, in degrees; nil for the horizontal plane. Of degree m, a
  /// harmonic follows cos(mφ), or sin(|m|φ) for negative m.
  private static func plane(_ channel: Int) -> Double? {
    guard SphericalHarmonicTargets.changesSignWithHeight(channel) else { return nil }
    let degree = SphericalHarmonicTargets.degree(channel)
    let m = channel - degree * (degree + 1)
    return m < 0 ? -90 / Double(m) : 0
  }

  /// Forward, left, up.
  private static func direction(_ angle: Double, in plane: Double?) -> SIMD3<Double> {
    guard let plane else { return sphericalUnit(azimuth: .degrees(angle), elevation: .degrees(0)) }
    let (radians, turn) = (angle * .pi / 180, plane * .pi / 180)
    return [cos(radians) * cos(turn), cos(radians) * sin(turn), sin(radians)]
  }
}
