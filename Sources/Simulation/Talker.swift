import Acoustics
import AudioFiles

/// Somebody who says something once, standing or moving.
public struct Talker: Sendable {
  public let voice: BandlimitedSignal
  public let path: Path
  /// Seconds after the scene's beginning at which the talker begins. A voice from far away reaches the device's
  /// centre at that moment, one at a distance as much later as sound takes.
  public let start: Double
  /// At the device's centre for a voice from far away; for one at a distance, at 1 m from it.
  public let gain: Decibels

  public init(voice: BandlimitedSignal, path: Path, start: Double = 0, gain: Decibels = Decibels(0)) {
    self.voice = voice
    self.path = path
    self.start = start
    self.gain = gain
  }

  /// A talker far away who stands still.
  /// - Parameter direction: towards the talker, in the device frame.
  public init(voice: BandlimitedSignal, direction: Direction, start: Double = 0, gain: Decibels = Decibels(0))
  {
    self.init(voice: voice, path: Path(Place(direction)), start: start, gain: gain)
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

  /// Towards the talker at its start, in the device frame.
  public var direction: Direction { path.place(at: 0).direction }
  /// Seconds after the scene's beginning at which the talker falls silent.
  public var end: Double { start + voice.duration }
}
