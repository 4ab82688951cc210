import CFiles
import CSndfile
import Glibc

/// A WAV file being written. Nothing carries the final name until `close` succeeds: the sound goes into `path` with
/// `.part` behind it.
///
/// libsndfile writes it. Frames count as it says the system took them; after the first ones that did not fit, nothing
/// more is written but the header in its place. So a full disk costs what did not fit and nothing else.
public final class AudioFileWriter {
  public let path: String
  public let channels: Int
  public private(set) var framesWritten = 0
  /// Samples that integers could not hold: over full scale.
  public private(set) var clippedSamples = 0
  private let encoding: SampleEncoding
  private let hasBroadcast: Bool
  private let partPath: String
  private let replaces: Bool
  private let descriptor: Int32
  private var wav: WAVFile?
  private var hasFailed = false
  private var integers: [Int32] = []

  /// - Parameter replacing: whether a file that has the name already is replaced; otherwise that is an error.
  public init(
    path: String, encoding: SampleEncoding = .float32, channels: Int, sampleRate: Int,
    broadcast: BroadcastExtension? = nil, replacing: Bool = true
  ) throws(AudioFileError) {
    self.path = path
    self.channels = channels
    replaces = replacing
    partPath = path + ".part"
    self.encoding = encoding
    hasBroadcast = broadcast != nil
    try Self.check(path, replacing: replacing)
    // A name that exists, a symbolic link or a device is never written through.
    descriptor = open(partPath, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      let remedy = errno == EEXIST ? "; an earlier run left it, remove it" : ""
      throw AudioFileError("cannot write \(partPath): \(String(cString: strerror(errno)))\(remedy)")
    }
    do {
      wav = try WAVFile(
        descriptor: descriptor, encoding: encoding, channels: channels, sampleRate: sampleRate,
        broadcast: broadcast?.info)
    } catch {
      Glibc.close(descriptor)
      unlink(partPath)
      throw AudioFileError("cannot write \(partPath): \(error)")
    }
  }

  deinit {
    // A take is never thrown away for want of a close; a render that failed half-way is.
    if replaces { abandon() } else { leave() }
  }

  /// Says where the sound stands in time; only for a file that was opened with such an extension.
  public func setBroadcast(_ broadcast: BroadcastExtension) {
    if hasBroadcast { wav?.setBroadcast(broadcast.info) }
  }

  /// Keeps the first `frames`, and writes no more.
  public func end(atFrame frames: Int) {
    hasFailed = true
    guard let wav, frames <= framesWritten else { return }
    framesWritten = frames
    _ = wav.setLength(frames: frames)
  }

  /// Appends whole interleaved frames. A short write is an error, after which nothing more is written.
  public func write(_ interleaved: UnsafeBufferPointer<Float>) throws(AudioFileError) {
    guard let wav, !hasFailed, let samples = interleaved.baseAddress else { return }
    let frames = sf_count_t(interleaved.count / channels)
    let written: sf_count_t
    switch encoding {
    case .float32: written = sf_writef_float(wav.file, samples, frames)
    case .pcm24:
      round(interleaved)
      written = sf_writef_int(wav.file, integers, frames)
    }
    framesWritten += Int(max(0, written))
    guard written < frames else { return }
    let fault = failure("\(path) could not be written to its end")
    // No part of a frame.
    end(atFrame: framesWritten)
    throw fault
  }

  public func write(_ interleaved: [Float]) throws(AudioFileError) {
    try interleaved.withUnsafeBufferPointer { (buffer) throws(AudioFileError) in try write(buffer) }
  }

  /// Appends silence, which takes no room on disk: a hole in the file.
  public func skip(frames: Int) throws(AudioFileError) {
    guard let wav, !hasFailed else { return }
    guard wav.setLength(frames: framesWritten + frames) else {
      throw failure("\(path) could not be written to its end")
    }
    framesWritten += frames
  }

  /// Makes what was written so far readable after a kill (header) and a power cut (data).
  public func secure() throws(AudioFileError) {
    guard let wav else { return }
    guard wav.updateHeader() else { throw failure("cannot secure \(partPath)") }
    try synchronize()
  }

  private func synchronize() throws(AudioFileError) {
    // Where the file system writes late, this is where a full or dying disk is first heard of.
    if fdatasync(descriptor) != 0 { throw systemFailure("cannot secure \(partPath)") }
  }

  /// Finishes the file and gives it its name.
  public func close() throws(AudioFileError) {
    guard let wav else { return }
    var fault: AudioFileError?
    // sf_close keeps to itself what went wrong.
    if !wav.updateHeader() { fault = failure("cannot secure \(partPath)") }
    sf_close(wav.file)
    self.wav = nil
    do { try synchronize() } catch { fault = fault ?? error }
    Glibc.close(descriptor)
    let named = replaces ? rename(partPath, path) : FileNames.renameToFree(partPath, path)
    guard named == 0 else {
      let reason = errno
      if access(partPath, F_OK) != 0 {
        throw AudioFileError("\(partPath) was removed while it was written: the sound is lost")
      }
      errno = reason
      throw systemFailure("the sound is in \(partPath), but cannot be named \(path)")
    }
    if let fault { throw fault }
  }

  /// Gives up: what was written is removed.
  public func abandon() {
    guard wav != nil else { return }
    leave()
    unlink(partPath)
  }

  private func leave() {
    guard let wav else { return }
    sf_close(wav.file)
    self.wav = nil
    Glibc.close(descriptor)
  }

  /// What is over full scale is clipped and counted, what is no number is silence. libsndfile itself would round
  /// floats down.
  private func round(_ samples: UnsafeBufferPointer<Float>) {
    integers.removeAll(keepingCapacity: true)
    for sample in samples {
      if sample.magnitude > 1 { clippedSamples += 1 }
      let scaled = sample.isNaN ? 0 : (sample * 8_388_608).rounded()
      integers.append(Int32(min(8_388_607, max(-8_388_608, scaled))) << 8)
    }
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
    AudioFileError("\(what): \(AudioFileReader.lastError(wav?.file))")
  }

  private func systemFailure(_ what: String) -> AudioFileError {
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
