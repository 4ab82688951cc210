import Acoustics
import AudioFiles

/// A sound source that plays one voice once, stationary or moving.
public struct Talker: Sendable {
  public let voice: BandlimitedSignal
  public let path: Path
  /// Seconds after the beginning of the scene at which the talker starts. A far-field voice reaches the device's centre
  /// at this time; a voice at a distance reaches it later by its travel time.
  public let start: Double
  /// Gain at the device's centre for a far-field talker; gain at 1 m from the talker if it has a distance.
  public let gain: Decibels
  /// What is odd about the file of the voice: one sentence each.
  var remarks: [String] = []

  public init(voice: BandlimitedSignal, path: Path, start: Double = 0, gain: Decibels = Decibels(0)) {
    self.voice = voice
    self.path = path
    self.start = start
    self.gain = gain
  }

  /// A stationary far-field talker.
  /// - Parameter direction: towards the talker, in the device frame.
  public init(voice: BandlimitedSignal, direction: Direction, start: Double = 0, gain: Decibels = Decibels(0))
  {
    self.init(voice: voice, path: Path(Place(direction)), start: start, gain: gain)
  }

  /// A stationary far-field talker whose voice is one channel of `clip`.
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
  /// Seconds after the beginning of the scene at which the talker's voice ends.
  public var end: Double { start + voice.duration }
}
