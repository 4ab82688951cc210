import CFiles
import Glibc

/// A WAV file being written. Nothing carries the final name until `close` succeeds: the sound goes into `path` with
/// `.part` behind it.
///
/// Sound is only ever appended, and counted as the system took it; the header is written over in place. So a full
/// disk costs what did not fit and nothing else.
public final class AudioFileWriter {
  public let path: String
  public let channels: Int
  public private(set) var framesWritten = 0
  /// Samples that integers could not hold: over full scale.
  public private(set) var clippedSamples = 0
  private var header: WAVHeader
  private let headerBytes: Int
  private let partPath: String
  private let replaces: Bool
  private var descriptor: Int32
  private var hasFailed = false
  private var packed: [UInt8] = []

  /// - Parameter replacing: whether a file that has the name already is replaced; otherwise that is an error.
  public init(
    path: String, encoding: SampleEncoding = .float32, channels: Int, sampleRate: Int,
    broadcast: BroadcastExtension? = nil, replacing: Bool = true
  ) throws(AudioFileError) {
    self.path = path
    self.channels = channels
    replaces = replacing
    partPath = path + ".part"
    header = WAVHeader(
      encoding: encoding, channels: channels, sampleRate: sampleRate, broadcast: broadcast?.payload)
    headerBytes = header.count
    try Self.check(path, replacing: replacing)
    // A name that exists, a symbolic link or a device is never written through.
    descriptor = open(partPath, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      let remedy = errno == EEXIST ? "; an earlier run left it, remove it" : ""
      throw AudioFileError("cannot write \(partPath): \(String(cString: strerror(errno)))\(remedy)")
    }
    if append(header.bytes(frames: 0)) < headerBytes {
      let fault = failure("cannot write \(partPath)")
      abandon()
      throw fault
    }
  }

  deinit {
    // A take is never thrown away for want of a close; a render that failed half-way is.
    if replaces { abandon() } else { leave() }
  }

  /// Says where the sound stands in time; only for a file that was opened with such an extension.
  public func setBroadcast(_ broadcast: BroadcastExtension) {
    if header.broadcast != nil { header.broadcast = broadcast.payload }
  }

  /// Keeps the first `frames`, and writes no more.
  public func end(atFrame frames: Int) {
    hasFailed = true
    guard descriptor >= 0, frames < framesWritten else { return }
    framesWritten = frames
    ftruncate(descriptor, off_t(headerBytes + frames * header.frameBytes))
  }

  /// Appends whole interleaved frames. A short write is an error, after which nothing more is written.
  public func write(_ interleaved: UnsafeBufferPointer<Float>) throws(AudioFileError) {
    guard descriptor >= 0, !hasFailed, !interleaved.isEmpty else { return }
    let written: Int
    switch header.encoding {
    case .float32: written = append(UnsafeRawBufferPointer(interleaved))
    case .pcm24:
      pack(interleaved)
      written = append(packed)
    }
    framesWritten += written / header.frameBytes
    guard written < interleaved.count * header.encoding.bytes else { return }
    let fault = failure("\(path) could not be written to its end")
    // No part of a frame.
    ftruncate(descriptor, off_t(headerBytes + framesWritten * header.frameBytes))
    hasFailed = true
    throw fault
  }

  public func write(_ interleaved: [Float]) throws(AudioFileError) {
    try interleaved.withUnsafeBufferPointer { (buffer) throws(AudioFileError) in try write(buffer) }
  }

  /// Appends silence, which takes no room on disk: a hole in the file.
  public func skip(frames: Int) throws(AudioFileError) {
    guard descriptor >= 0, !hasFailed else { return }
    let end = off_t(headerBytes + (framesWritten + frames) * header.frameBytes)
    guard ftruncate(descriptor, end) == 0, lseek(descriptor, end, SEEK_SET) == end else {
      throw failure("\(path) could not be written to its end")
    }
    framesWritten += frames
  }

  /// Makes what was written so far readable after a kill (header) and a power cut (data).
  public func secure() throws(AudioFileError) {
    guard descriptor >= 0 else { return }
    guard updateHeader(), fdatasync(descriptor) == 0 else {
      // Where the file system writes late, this is where a full or dying disk is first heard of.
      throw failure("cannot secure \(partPath)")
    }
  }

  /// Finishes the file and gives it its name.
  public func close() throws(AudioFileError) {
    guard descriptor >= 0 else { return }
    // Chunks have an even length.
    if framesWritten * header.frameBytes % 2 != 0 { _ = append([0]) }
    var fault: AudioFileError?
    do { try secure() } catch { fault = error }
    Glibc.close(descriptor)
    descriptor = -1
    let named = replaces ? rename(partPath, path) : FileNames.renameToFree(partPath, path)
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

  /// Gives up: what was written is removed.
  public func abandon() {
    guard descriptor >= 0 else { return }
    Glibc.close(descriptor)
    descriptor = -1
    unlink(partPath)
  }

  private func leave() {
    guard descriptor >= 0 else { return }
    _ = updateHeader()
    Glibc.close(descriptor)
  }

  private func updateHeader() -> Bool {
    let bytes = header.bytes(frames: framesWritten)
    return pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
  }

  /// Three bytes a sample, rounded; what is over full scale is clipped and counted, what is no number is silence.
  private func pack(_ samples: UnsafeBufferPointer<Float>) {
    packed.removeAll(keepingCapacity: true)
    packed.reserveCapacity(3 * samples.count)
    for sample in samples {
      if sample.magnitude > 1 { clippedSamples += 1 }
      let scaled = sample.isNaN ? 0 : (sample * 8_388_608).rounded()
      let bits = UInt32(bitPattern: Int32(min(8_388_607, max(-8_388_608, scaled))))
      packed.append(UInt8(truncatingIfNeeded: bits))
      packed.append(UInt8(truncatingIfNeeded: bits >> 8))
      packed.append(UInt8(truncatingIfNeeded: bits >> 16))
    }
  }

  private func append(_ bytes: [UInt8]) -> Int { bytes.withUnsafeBytes(append) }

  /// How many bytes the system took.
  private func append(_ bytes: UnsafeRawBufferPointer) -> Int {
    var done = 0
    while done < bytes.count {
      let count = Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
      if count > 0 {
        done += count
      } else if count == 0 || errno != EINTR {
        break
      }
    }
    return done
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

  private func failure(_ what: String) -> AudioFileError {
    AudioFileError("\(what): \(String(cString: strerror(errno)))")
  }
}

public enum FileNames {
  /// Renames unless somebody has taken the name meanwhile; 0 where that worked. Falls back to a hard link on old file
  /// systems.
  public static func renameToFree(_ part: String, _ path: String) -> Int32 {
    if pinna_rename_to_free(part, path) == 0 { return 0 }
    guard errno == EINVAL || errno == ENOSYS, link(part, path) == 0 else { return -1 }
    return unlink(part)
  }
}
