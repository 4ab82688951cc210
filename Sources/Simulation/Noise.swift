import Acoustics
import Glibc
import Numerics

/// The noise in a scene.
public struct SceneNoise: Hashable, Sendable {
  /// Sensor noise: white and independent in each microphone. RMS level in dBFS.
  public var sensor: Decibels?
  /// Diffuse-field noise: white, from all directions. RMS level in the free field in dBFS, at 48 kHz; at lower sample
  /// rates only the part within their band remains.
  public var diffuse: Decibels?

  public init(sensor: Decibels? = nil, diffuse: Decibels? = nil) {
    self.sensor = sensor
    self.diffuse = diffuse
  }

  /// The number of plane waves that make up the diffuse noise, spread evenly over the sphere.
  static let waveCount = 48
  /// Far from the seeds of noise voices, which count from 1, so that the signals are independent.
  private static let seed: UInt64 = 0x5CE7E

  /// The diffuse noise, as talkers that speak for the whole scene.
  func talkers(seconds: Double) -> [Talker] {
    guard let diffuse else { return [] }
    // A noise voice has an RMS level of -20 dBFS. Uncorrelated waves add in energy.
    let gain = Decibels(diffuse.value + 20 - 10 * log10(Double(Self.waveCount)))
    return fibonacciSphere(Self.waveCount).enumerated().map { n, direction in
      Talker(
        voice: Voice.noise(seconds: seconds + 2 * Self.margin, seed: Self.seed + UInt64(n)),
        direction: Direction(direction)!, start: -Self.margin, gain: gain)
    }
  }

  /// In seconds: the noise starts earlier and ends later than the scene, so that it covers it at every microphone.
  private static let margin = 0.1

  func addSensorNoise(to channel: inout [Float], microphone: Int) {
    guard let sensor else { return }
    let noise = Voice.gaussian(
      count: channel.count, amplitude: sensor.amplitude, seed: ~Self.seed - UInt64(microphone))
    for n in channel.indices { channel[n] += noise[n] }
  }
}
