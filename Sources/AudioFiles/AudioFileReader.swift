import CSndfile
import Glibc

/// Reads an audio file of any format that libsndfile supports, as 32-bit float.
public final class AudioFileReader {
  /// More channels than any supported array has. A file that claims more is refused before memory is allocated.
  public static let channelLimit = 256

  public let path: String
  public let channels: Int
  public let sampleRate: Int
  /// Number of frames according to the header.
  public let frames: Int
  /// Whether the file is truncated: it has fewer frames than its header says.
  public let endsEarly: Bool
  private let file: OpaquePointer
  /// Nil unless the file was opened in an `OpenFolder`.
  private let source: ReadDescriptor?
  /// The file's descriptor if it was opened in an `OpenFolder`, else negative.
  package var descriptor: Int32 { source?.number ?? -1 }

  public convenience init(path: String) throws(AudioFileError) {
    // Opening a FIFO without a writer would never return.
    var status = stat()
    guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw AudioFileError("\(path) is not a regular file; give a sound file, such as WAV or FLAC")
    }
    var info = SF_INFO()
    guard let file = sf_open(path, Int32(SFM_READ), &info) else { throw Self.unreadable(path) }
    try self.init(file, info, path: path, source: nil)
  }

  /// Opens a file in a folder that may have been moved. Does not follow symbolic links.
  package convenience init(folder: OpenFolder, name: String) throws(AudioFileError) {
    let descriptor = folder.open(name, O_RDONLY)
    guard descriptor >= 0 else {
      let reason = errno
      throw AudioFileError("cannot read \(folder.path(of: name)): \(String(cString: strerror(reason)))")
    }
    var status = stat()
    var info = SF_INFO()
    let source = ReadDescriptor(descriptor)
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      let file = openForReading(source, &info)
    else {
      let error = Self.unreadable(folder.path(of: name))
      close(descriptor)
      throw error
    }
    try self.init(file, info, path: folder.path(of: name), source: source)
  }

  private static func unreadable(_ path: String) -> AudioFileError {
    AudioFileError("cannot read \(path): \(lastError(nil)); give a sound file, such as WAV or FLAC")
  }

  private init(
    _ file: OpaquePointer, _ info: SF_INFO, path: String, source: ReadDescriptor?
  ) throws(AudioFileError) {
    guard (1...Self.channelLimit).contains(Int(info.channels)), info.samplerate > 0, info.frames >= 0 else {
      sf_close(file)
      if let source { close(source.number) }
      throw AudioFileError(
        "cannot read \(path): its header claims \(info.channels) channels at \(info.samplerate) Hz")
    }
    self.file = file
    self.path = path
    self.source = source
    channels = Int(info.channels)
    sampleRate = Int(info.samplerate)
    frames = Int(info.frames)
    endsEarly = Self.isTruncated(file)
  }

  deinit {
    sf_close(file)
    if descriptor >= 0 { close(descriptor) }
  }

  /// Reads the next frames, interleaved. Fewer than `count` only at the end of the file.
  /// - Throws: if the disk fails, which libsndfile otherwise presents as the end of the file.
  public func read(frames count: Int) throws(AudioFileError) -> [Float] {
    try read(count) { sf_readf_float(file, $0, $1) }
  }

  /// Reads the next frames as integers scaled to 32 bits. Samples with fewer bits are exact.
  /// - Throws: as `read(frames:)`.
  func readIntegers(frames count: Int) throws(AudioFileError) -> [Int32] {
    try read(count) { sf_readf_int(file, $0, $1) }
  }

  private func read<Sample>(
    _ count: Int, _ read: (UnsafeMutablePointer<Sample>, sf_count_t) -> sf_count_t
  ) throws(AudioFileError) -> [Sample] {
    let samples = [Sample](unsafeUninitializedCapacity: count * channels) { buffer, filled in
      filled = Int(max(0, read(buffer.baseAddress!, sf_count_t(count)))) * channels
    }
    guard samples.count < count * channels else { return samples }
    if let error = source?.error, error != 0 {
      throw AudioFileError("cannot read \(path) to its end: \(String(cString: strerror(error)))")
    }
    guard sf_error(file) == 0 else {
      throw AudioFileError("cannot read \(path) to its end: \(Self.lastError(file))")
    }
    return samples
  }

  /// Continues reading at `frame`.
  public func seek(toFrame frame: Int) throws(AudioFileError) {
    guard sf_seek(file, sf_count_t(frame), Int32(SEEK_SET)) == frame else {
      throw AudioFileError("cannot find frame \(frame) in \(path)")
    }
  }

  /// Whether the file is truncated. libsndfile reads the samples that exist and reports the truncation only in its log.
  private static func isTruncated(_ file: OpaquePointer) -> Bool {
    var log = [CChar](repeating: 0, count: 16384)
    guard sf_command(file, Int32(SFC_GET_LOG_INFO), &log, Int32(log.count - 1)) > 0 else { return false }
    let text = String(decoding: log.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.split(separator: "\n").contains {
      $0.drop { $0 == " " }.hasPrefix("data") && $0.contains("should be")
    }
  }

  static func lastError(_ file: OpaquePointer?) -> String {
    let text = String(cString: sf_strerror(file)).replacing("System error : ", with: "")
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}

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
    var channels = [[Float]](repeating: [], count: reader.channels)
    while true {
      let block = try reader.read(frames: 16384)
      if block.isEmpty { break }
      for channel in 0..<reader.channels {
        channels[channel].append(
          contentsOf: stride(from: channel, to: block.count, by: reader.channels).lazy.map { block[$0] })
      }
    }
    self.init(sampleRate: reader.sampleRate, channels: channels)
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
  public func write(wav path: String) throws(AudioFileError) {
    let writer = try AudioFileWriter(
      path: path, channels: channels.count, sampleRate: sampleRate)
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
