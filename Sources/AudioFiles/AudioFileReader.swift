import CSndfile
import Glibc

/// Reads an audio file of any format that libsndfile supports, as 32-bit float: all the sound that is in it, whatever
/// its header says. It reads from the beginning to the end, one block at a time.
public final class AudioFileReader {
  /// More channels than any supported array has. A file that claims more is refused before memory is allocated.
  public static let channelLimit = 256

  public let path: String
  public let channels: Int
  public let sampleRate: Int
  /// Number of frames in the file. Of a compressed file it is what the header says until it has been read to its end;
  /// nil if that says nothing, and of standard input.
  public private(set) var frames: Int?
  /// What says that the channels are B-format, and no microphones: "its AmbiX chunk". Nil if nothing does.
  public var ambisonics: String? {
    if let mark = header?.ambisonics { return mark }
    if pipe?.isNamedAmbisonics == true || comment.map(AmbisonicFormat.isNamed(inText:)) == true {
      return "its comment"
    }
    return broadcast.map { AmbisonicFormat.isNamed(inText: $0.description) } == true ? "its description" : nil
  }
  /// When and what was recorded; nil if the file does not say.
  public var broadcast: BroadcastExtension? {
    BroadcastExtension(of: file) ?? VorbisComments(descriptor).flatMap(BroadcastExtension.init)
  }
  /// The comment in the file; nil if it has none.
  public var comment: String? { sf_get_string(file, Int32(SF_STR_COMMENT)).map { String(cString: $0) } }
  /// The title of the scene if this is standard input, and `pinna simulate` wrote it.
  public var simulatedScene: String? {
    pipe.flatMap { BroadcastExtension.simulatedScene(described: $0.description) }
  }
  public private(set) var invalidSamples: InvalidSamples
  /// Frames read so far, or the frame that was sought.
  public private(set) var position = 0
  private let header: SoundHeader?
  private let file: OpaquePointer
  private let source: ReadDescriptor
  private var pipe: PipedSound? { source as? PipedSound }
  package var descriptor: Int32 { source.number }

  public convenience init(path: String) throws(AudioFileError) {
    // Opening a FIFO without a writer would never return.
    var status = stat()
    guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw AudioFileError("\(path) is not a regular file; give a sound file, such as WAV or FLAC")
    }
    try self.init(descriptor: open(path, O_RDONLY | O_CLOEXEC), path: path)
  }

  /// Opens a file in a folder that may have been moved. Does not follow symbolic links.
  package convenience init(folder: OpenFolder, name: String) throws(AudioFileError) {
    try self.init(descriptor: folder.open(name, O_RDONLY), path: folder.path(of: name))
  }

  /// Opens standard input, which is a WAV file, in a pipe or not. Waits for its header.
  /// - Parameter isWanted: asked while nothing comes. If it returns false, reading fails.
  public convenience init(standardInputWhile isWanted: @escaping () -> Bool) throws(AudioFileError) {
    let pipe = try PipedSound(STDIN_FILENO, while: isWanted)
    try self.init(source: pipe, pipe.header, path: PipedSound.name)
  }

  /// - Parameter descriptor: the result of opening the file. This object closes it.
  private convenience init(descriptor: Int32, path: String) throws(AudioFileError) {
    guard descriptor >= 0 else { throw Self.unreadable(path, String(cString: strerror(errno))) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw Self.unreadable(path, "it is not a regular file")
    }
    let header = SoundHeader(descriptor, size: Int(status.st_size))
    try self.init(source: ReadDescriptor(descriptor, header: header), header, path: path)
  }

  /// - Parameter source: this object closes its descriptor.
  private init(source: ReadDescriptor, _ header: SoundHeader?, path: String) throws(AudioFileError) {
    var info = SF_INFO()
    guard let file = openForReading(source, &info) else {
      let reason = Self.lastError(nil)
      source.release()
      throw Self.unreadable(path, reason)
    }
    guard (1...Self.channelLimit).contains(Int(info.channels)), info.samplerate > 0, info.frames >= 0 else {
      sf_close(file)
      source.release()
      throw AudioFileError(
        "cannot read \(path): its header claims \(info.channels) channels at \(info.samplerate) Hz")
    }
    (self.path, self.file, self.source, self.header) = (path, file, source, header)
    ReadFiles.add(source.number)
    channels = Int(info.channels)
    sampleRate = Int(info.samplerate)
    invalidSamples = InvalidSamples(channels: Int(info.channels))
    // The largest number is libsndfile's for a length that it does not know.
    frames =
      source is PipedSound
      ? nil : info.frames == sf_count_t.max ? header?.statedFrames(of: nil) : Int(info.frames)
  }

  /// Whether a compressed file ends before the length in its header. Tries to read the last frame, and leaves the reader's
  /// position there.
  public func lacksEnd() -> Bool {
    guard header?.soundBytes == nil, let frames, frames > 0 else { return false }
    do { try seek(toFrame: frames - 1) } catch { return true }
    return (try? read(frames: 1))?.count != channels
  }

  private static func unreadable(_ path: String, _ reason: String) -> AudioFileError {
    AudioFileError("cannot read \(path): \(reason); give a sound file, such as WAV or FLAC")
  }

  deinit {
    sf_close(file)
    source.release()
  }

  /// The content of Pinna's own chunk behind the sound of a WAV file; nil if there is none.
  public var privateChunk: [UInt8]? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, let end = header?.end(ofSoundIn: Int(status.st_size)) else {
      return nil
    }
    let file = Chunks(descriptor: descriptor, size: Int(status.st_size), format: .riff)
    guard let chunk = file.chunks(from: file.aligned(end)).first(where: { $0.name == "pnna" }),
      (0...1 << 28).contains(chunk.length)
    else { return nil }
    let content = file.bytes(at: chunk.start, count: chunk.length)
    return content.count == chunk.length ? content : nil
  }

  // MARK: Lengths

  /// Number of frames according to the header, as readers see it that believe it; nil if it says nothing.
  public var statedFrames: Int? {
    if let pipe { return pipe.statedFrames }
    guard let header else { return frames }
    return header.statedFrames(of: frames)
  }

  /// Whether the file is truncated: it has fewer frames than its header says. Of a compressed file it shows at the end
  /// of reading.
  public var endsEarly: Bool { statedFrames.map { $0 > frames ?? 0 } ?? false }

  /// How the header differs from the file, as one sentence; nil if it does not. Of a compressed file it shows at the
  /// end of reading.
  public var headerRemark: String? {
    guard let frames else { return nil }
    if let pipe { return pipe.remark(frames: frames) }
    guard let statedFrames else {
      return "the header of \(path) does not say how long it is; \(frames) frames are there"
    }
    if statedFrames == frames { return nil }
    return statedFrames > frames
      ? "\(path) ends early: its header says \(statedFrames) frames, and \(frames) are there"
      : "the header of \(path) says \(statedFrames) frames, but \(frames) are there; all of them count"
  }

  // MARK: Reading

  /// Reads the next frames, interleaved. Fewer than `count` only at the end of the file.
  /// - Throws: if the disk fails, which libsndfile otherwise presents as the end of the file.
  public func read(frames count: Int) throws(AudioFileError) -> [Float] {
    let start = position
    let samples = try read(count) { sf_readf_float(file, $0, $1) }
    invalidSamples.add(samples, from: start)
    return samples
  }

  /// Reads the next frames. Shape: `[channel][frame]`. Fewer than `count` only at the end of the file.
  /// - Throws: as `read(frames:)`.
  public func channels(frames count: Int) throws(AudioFileError) -> [[Float]] {
    var result = [[Float]](repeating: [], count: channels)
    if let frames, header?.soundBytes != nil {
      for channel in 0..<channels { result[channel].reserveCapacity(min(count, max(0, frames - position))) }
    }
    var left = count
    while left > 0 {
      let block = try read(frames: min(left, 16384))
      if block.isEmpty { break }
      left -= block.count / channels
      for channel in 0..<channels {
        result[channel].append(
          contentsOf: stride(from: channel, to: block.count, by: channels).lazy.map { block[$0] })
      }
    }
    return result
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
    position += samples.count / channels
    guard samples.count < count * channels else { return samples }
    if source.error != 0 {
      throw AudioFileError("cannot read \(path) to its end: \(String(cString: strerror(source.error)))")
    }
    if sf_error(file) != 0 {
      let fault = Self.lastError(file)
      // A FLAC that was cut off has sound up to there.
      guard case .frames? = header?.stated, position > 0 else {
        throw AudioFileError("cannot read \(path) to its end: \(fault)")
      }
    }
    if header?.soundBytes == nil || pipe != nil { frames = position }
    return samples
  }

  /// Continues reading at `frame`.
  public func seek(toFrame frame: Int) throws(AudioFileError) {
    guard sf_seek(file, sf_count_t(frame), Int32(SEEK_SET)) == frame else {
      throw AudioFileError("cannot find frame \(frame) in \(path)")
    }
    position = frame
  }

  static func lastError(_ file: OpaquePointer?) -> String {
    let text = String(cString: sf_strerror(file)).replacing("System error : ", with: "")
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}
