extension AudioFileWriter {
  /// Appends the file's channels out of frames that have more. NaN and infinity become silence.
  /// - Parameters:
  ///   - span: the file's channels among those of a frame.
  ///   - frames: whole interleaved frames of `width` channels.
  /// - Returns: how many samples became silence.
  package func write(
    _ span: Range<Int>, of frames: UnsafeBufferPointer<Float>, width: Int
  ) throws(AudioFileError) -> Int {
    var silenced = 0
    var selected: [Float] = []
    selected.reserveCapacity(frames.count / width * span.count)
    for start in stride(from: 0, to: frames.count, by: width) {
      for channel in span {
        let sample = frames[start + channel]
        if !sample.isFinite { silenced += 1 }
        selected.append(sample.isFinite ? sample : 0)
      }
    }
    try write(selected)
    return silenced
  }
}
