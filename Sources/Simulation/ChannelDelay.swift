import Acoustics
import AudioFiles

/// Moves the source of a recording to another direction by applying the free-field delay of each channel.
public struct ChannelDelay: Sendable {
  /// Microphone position of each channel, in metres.
  public let positions: [Position]

  public init(positions: [Position]) { self.positions = positions }

  /// Seconds by which to advance each channel so that a source in direction `old` appears in direction `new`.
  public func leads(from old: Direction, to new: Direction) -> [Double] {
    positions.map { PlaneWave.lead(at: $0, from: new) - PlaneWave.lead(at: $0, from: old) }
  }

  /// Returns `clip` with its source moved from direction `old` to `new`. The length is unchanged.
  public func apply(to clip: AudioClip, from old: Direction, to new: Direction) -> AudioClip {
    precondition(clip.channels.count == positions.count, "one position per channel")
    let channels = zip(clip.channels, leads(from: old, to: new)).map { samples, lead in
      BandlimitedSignal(samples: samples, sampleRate: clip.sampleRate)
        .sampled(rate: clip.sampleRate, count: samples.count, start: lead)
    }
    return AudioClip(sampleRate: clip.sampleRate, channels: channels)
  }
}
