import CFiles
import CSndfile
import Glibc

/// A WAV file being written. Nothing carries the final name until `close` succeeds: the sound goes into `path` with
/// `.part` behind it, and only a file that is known to be whole gets the name.
///
/// libsndfile writes it. Frames count as it says the system took them; after the first ones that did not fit, nothing
/// more is written but the header in its place. So a full disk costs what did not fit and nothing else.
///
/// One thread calls everything here; each call may wait for the disk.
public final class AudioFileWriter {
  /// What became of the file.
  public enum Fate: Sendable {
    case open
    /// It is whole, and has its name.
    case named
    /// It stayed `.part`: it could not be finished, or its name was taken.
    case part
    /// Somebody removed it, or put another file in its place.
    case lost
    case removed
  }

  private let folder: OpenFolder
  private let name: String
  public let channels: Int
  public private(set) var framesWritten = 0
  /// Samples that integers could not hold: over full scale.
  public private(set) var clippedSamples = 0
  public private(set) var fate = Fate.open
  /// Says to others that the file is being written.
  package let lock: FileLock
  private let encoding: SampleEncoding
  private let hasBroadcast: Bool
  private let replaces: Bool
  private let descriptor: Int32
  private var wav: WAVFile?
  private var hasFailed = false
  /// Why the file may not be whole, however well what follows goes: of data that never reached the disk, the kernel
  /// tells once.
  private var suspicion: String?
  private var integers: [Int32] = []

  private var part: String { name + ".part" }
  private var partPath: String { folder.path(of: part) }
  public var path: String { folder.path(of: name) }

  /// - Parameter replacing: whether a file that has the name already is replaced; otherwise that is an error.
  public convenience init(
    path: String, encoding: SampleEncoding = .float32, channels: Int, sampleRate: Int,
    broadcast: BroadcastExtension? = nil, replacing: Bool = true
  ) throws(AudioFileError) {
    try self.init(
      folder: .working, name: path, encoding: encoding, channels: channels, sampleRate: sampleRate,
      broadcast: broadcast, replacing: replacing)
  }

  public init(
    folder: OpenFolder, name: String, encoding: SampleEncoding, channels: Int, sampleRate: Int,
    broadcast: BroadcastExtension?, replacing: Bool
  ) throws(AudioFileError) {
    self.folder = folder
    self.name = name
    self.channels = channels
    replaces = replacing
    self.encoding = encoding
    hasBroadcast = broadcast != nil
    try Self.check(folder, name, replacing: replacing)
    descriptor = folder.create(name + ".part")
    guard descriptor >= 0 else {
      let reason = errno
      let remedy = reason == EEXIST ? "; an earlier run left it, remove it" : ""
      throw AudioFileError(
        "cannot write \(folder.path(of: name)).part: \(String(cString: strerror(reason)))\(remedy)")
    }
    // Before the first byte: an empty file is nothing that could be repaired.
    lock = FileLock.take(descriptor, patience: .seconds(1))
    do {
      wav = try WAVFile(
        descriptor: descriptor, encoding: encoding, channels: channels, sampleRate: sampleRate,
        broadcast: broadcast?.info)
    } catch {
      folder.remove(name + ".part", as: descriptor)
      Glibc.close(descriptor)
      throw AudioFileError("cannot write \(folder.path(of: name)).part: \(error)")
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
    if !wav.setLength(frames: frames) { suspect(failure("\(partPath) could not be cut").description) }
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
    guard wav.updateHeader() else { throw suspect(failure("cannot secure \(partPath)").description) }
    try synchronize()
  }

  private func synchronize() throws(AudioFileError) {
    // Where the file system writes late, this is where a full or dying disk is first heard of.
    guard fdatasync(descriptor) != 0 else { return }
    throw suspect(systemFailure("cannot secure \(partPath)").description)
  }

  @discardableResult
  private func suspect(_ reason: String) -> AudioFileError {
    suspicion = suspicion ?? reason
    return AudioFileError(reason)
  }

  /// Finishes the file, and gives it its name where it is known to be whole: its header and its data reached the disk,
  /// and the header counts what was written. Otherwise a take's file stays `.part`, for `pinna takes repair`, and any
  /// other is removed.
  public func close() throws(AudioFileError) {
    guard let wav else { return }
    // sf_close keeps to itself what went wrong.
    if !wav.updateHeader() { suspect(failure("cannot secure \(partPath)").description) }
    sf_close(wav.file)
    self.wav = nil
    defer { Glibc.close(descriptor) }
    do { try synchronize() } catch { suspect(error.description) }
    if suspicion == nil { checkFrames() }
    guard folder.has(part, as: descriptor) else {
      fate = .lost
      let what = folder.contains(part) ? "was exchanged for another file" : "was removed"
      throw AudioFileError("\(partPath) \(what) while it was written: the sound is lost")
    }
    if let suspicion {
      guard !replaces else {
        folder.remove(part)
        fate = .removed
        throw AudioFileError(suspicion)
      }
      fate = .part
      throw AudioFileError("\(suspicion); the sound is in \(partPath): \(Self.remedy)")
    }
    let named = replaces ? folder.rename(part, to: name) : folder.renameToFree(part, name)
    guard named == 0 else {
      fate = .part
      throw systemFailure("the sound is in \(partPath), but cannot be named \(path)")
    }
    fate = .named
  }

  /// Whether a reader finds what was written.
  private func checkFrames() {
    guard let counted = WAVFile.frames(descriptor) else {
      suspect("\(partPath) cannot be read back")
      return
    }
    guard counted != framesWritten else { return }
    suspect("the header of \(partPath) counts \(counted) frames, and \(framesWritten) were written")
  }

  /// Ends what is said of a take's file that stayed `.part`.
  package static let remedy = "finish it with: pinna takes repair"

  /// Gives up: what was written is removed.
  public func abandon() {
    guard let wav else { return }
    sf_close(wav.file)
    self.wav = nil
    folder.remove(part, as: descriptor)
    Glibc.close(descriptor)
    fate = .removed
  }

  private func leave() {
    guard let wav else { return }
    sf_close(wav.file)
    self.wav = nil
    Glibc.close(descriptor)
    fate = .part
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
  private static func check(_ folder: OpenFolder, _ name: String, replacing: Bool) throws(AudioFileError) {
    var information = stat()
    guard fstatat(folder.descriptor, name, &information, AT_SYMLINK_NOFOLLOW) == 0 else { return }
    guard replacing else { throw AudioFileError("\(folder.path(of: name)) exists already") }
    guard information.st_mode & S_IFMT == S_IFREG else {
      throw AudioFileError("\(folder.path(of: name)) exists and is not a regular file; give another name")
    }
  }

  private func failure(_ what: String) -> AudioFileError {
    AudioFileError("\(what): \(AudioFileReader.lastError(wav?.file))")
  }

  private func systemFailure(_ what: String) -> AudioFileError {
    let reason = errno
    return AudioFileError("\(what): \(String(cString: strerror(reason)))")
  }
}
