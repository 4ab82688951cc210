import Acoustics
import AudioFiles
import Numerics

extension ImpulseResponses {
  /// Reads impulse responses from a sound file and a table of directions.
  /// - Parameters:
  ///   - path: a file with one channel per microphone. The responses of all directions follow one another and have the
  ///     same length.
  ///   - table: the directions in the same order; see `DirectionTable`.
  package init(path: String, directions table: String) throws(DesignError) {
    let kind = "a WAV of impulse responses"
    _ = try InputFile.measurement(path, kind: kind)
    let directions = try DirectionTable.read(path: table)
    let (reader, samples) = try Self.samples(path: path)
    let rate = Double(reader.sampleRate)
    guard Self.sampleRates.contains(rate) else {
      throw DesignError("\(path) has a sample rate of \(reader.sampleRate) Hz; use 8000 to 400000 Hz")
    }
    guard !samples.isEmpty else { throw DesignError("\(path) contains no samples; give \(kind)") }
    guard !reader.endsEarly else {
      throw DesignError("\(path) is truncated: it is shorter than its header says; copy it again")
    }
    let (channels, total) = (reader.channels, samples.count / reader.channels)
    guard total.isMultiple(of: directions.count) else {
      throw DesignError(
        "\(path) has \(total) frames, which is not a multiple of the \(directions.count) directions in \(table); use "
          + "the same number of frames for each direction, in the order of the table")
    }
    guard samples.allSatisfy({ abs($0) < 1e6 }) else {
      throw DesignError(
        "\(path) contains invalid samples (NaN, infinity, or above +120 dBFS); export it again")
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
      delays: [Double](repeating: 0, count: directions.count * channels), remark: reader.headerRemark)
  }

  private static func samples(path: String) throws(DesignError) -> (AudioFileReader, [Float]) {
    let reader: AudioFileReader
    do { reader = try AudioFileReader(path: path) } catch {
      throw DesignError("\(error.description); give a WAV of impulse responses")
    }
    var samples: [Float] = []
    while true {
      let block: [Float]
      do { block = try reader.read(frames: 16384) } catch { throw DesignError(error.description) }
      if block.isEmpty { return (reader, samples) }
      samples += block
      guard samples.count <= valueLimit else {
        throw DesignError(
          "\(path) contains more than \(valueLimit) samples, the maximum; shorten its impulse responses")
      }
    }
  }
}
