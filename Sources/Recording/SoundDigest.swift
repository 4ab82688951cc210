import AudioFiles

/// A hash of blocks of a file's sound, spread from its beginning to its end. What the file says beside its sound, such as a
/// title, does not change it.
///
/// Thread: any; waits for the disk.
struct SoundDigest {
  let text: String

  private static let (blocks, blockFrames) = (16, 512)

  /// Nil if the file cannot be read.
  init?(of path: String) {
    guard let reader = try? AudioFileReader(path: path), let frames = reader.frames else { return nil }
    var hash = ContentHash()
    let last = max(0, frames - Self.blockFrames)
    for n in 0..<Self.blocks {
      let first = last / (Self.blocks - 1) * n + last % (Self.blocks - 1) * n / (Self.blocks - 1)
      guard (try? reader.seek(toFrame: first)) != nil,
        let samples = try? reader.read(frames: min(Self.blockFrames, frames))
      else { return nil }
      for sample in samples {
        let bits = sample.bitPattern
        hash.add((0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) })
      }
    }
    text = hash.digits
  }
}
