/// A whole audio file in memory.
public struct AudioClip: Sendable {
  public let sampleRate: Int
  /// Shape: `[channel][frame]`.
  public var channels: [[Float]]
  public var frames: Int { channels.first?.count ?? 0 }
  /// Whether the file that it was read from is truncated.
  public private(set) var endsEarly = false

  public init(sampleRate: Int, channels: [[Float]]) {
    self.sampleRate = sampleRate
    self.channels = channels
  }

  /// Reads `path` to its end, regardless of the length in its header.
  public init(path: String) throws(AudioFileError) {
    let reader = try AudioFileReader(path: path)
    self.init(sampleRate: reader.sampleRate, channels: try reader.channels(frames: .max))
    endsEarly = reader.endsEarly
  }

  /// The samples in the order of a file: frame by frame.
  package var interleaved: [Float] {
    var interleaved = [Float](repeating: 0, count: frames * channels.count)
    for (c, channel) in channels.enumerated() {
      for (n, sample) in channel.enumerated() { interleaved[n * channels.count + c] = sample }
    }
    return interleaved
  }

  /// Writes the clip as 32-bit float WAV. After an error no file is left.
  /// - Parameter areMicrophones: as for `AudioFileWriter`.
  public func write(
    wav path: String, areMicrophones: Bool = false, broadcast: BroadcastExtension? = nil
  ) throws(AudioFileError) {
    let writer = try AudioFileWriter(
      path: path, channels: channels.count, sampleRate: sampleRate, areMicrophones: areMicrophones,
      broadcast: broadcast)
    do {
      try interleaved.withUnsafeBufferPointer { (buffer) throws(AudioFileError) in
        try writer.write(buffer)
      }
    } catch {
      writer.abandon()
      throw error
    }
    try writer.close()
  }
}
