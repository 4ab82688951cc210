import Acoustics
import AudioFiles

/// Somebody far away who stands still and says something once.
public struct Talker: Sendable {
  public let voice: BandlimitedSignal
  /// Towards the talker, in the device frame.
  public let direction: Direction
  /// Seconds after the scene's beginning at which the voice reaches the device's centre.
  public let start: Double
  public let gain: Decibels

  public init(voice: BandlimitedSignal, direction: Direction, start: Double = 0, gain: Decibels = Decibels(0))
  {
    self.voice = voice
    self.direction = direction
    self.start = start
    self.gain = gain
  }

  /// A talker with the voice of one channel of `clip`.
  public init(
    voice clip: AudioClip, channel: Int = 0, direction: Direction, start: Double = 0,
    gain: Decibels = Decibels(0)
  ) {
    self.init(
      voice: BandlimitedSignal(samples: clip.channels[channel], sampleRate: clip.sampleRate),
      direction: direction, start: start, gain: gain)
  }

  /// Seconds after the scene's beginning at which the voice falls silent.
  public var end: Double { start + voice.duration }
}
