import Glibc

/// A sound file that its writer never finished: `path` with `.part` behind it, of which the header may lag behind.
public struct CutFile {
  public let path: String
  public let channels: Int
  public let sampleRate: Int
  /// Whole frames that are there, whatever the header says.
  public let frames: Int
  private let header: WAVHeader

  public init(path: String) throws(AudioFileError) {
    let part = path + ".part"
    let descriptor = open(part, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw AudioFileError("cannot read \(part): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    var information = stat()
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = read(descriptor, &bytes, bytes.count)
    guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
      let header = WAVHeader(Array(bytes.prefix(max(0, count))))
    else { throw AudioFileError("\(part) does not begin as Pinna's takes do") }
    self.path = path
    self.header = header
    channels = header.channels
    sampleRate = header.sampleRate
    frames = max(0, Int(information.st_size) - header.count) / header.frameBytes
  }

  /// Keeps the first `count` frames, and gives the file its name.
  public func finish(frames count: Int) throws(AudioFileError) {
    let part = path + ".part"
    let descriptor = open(part, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    let bytes = header.bytes(frames: count)
    let length = bytes.count + count * header.frameBytes
    guard descriptor >= 0, ftruncate(descriptor, off_t(length + length % 2)) == 0,
      pwrite(descriptor, bytes, bytes.count, 0) == bytes.count, fdatasync(descriptor) == 0,
      FileNames.renameToFree(part, path) == 0
    else { throw AudioFileError("cannot finish \(part): \(String(cString: strerror(errno)))") }
  }
}
