import Acoustics
import FilterDesign
import Glibc
import Numerics

/// What the channels of B-format reach, per octave from 125 Hz to 8 kHz.
///
/// Octaves are keyed by their centre in hertz. A channel or an order *lives* in the octaves in which its correlation is at
/// least `CaseCriteria.leastCorrelation`.
public struct AmbisonicsFigures: Codable, Hashable, Sendable {
  public struct Channel: Codable, Hashable, Sendable {
    /// "W", "Y", "Z", "X", then its ACN number.
    public let name: String
    /// Of the pattern that is reached with the spherical harmonic, as it is heard at the origin: 1 is exact.
    public let correlation: [Int: Double]
    /// Level in a diffuse field, relative to the harmonic's.
    public let levelDB: [Int: Double]
    /// Maximum from 100 Hz to 16 kHz of the output noise of microphones with noise of unit power, relative to the
    /// harmonic's level in a diffuse field of unit power.
    public let noiseDB: Double?
    /// The array does not hear it at all: its filters are zeros.
    public let isSilent: Bool

    /// The octaves in which it lives, upwards.
    public var octaves: [Int] { living(correlation) }
  }

  public struct Order: Codable, Hashable, Sendable {
    public let order: Int
    /// Mean over its channels; for an array in a plane, over those that do not change their sign with height.
    public let correlation: [Int: Double]
    /// The lowest and the highest octave in which it lives, in hertz; nil if there is none.
    public let fromHz: Int?
    public let toHz: Int?
    /// The lowest octave in which its channels are at most 3 dB softer in a diffuse field than their harmonics, on average;
    /// below, the array is too small for the wavelength. Nil if there is none.
    public let atLevelFromHz: Int?

    /// The octaves in which it lives, upwards.
    public var octaves: [Int] { living(correlation) }
  }

  /// The point at which it is heard, in millimetres in the device frame: x, y, z.
  public let originMM: [Double]
  /// In ACN order.
  public let channels: [Channel]
  public let orders: [Order]

  /// Whether height is silent: Z, and all channels that change their sign with it.
  public var isHorizontal: Bool { channels[2].isSilent }

  package init(_ reading: HarmonicReading, frequencies: [Double]) {
    let octaves = HarmonicOctaves(frequencies)
    func series(_ values: [Double]) -> [Int: Double] {
      Dictionary(uniqueKeysWithValues: zip(octaves.centres, values))
    }
    let origin = reading.view.origin
    originMM = [origin.x, origin.y, origin.z].map { ($0 * 10_000).rounded() / 10 + 0 }
    let noisy = frequencies.indices.filter { frequencies[$0] >= 100 && frequencies[$0] <= 16_000 }
    let channels = reading.correlations.indices.map { channel in
      let energy = octaves.means { reading.energies[channel][$0] }
      let isSilent = reading.noise[channel].allSatisfy { $0 == 0 }
      return Channel(
        name: SphericalHarmonicTargets.name(channel),
        correlation: series(octaves.means { reading.correlations[channel][$0] }),
        levelDB: isSilent ? [:] : series(energy.map { 10 * log10($0 + 1e-12) }),
        noiseDB: isSilent ? nil : noisy.map { 10 * log10(reading.noise[channel][$0] + 1e-12) }.max(),
        isSilent: isSilent)
    }
    self.channels = channels
    orders = (0...reading.view.order).map { order in
      let heard = (order * order..<(order + 1) * (order + 1)).filter {
        !channels[$0].isSilent || !SphericalHarmonicTargets.changesSignWithHeight($0)
      }
      let correlation = series(
        octaves.centres.map { centre in mean(heard.map { channels[$0].correlation[centre]! }) })
      let lives = living(correlation)
      let loud = octaves.centres.first { centre in
        mean(heard.map { pow(10, (channels[$0].levelDB[centre] ?? -120) / 10) }) >= 0.5
      }
      return Order(
        order: order, correlation: correlation, fromHz: lives.first, toHz: lives.last, atLevelFromHz: loud)
    }
  }
}

/// The octaves whose correlation is high enough, upwards.
private func living(_ correlation: [Int: Double]) -> [Int] {
  correlation.filter { $0.value >= CaseCriteria.leastCorrelation }.keys.sorted()
}
