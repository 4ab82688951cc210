import Acoustics
import AudioFiles

/// The sound that is checked: the beginning of a recording, with zeros for invalid samples.
struct CheckedRecording {
  let device: Device
  let sampleRate: Int
  /// Shape: `[channel][frame]`: the microphones, or all channels of the product.
  let channels: [[Float]]
  /// The channel of each microphone.
  private(set) var places: [Int]
  /// How many samples of each microphone were invalid, and the first frame with one.
  let invalid: [(count: Int, first: Int)]

  /// Shape: `[microphone][frame]`.
  var signals: [[Float]] { places.map { channels[$0] } }

  /// - Parameter channels: shape `[channel][frame]`, full scale is 1.
  init(_ channels: [[Float]], of device: Device, sampleRate: Int) throws(ArrayCheckError) {
    guard let places = device.channels(inRecordingOf: channels.count) else {
      throw .channels(channels.count, of: device)
    }
    guard Thresholds.sampleRates.contains(sampleRate) else { throw .sampleRate(sampleRate) }
    guard channels[0].count >= Thresholds.leastDuration * sampleRate else { throw .tooShort }
    let limit = ArrayCheck.framesUsed(channels: channels.count, sampleRate: sampleRate)
    let checked = channels.map { Self.valid($0, limit: limit) }
    (self.device, self.sampleRate, self.places) = (device, sampleRate, places)
    self.channels = checked.map { $0.signal }
    invalid = places.map { (checked[$0].invalid, checked[$0].first) }
  }

  /// The same channels, with every microphone on a later one, counted in a circle.
  init(_ recording: CheckedRecording, shiftedBy offset: Int) {
    self = recording
    places = recording.places.map { ($0 + offset) % recording.channels.count }
  }

  private static func valid(_ signal: [Float], limit: Int) -> (signal: [Float], invalid: Int, first: Int) {
    let beginning = signal.count > limit ? Array(signal[..<limit]) : signal
    guard let first = beginning.firstIndex(where: { !InvalidSamples.isValid($0) }) else {
      return (beginning, 0, 0)
    }
    return (
      beginning.map { InvalidSamples.isValid($0) ? $0 : 0 }, beginning.count { !InvalidSamples.isValid($0) },
      first
    )
  }
}

extension ArrayCheck {
  /// How many frames of a recording count: 60 s, and less of many channels, so that the check takes no more than some
  /// 200 MB; never less than 10 s.
  public static func framesUsed(channels: Int, sampleRate: Int) -> Int {
    let frames = Thresholds.mostSamples / max(1, channels)
    return min(Thresholds.mostDuration * sampleRate, max(10 * sampleRate, frames))
  }
}
