import Acoustics
import AudioFiles

extension ImpulseResponses {
  /// A sound file with a channel per microphone: the impulse responses of one direction after the other, all equally
  /// long, and a table of the directions in that order.
  init(path: String, directions table: String) throws(DesignError) {
    let kind = "a WAV of impulse responses"
    _ = try InputFile(path: path, kind: kind)
    let directions = try DirectionTable.read(path: table)
    let (reader, samples) = try Self.samples(path: path)
    let rate = Double(reader.sampleRate)
    guard Self.sampleRates.contains(rate) else {
      throw DesignError("\(path) has a rate of \(reader.sampleRate) Hz; use 8000 to 400000 Hz")
    }
    guard !samples.isEmpty else { throw DesignError("\(path) has no sound in it; give \(kind)") }
    guard !reader.endsEarly else {
      throw DesignError("\(path) was cut off: it holds less than its header promises; copy it again")
    }
    let (channels, total) = (reader.channels, samples.count / reader.channels)
    guard total.isMultiple(of: directions.count) else {
      throw DesignError(
        "\(path) has \(total) frames, which is no multiple of the \(directions.count) directions in \(table); give as "
          + "many frames to each direction, in the order of the table")
    }
    guard samples.allSatisfy({ abs($0) < 1e6 }) else {
      throw DesignError("\(path) holds samples that are not numbers; export it again")
    }
    let frames = total / directions.count
    var values = [Double](repeating: 0, count: samples.count)
    for n in 0..<total {
      let (direction, frame) = n.quotientAndRemainder(dividingBy: frames)
      for c in 0..<channels {
        values[(direction * channels + c) * frames + frame] = Double(samples[n * channels + c])
      }
    }
    self.init(
      file: path, sampleRate: rate, directions: directions, channels: channels, frames: frames,
      values: values,
      delays: [Double](repeating: 0, count: directions.count * channels))
  }

  private static func samples(path: String) throws(DesignError) -> (AudioFileReader, [Float]) {
    let reader: AudioFileReader
    do { reader = try AudioFileReader(path: path) } catch {
      throw DesignError("\(error.description); give a WAV of impulse responses")
    }
    var samples: [Float] = []
    while true {
      let block = reader.read(frames: 16384)
      if block.isEmpty { return (reader, samples) }
      samples += block
      guard samples.count <= valueLimit else {
        throw DesignError(
          "\(path) holds more than the \(valueLimit) samples that are read; shorten its responses")
      }
    }
  }
}
