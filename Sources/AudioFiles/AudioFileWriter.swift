import CFiles
import CSndfile
import Glibc

/// An audio file being written. Nothing carries the final name until `close` succeeds: the sound goes into
/// `path` with `.part` behind it.
public final class AudioFileWriter {
  public enum Format: Sendable {
    case floatWAV
    /// WAV that becomes RF64 where it passes 4 GiB.
    case floatRF64
  }

  public let path: String
  public let channels: Int
  public private(set) var framesWritten = 0
  private let partPath: String
  private let replaces: Bool
  private var file: OpaquePointer?
  private let descriptor: Int32

  /// - Parameter replacing: whether a file that has the name already is replaced; otherwise that is an error.
  public init(path: String, format: Format, channels: Int, sampleRate: Int, replacing: Bool = true)
    throws(AudioFileError)
  {
    self.path = path
    self.channels = channels
    replaces = replacing
    partPath = path + ".part"
    try Self.check(path, replacing: replacing)
    // Our own open, so that a name that exists, a symbolic link or a device is never written through.
    descriptor = open(partPath, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      let remedy = errno == EEXIST ? "; an earlier run left it, remove it" : ""
      throw AudioFileError("cannot write \(partPath): \(String(cString: strerror(errno)))\(remedy)")
    }
    let container = format == .floatRF64 ? SF_FORMAT_RF64 : SF_FORMAT_WAV
    var info = SF_INFO(
      frames: 0, samplerate: Int32(sampleRate), channels: Int32(channels),
      format: Int32(container) | Int32(SF_FORMAT_FLOAT), sections: 0, seekable: 0)
    file = sf_open_fd(descriptor, Int32(SFM_WRITE), &info, Int32(SF_FALSE))
    guard file != nil else {
      let reason = AudioFileReader.lastError(nil)
      Glibc.close(descriptor)
      unlink(partPath)
      throw AudioFileError("cannot write \(path): \(reason)")
    }
    if format == .floatRF64 { sf_command(file, Int32(SFC_RF64_AUTO_DOWNGRADE), nil, Int32(SF_TRUE)) }
    // Peak chunks carry the time of writing: without them equal sound makes equal files.
    sf_command(file, Int32(SFC_SET_ADD_PEAK_CHUNK), nil, Int32(SF_FALSE))
  }

  deinit {
    // A take is never thrown away for want of a close; a render that failed half-way is.
    if replaces {
      abandon()
    } else if let file {
      sf_close(file)
      Glibc.close(descriptor)
    }
  }

  /// Appends whole interleaved frames. A short write is an error, after which nothing more may be written.
  public func write(_ interleaved: UnsafeBufferPointer<Float>) throws(AudioFileError) {
    guard let file, let base = interleaved.baseAddress else { return }
    let frames = interleaved.count / channels
    let written = Int(sf_writef_float(file, base, sf_count_t(frames)))
    framesWritten += max(0, written)
    if written != frames {
      throw AudioFileError(
        "\(path) could not be written to its end: \(AudioFileReader.lastError(file)), \(String(cString: strerror(errno)))"
      )
    }
  }

  /// Makes what was written so far readable after a kill (header) and a power cut (data).
  public func secure() throws(AudioFileError) {
    guard let file else { return }
    sf_command(file, Int32(SFC_UPDATE_HEADER_NOW), nil, 0)
    // Where the file system writes late, this is where a full or dying disk is first heard of.
    if fdatasync(descriptor) != 0 { throw failure("cannot secure \(partPath)") }
  }

  /// Finishes the file and gives it its name.
  public func close() throws(AudioFileError) {
    guard let file else { return }
    sf_close(file)
    self.file = nil
    let synced = fdatasync(descriptor)
    let fault = synced != 0 ? failure("cannot secure \(partPath)") : nil
    Glibc.close(descriptor)
    let named = replaces ? rename(partPath, path) : Self.renameToFree(partPath, path)
    guard named == 0 else {
      let reason = errno
      if access(partPath, F_OK) != 0 {
        throw AudioFileError("\(partPath) was removed while it was written: the sound is lost")
      }
      errno = reason
      throw failure("the sound is in \(partPath), but cannot be named \(path)")
    }
    if let fault { throw fault }
  }

  /// Refuses what must not be replaced: anything but a regular file, and in a take's place anything at all.
  private static func check(_ path: String, replacing: Bool) throws(AudioFileError) {
    var information = stat()
    guard lstat(path, &information) == 0 else { return }
    guard replacing else { throw AudioFileError("\(path) exists already") }
    guard information.st_mode & S_IFMT == S_IFREG else {
      throw AudioFileError("\(path) exists and is not a regular file; give another name")
    }
  }

  /// Renames unless somebody has taken the name meanwhile. Falls back to a hard link on old file systems.
  private static func renameToFree(_ part: String, _ path: String) -> Int32 {
    if pinna_rename_to_free(part, path) == 0 { return 0 }
    guard errno == EINVAL || errno == ENOSYS, link(part, path) == 0 else { return -1 }
    return unlink(part)
  }

  private func failure(_ what: String) -> AudioFileError {
    AudioFileError("\(what): \(String(cString: strerror(errno)))")
  }

  /// Gives up: what was written is removed.
  public func abandon() {
    guard let file else { return }
    sf_close(file)
    self.file = nil
    Glibc.close(descriptor)
    unlink(partPath)
  }
}
