import CFiles
import CSndfile
import Glibc

/// A sound file that its writer never finished: `name` with `.part` behind it, of which the header may lag behind.
/// It is held open, and locked where it is to be finished, so that what is finished is what was looked at.
public final class CutFile {
  private let folder: OpenFolder
  private let name: String
  public let channels: Int
  public let sampleRate: Int
  /// Whole frames that are there, whatever the header says.
  public let frames: Int
  private let encoding: SampleEncoding
  private let broadcast: SF_BROADCAST_INFO?
  private let headerBytes: Int
  private let descriptor: Int32
  /// Ours where the file is to be finished; otherwise what a look at it said.
  package let lock: FileLock

  private var part: String { name + ".part" }
  private var partPath: String { folder.path(of: part) }

  /// To be finished.
  public convenience init(path: String) throws(AudioFileError) {
    try self.init(folder: .working, name: path, toFinish: true)
  }

  /// - Parameter toFinish: otherwise it is only looked at.
  package init(folder: OpenFolder, name: String, toFinish: Bool) throws(AudioFileError) {
    let part = name + ".part"
    let descriptor = folder.open(part, toFinish ? O_RDWR : O_RDONLY)
    guard descriptor >= 0 else {
      let reason = errno
      throw AudioFileError("cannot read \(folder.path(of: part)): \(String(cString: strerror(reason)))")
    }
    do {
      lock = toFinish ? FileLock.take(descriptor) : FileLock.look(descriptor)
      let outline = try Outline(descriptor, path: folder.path(of: part))
      (channels, sampleRate, frames) = (outline.channels, outline.sampleRate, outline.frames)
      (encoding, broadcast, headerBytes) = (outline.encoding, outline.broadcast, outline.headerBytes)
    } catch {
      close(descriptor)
      throw error
    }
    self.folder = folder
    self.name = name
    self.descriptor = descriptor
    if try header(frames: 0) == nil {
      throw AudioFileError("\(folder.path(of: part)) does not begin as Pinna's takes do")
    }
  }

  deinit { close(descriptor) }

  /// Keeps the first `count` frames, and gives the file its name.
  public func finish(frames count: Int) throws(AudioFileError) {
    if let fault = lock.fault {
      throw AudioFileError(
        "nothing says that nobody writes \(partPath) any more (\(fault)); copy the take to another disk first"
      )
    }
    guard folder.has(part, as: descriptor) else {
      throw AudioFileError("\(partPath) was exchanged for another file while it was repaired; try again")
    }
    let length = headerBytes + count * encoding.bytes * channels
    // Chunks have an even length.
    guard let bytes = try header(frames: count),
      ftruncate(descriptor, off_t(length)) == 0, ftruncate(descriptor, off_t(length + length % 2)) == 0,
      pwrite(descriptor, bytes, bytes.count, 0) == bytes.count, fdatasync(descriptor) == 0,
      folder.renameToFree(part, name) == 0
    else { throw AudioFileError("cannot finish \(partPath): \(String(cString: strerror(errno)))") }
  }

  /// The header that libsndfile writes before so many frames like these: of a file of as much silence, in memory. nil
  /// where it has not the length of this file's.
  private func header(frames: Int) throws(AudioFileError) -> [UInt8]? {
    let descriptor = pinna_memory_file()
    guard descriptor >= 0 else {
      throw AudioFileError("cannot repair \(partPath): \(String(cString: strerror(errno)))")
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

/// What the beginning of a cut file says.
private struct Outline {
  let channels: Int
  let sampleRate: Int
  let frames: Int
  let encoding: SampleEncoding
  let broadcast: SF_BROADCAST_INFO?
  let headerBytes: Int

  init(_ descriptor: Int32, path: String) throws(AudioFileError) {
    let stranger = AudioFileError("\(path) does not begin as Pinna's takes do")
    var information = stat()
    var info = SF_INFO()
    guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
      let file = openForReading(descriptor, &info)
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
    self.encoding = encoding
    self.headerBytes = headerBytes
    self.broadcast = hasBroadcast ? broadcast : nil
    channels = Int(info.channels)
    sampleRate = Int(info.samplerate)
    frames = max(0, Int(information.st_size) - headerBytes) / (encoding.bytes * channels)
  }
}
