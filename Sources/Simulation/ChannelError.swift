import Acoustics
import Glibc

/// What is wrong with one channel of a simulated array: a plug in the wrong socket, a broken cable, a capsule that
/// deviates. Applied after everything else, the sensor noise included.
public struct ChannelError: Hashable, Sendable {
  /// The microphone whose signal the channel carries; nil for its own.
  public var carries: Int?
  public var isDead: Bool
  public var deviation: Deviation
  /// Fraction of full scale.
  public var offset: Double
  /// Level of 50 Hz and its multiples.
  public var hum: Decibels?
  /// Level at which the channel clips.
  public var clip: Decibels?

  public init(
    carries: Int? = nil, isDead: Bool = false, deviation: Deviation = .none, offset: Double = 0,
    hum: Decibels? = nil, clip: Decibels? = nil
  ) {
    self.carries = carries
    self.isDead = isDead
    self.deviation = deviation
    self.offset = offset
    self.hum = hum
    self.clip = clip
  }

  /// Offsets that a scene can have, as a fraction of full scale.
  static let offsetRange = -0.5...0.5
  /// In dB and seconds.
  static let gainRange = -60.0...60.0
  static let delayRange = -0.01...0.01

  /// The signals of an array with `errors` in its channels.
  /// - Parameter rate: sample rate in hertz.
  static func applied(_ errors: [Int: ChannelError], to channels: [[Float]], rate: Int) -> [[Float]] {
    channels.indices.map { m in
      guard let error = errors[m] else { return channels[m] }
      guard !error.isDead else { return [Float](repeating: 0, count: channels[m].count) }
      var channel = channels[error.carries ?? m].deviating(by: error.deviation, rate: rate)
      if let hum = error.hum {
        let amplitude = hum.amplitude
        for n in channel.indices {
          let phase = 2 * .pi * 50 * Double(n) / Double(rate)
          channel[n] += Float(amplitude * (sin(phase) + 0.5 * sin(2 * phase) + 0.5 * sin(3 * phase)))
        }
      }
      if let clip = error.clip {
        let limit = Float(clip.amplitude)
        for n in channel.indices { channel[n] = min(limit, max(-limit, channel[n])) }
      }
      return error.offset == 0 ? channel : channel.map { $0 + Float(error.offset) }
    }
  }
}
