import CFiles
import CSndfile
import Glibc

/// A sound file that its writer never finished: `path` with `.part` behind it, of which the header may lag behind.
public struct CutFile {
  public let path: String
  public let channels: Int
  public let sampleRate: Int
  /// Whole frames that are there, whatever the header says.
  public let frames: Int
  private let encoding: SampleEncoding
  private let broadcast: SF_BROADCAST_INFO?
  private let headerBytes: Int

  public init(path: String) throws(AudioFileError) {
    let part = path + ".part"
    // Of a pipe, opening would wait for its other end.
    let descriptor = open(part, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw AudioFileError("cannot read \(part): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    let stranger = AudioFileError("\(part) does not begin as Pinna's takes do")
    var information = stat()
    var info = SF_INFO()
    guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
      let file = sf_open_fd(descriptor, Int32(SFM_READ), &info, Int32(SF_FALSE))
    else { throw stranger }
    defer { sf_close(file) }
    let encoding = SampleEncoding.allCases.first { Int(info.format) & SF_FORMAT_SUBMASK == $0.subformat }
    guard let encoding, let headerBytes = WAVFile.headerBytes(file, descriptor),
      (1...AudioFileReader.channelLimit).contains(Int(info.channels)), info.samplerate > 0
    else { throw stranger }
    var broadcast = SF_BROADCAST_INFO()
    let hasBroadcast =
      sf_command(file, Int32(SFC_GET_BROADCAST_INFO), &broadcast, Int32(MemoryLayout<SF_BROADCAST_INFO>.size))
      == SF_TRUE
    self.path = path
    self.encoding = encoding
    self.headerBytes = headerBytes
    self.broadcast = hasBroadcast ? broadcast : nil
    channels = Int(info.channels)
    sampleRate = Int(info.samplerate)
    frames = max(0, Int(information.st_size) - headerBytes) / (encoding.bytes * channels)
    if try header(frames: 0) == nil { throw stranger }
  }

  /// Keeps the first `count` frames, and gives the file its name.
  public func finish(frames count: Int) throws(AudioFileError) {
    let part = path + ".part"
    let descriptor = open(part, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    let length = headerBytes + count * encoding.bytes * channels
    // Chunks have an even length.
    guard descriptor >= 0, let bytes = try header(frames: count),
      ftruncate(descriptor, off_t(length)) == 0, ftruncate(descriptor, off_t(length + length % 2)) == 0,
      pwrite(descriptor, bytes, bytes.count, 0) == bytes.count, fdatasync(descriptor) == 0,
      FileNames.renameToFree(part, path) == 0
    else { throw AudioFileError("cannot finish \(part): \(String(cString: strerror(errno)))") }
  }

  /// The header that libsndfile writes before so many frames like these: of a file of as much silence, in memory. nil
  /// where it has not the length of this file's.
  private func header(frames: Int) throws(AudioFileError) -> [UInt8]? {
    let descriptor = pinna_memory_file()
    guard descriptor >= 0 else {
      throw AudioFileError("cannot repair \(path): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    let wav = try WAVFile(
      descriptor: descriptor, encoding: encoding, channels: channels, sampleRate: sampleRate,
      broadcast: broadcast)
    let isAlike =
      WAVFile.headerBytes(wav.file, descriptor) == headerBytes && wav.setLength(frames: frames)
      && wav.updateHeader()
    sf_close(wav.file)
    guard isAlike else { return nil }
    var bytes = [UInt8](repeating: 0, count: headerBytes)
    return pread(descriptor, &bytes, bytes.count, 0) == bytes.count ? bytes : nil
  }
}
