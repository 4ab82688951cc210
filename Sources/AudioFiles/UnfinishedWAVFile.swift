import CFiles
import CSndfile
import Glibc

/// A WAV file that its writer never finished: `name` + `.part`. Its header may be older than its data.
///
/// The file stays open, and is locked if it is to be finished. So the file that was examined is the one that is
/// finished.
public final class UnfinishedWAVFile {
  private let folder: OpenFolder
  private let name: String
  public let channels: Int
  public let sampleRate: Int
  /// Whole frames in the file, regardless of its header.
  public let frames: Int
  private let encoding: SampleEncoding
  private let areMicrophones: Bool
  private let broadcast: SF_BROADCAST_INFO?
  private let trackNames: [UInt8]?
  private let headerBytes: Int
  private let descriptor: Int32
  /// The lock this object holds if the file is to be finished, else the result of a probe.
  package let lock: FileLock

  private var part: String { name + ".part" }
  private var partPath: String { folder.path(of: part) }

  /// Opens and locks a file to finish it.
  public convenience init(path: String) throws(AudioFileError) {
    try self.init(folder: .working, name: path, toFinish: true)
  }

  /// - Parameter toFinish: whether to lock the file for `finish`. If false, it is only examined.
  package init(folder: OpenFolder, name: String, toFinish: Bool) throws(AudioFileError) {
    let part = name + ".part"
    let descriptor = folder.open(part, toFinish ? O_RDWR : O_RDONLY)
    guard descriptor >= 0 else {
      let reason = errno
      throw AudioFileError("cannot read \(folder.path(of: part)): \(String(cString: strerror(reason)))")
    }
    do {
      lock = toFinish ? FileLock.acquire(descriptor) : FileLock.probe(descriptor)
      let header = try Header(descriptor, path: folder.path(of: part))
      (channels, sampleRate, frames) = (header.channels, header.sampleRate, header.frames)
      (encoding, areMicrophones) = (header.encoding, header.areMicrophones)
      (broadcast, trackNames, headerBytes) = (header.broadcast, header.trackNames, header.headerBytes)
    } catch {
      close(descriptor)
      throw error
    }
    self.folder = folder
    self.name = name
    self.descriptor = descriptor
    if try encodedHeader(frames: 0) == nil {
      throw AudioFileError("\(folder.path(of: part)) does not begin as Pinna's takes do")
    }
  }

  deinit { close(descriptor) }

  /// Truncates the file to `count` frames, writes its header, and renames it to its final name.
  public func finish(frames count: Int) throws(AudioFileError) {
    if let fault = lock.fault {
      throw AudioFileError(
        "cannot tell whether \(partPath) is still being written (\(fault)); copy the take to another disk first"
      )
    }
    guard folder.has(part, as: descriptor) else {
      throw AudioFileError("\(partPath) was replaced by another file while it was repaired; try again")
    }
    let length = headerBytes + count * encoding.bytes * channels
    // WAV chunks have an even length.
    guard let bytes = try encodedHeader(frames: count),
      ftruncate(descriptor, off_t(length)) == 0, ftruncate(descriptor, off_t(length + length % 2)) == 0,
      pwrite(descriptor, bytes, bytes.count, 0) == bytes.count, fdatasync(descriptor) == 0,
      folder.renameWithoutReplacing(part, name) == 0
    else { throw AudioFileError("cannot finish \(partPath): \(String(cString: strerror(errno)))") }
  }

  /// The header that libsndfile writes for `frames` frames of this format. It comes from a file of silence in memory.
  /// - Returns: nil if its length differs from that of this file's header.
  private func encodedHeader(frames: Int) throws(AudioFileError) -> [UInt8]? {
    let descriptor = pinna_memory_file()
    guard descriptor >= 0 else {
      throw AudioFileError("cannot repair \(partPath): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    let wav = try WAVFile(
      descriptor: descriptor, encoding: encoding, channels: channels, sampleRate: sampleRate,
      areMicrophones: areMicrophones, broadcast: broadcast, trackNames: trackNames)
    let hasSameHeaderLength =
      WAVFile.headerBytes(wav.file, descriptor) == headerBytes && wav.setLength(frames: frames)
      && wav.updateHeader()
    wav.close()
    guard hasSameHeaderLength else { return nil }
    var bytes = [UInt8](repeating: 0, count: headerBytes)
    return pread(descriptor, &bytes, bytes.count, 0) == bytes.count ? bytes : nil
  }
}

/// The header of an unfinished file.
private struct Header {
  let channels: Int
  let sampleRate: Int
  let frames: Int
  let encoding: SampleEncoding
  let areMicrophones: Bool
  let broadcast: SF_BROADCAST_INFO?
  let trackNames: [UInt8]?
  let headerBytes: Int

  init(_ descriptor: Int32, path: String) throws(AudioFileError) {
    let notATake = AudioFileError("\(path) does not begin as Pinna's takes do")
    var information = stat()
    var info = SF_INFO()
    let source = ReadDescriptor(descriptor)
    guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
      let file = openForReading(source, &info)
    else { throw notATake }
    defer { withExtendedLifetime(source) { _ = sf_close(file) } }
    let encoding = SampleEncoding.allCases.first { Int(info.format) & SF_FORMAT_SUBMASK == $0.subformat }
    guard let encoding, let headerBytes = WAVFile.headerBytes(file, descriptor),
      (1...AudioFileReader.channelLimit).contains(Int(info.channels)), info.samplerate > 0
    else { throw notATake }
    var broadcast = SF_BROADCAST_INFO()
    let hasBroadcast =
      sf_command(file, Int32(SFC_GET_BROADCAST_INFO), &broadcast, Int32(MemoryLayout<SF_BROADCAST_INFO>.size))
      == SF_TRUE
    self.encoding = encoding
    self.headerBytes = headerBytes
    areMicrophones = WAVFile.channelMask(descriptor)?.mask == 0
    self.broadcast = hasBroadcast ? broadcast : nil
    trackNames = TrackNames.chunk(of: file)
    channels = Int(info.channels)
    sampleRate = Int(info.samplerate)
    let frameBytes = encoding.bytes * channels
    let isFinished = WAVCues.begin(at: headerBytes + Int(info.frames) * frameBytes, of: descriptor)
    // While a take runs, its header lags behind. Cues are written last, when the header is right.
    frames = isFinished ? Int(info.frames) : max(0, Int(information.st_size) - headerBytes) / frameBytes
  }
}
