import Acoustics
import FilterDesign
import Glibc

/// What a scene's microphones hear besides its talkers.
public struct SceneNoise: Hashable, Sendable {
  /// Of each microphone itself, white and independent: RMS in decibels of full scale.
  public var sensor: Decibels?
  /// From all around, white: RMS in the free field, in decibels of full scale, at 48 kHz. Lower rates hear the part of
  /// it that is in their band.
  public var diffuse: Decibels?

  public init(sensor: Decibels? = nil, diffuse: Decibels? = nil) {
    self.sensor = sensor
    self.diffuse = diffuse
  }

  /// Plane waves that the diffuse noise is made of, alike around the device.
  static let waveCount = 48
  /// So that a scene's noise is none of its voices.
  private static let seed: UInt64 = 0x5CE7E

  /// The diffuse noise as talkers that never pause.
  func talkers(seconds: Double) -> [Talker] {
    guard let diffuse else { return [] }
    // A voice of noise has -20 dB; waves that have nothing to do with each other add their energies.
    let gain = Decibels(diffuse.value + 20 - 10 * log10(Double(Self.waveCount)))
    return fibonacciSphere(Self.waveCount).enumerated().map { n, direction in
      Talker(
        voice: Voice.noise(seconds: seconds + 2 * Self.margin, seed: Self.seed + UInt64(n)),
        direction: Direction(direction)!, start: -Self.margin, gain: gain)
    }
  }

  /// Begins before and ends after the scene for every microphone.
  private static let margin = 0.1

  func addSensorNoise(to channel: inout [Float], microphone: Int) {
    guard let sensor else { return }
    let noise = Voice.gaussian(
      count: channel.count, amplitude: sensor.amplitude, seed: ~Self.seed - UInt64(microphone))
    for n in channel.indices { channel[n] += noise[n] }
  }
}
