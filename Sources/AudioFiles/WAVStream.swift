import Glibc
import Threads

/// Writes WAV with 32-bit float samples to standard output, frame after frame. A pipe cannot be corrected later, so the
/// header says that the length is unknown, as ffmpeg's does; that of a file is corrected at the end.
///
/// Thread: one thread makes all calls. Each call waits for the reader of the pipe.
final class WAVStream {
  static let name = "standard output"

  let channels: Int
  private let sampleRate: Int
  private(set) var framesWritten = 0
  /// Where the header stands in a file; nil in a pipe.
  private let start: Int?
  private let header: [UInt8]
  private var hasHeader = false

  init(channels: Int, sampleRate: Int, comment: String?) {
    self.channels = channels
    self.sampleRate = sampleRate
    header = Self.header(channels: channels, sampleRate: sampleRate, comment)
    var status = stat()
    let isFile = fstat(STDOUT_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    let canCorrect = isFile && fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND == 0
    start = canCorrect ? Int(lseek(STDOUT_FILENO, 0, SEEK_CUR)) : nil
  }

  /// - Source: Microsoft, "Multiple channel audio data and WAVE files". More than two channels belong to no loudspeakers.
  private static func header(channels: Int, sampleRate: Int, _ comment: String?) -> [UInt8] {
    let isExtensible = channels > 2
    let format =
      number(isExtensible ? 0xFFFE : 3, 2) + number(channels, 2) + number(sampleRate, 4)
      + number(4 * channels * sampleRate, 4) + number(4 * channels, 2) + number(32, 2)
      + (isExtensible
        ? number(22, 2) + number(32, 2) + number(0, 4) + number(3, 2)
          + [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
        : number(0, 2))
    let information = comment.map(SoundContainer.information)
    let list = information.map { Array("LIST".utf8) + number($0.count, 4) + $0 } ?? []
    return Array("RIFF".utf8) + number(-1, 4) + Array("WAVEfmt ".utf8) + number(format.count, 4) + format
      + list + Array("data".utf8) + number(-1, 4)
  }

  private static func number(_ value: Int, _ bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  /// Appends whole interleaved frames; the first ones bring the header.
  func write(_ interleaved: [Float]) throws(AudioFileError) {
    if !hasHeader { try put(header) }
    hasHeader = true
    try put(interleaved.withUnsafeBytes { Array($0) })
    framesWritten += interleaved.count / channels
  }

  private func put(_ bytes: [UInt8]) throws(AudioFileError) {
    guard !Descriptor.writeAll(bytes, to: STDOUT_FILENO) else { return }
    let reason = errno
    throw AudioFileError(
      reason == EPIPE
        ? "the program that reads \(Self.name) ended after \(framesWritten) frames; the rest was not written"
        : "\(Self.name) could not be written to its end: \(String(cString: strerror(reason)))")
  }

  /// Completes the header, where that is possible.
  func close() throws(AudioFileError) {
    if !hasHeader { try put(header) }
    let bytes = 4 * framesWritten * channels
    guard let start, header.count + bytes <= Int(UInt32.max) else { return }
    for (place, length) in [(4, header.count - 8 + bytes), (header.count - 4, bytes)] {
      pwrite(STDOUT_FILENO, Self.number(length, 4), 4, off_t(start + place))
    }
  }
}
