import Acoustics
import AudioFiles

/// Moves a recording's source to another direction, by delaying channel after channel as the free field would.
public struct ChannelDelay: Sendable {
  /// Positions of the microphones, channel by channel, in metres.
  public let positions: [Position]

  public init(positions: [Position]) { self.positions = positions }

  /// Seconds by which each channel has to come earlier for a source in direction `old` to seem to be in `new`.
  public func leads(from old: Direction, to new: Direction) -> [Double] {
    positions.map { PlaneWave.lead(at: $0, from: new) - PlaneWave.lead(at: $0, from: old) }
  }

  /// `clip`, whose source is in direction `old`, as if the source were in direction `new`; of the same length.
  public func apply(to clip: AudioClip, from old: Direction, to new: Direction) -> AudioClip {
    precondition(clip.channels.count == positions.count, "one position per channel")
    let channels = zip(clip.channels, leads(from: old, to: new)).map { samples, lead in
      BandlimitedSignal(samples: samples, sampleRate: clip.sampleRate)
        .sampled(rate: clip.sampleRate, count: samples.count, start: lead)
    }
    return AudioClip(sampleRate: clip.sampleRate, channels: channels)
  }
}
