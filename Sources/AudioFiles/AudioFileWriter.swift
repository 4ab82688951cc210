import CFiles
import CSndfile
import Glibc

/// Writes a WAV file, or B-format as .caf or .amb, through libsndfile. The data goes into `path` + `.part`; the file is renamed to `path` only when
/// `close` has verified that it is complete.
///
/// Frames count as written when libsndfile says that the system accepted them. After the first short write, only the
/// header is still updated. A full disk therefore loses only the frames that did not fit.
///
/// Thread: one thread makes all calls. Each call may wait for the disk.
public final class AudioFileWriter {
  /// The state of the file.
  public enum Fate: Sendable {
    case open
    /// Complete, under its final name.
    case named
    /// Still `.part`: it could not be finished, or its name was in use.
    case part
    /// Another program removed it or replaced it.
    case lost
    case removed
  }

  private let folder: OpenFolder
  private let name: String
  public let channels: Int
  public private(set) var framesWritten = 0
  /// Samples above full scale, which integer formats clip.
  public private(set) var clippedSamples = 0
  public private(set) var fate = Fate.open
  /// Tells other programs that the file is being written.
  package let lock: FileLock
  private let encoding: SampleEncoding
  private let hasBroadcast: Bool
  private let container: SoundContainer
  /// What it becomes if a verb writes it; nil for a take's file, which replaces nothing.
  private let output: OutputFile?
  private let descriptor: Int32
  private var wav: WAVFile?
  /// Bytes before the first frame.
  private var headerBytes = 0
  private var hasFailed = false
  /// Why the file may be incomplete, even if everything that follows succeeds. The kernel reports a failed writeback
  /// only once.
  private var integrityFault: String?
  private var integers: [Int32] = []

  private var partName: String { name + ".part" }
  private var partPath: String { folder.path(of: partName) }
  public var path: String { folder.path(of: name) }

  /// - Parameters:
  ///   - areMicrophones: whether the channels are microphones, which belong to no loudspeakers.
  ///   - ambisonics: what the file says of its channels if they are B-format. Then its ending decides: WAV, .caf or .amb.
  ///   - replacing: whether to replace an existing file of that name. If false, it is an error, and what was written stays
  ///     as `.part`.
  public convenience init(
    path: String, encoding: SampleEncoding = .float32, channels: Int, sampleRate: Int,
    areMicrophones: Bool = false, broadcast: BroadcastExtension? = nil, ambisonics: AmbisonicFormat? = nil,
    replacing: Bool = true
  ) throws(AudioFileError) {
    try self.init(
      folder: .working, name: path, encoding: encoding, channels: channels, sampleRate: sampleRate,
      areMicrophones: areMicrophones, labels: SoundLabels(broadcast: broadcast), ambisonics: ambisonics,
      output: replacing ? OutputFile(path, replacing: true) : nil)
  }

  /// - Parameters:
  ///   - labels: what the file says beside its sound. Its cues are written at the end.
  ///   - output: what a verb writes; nil for a take's file.
  public init(
    folder: OpenFolder, name: String, encoding: SampleEncoding, channels: Int, sampleRate: Int,
    areMicrophones: Bool = false, labels: SoundLabels, ambisonics: AmbisonicFormat? = nil,
    output: OutputFile? = nil
  ) throws(AudioFileError) {
    self.folder = folder
    self.name = name
    self.channels = channels
    self.output = output
    self.encoding = encoding
    hasBroadcast = labels.broadcast != nil
    container = SoundContainer(path: name, isAmbisonic: ambisonics != nil)
    guard output != nil || !folder.contains(name) else {
      throw AudioFileError("\(folder.path(of: name)) exists; give another name")
    }
    if output != nil { try Self.removeAbandoned(name + ".part", in: folder) }
    descriptor = folder.create(name + ".part")
    guard descriptor >= 0 else {
      let reason = errno
      let remedy = reason == EEXIST ? "; another program may be writing it: wait for that, or remove it" : ""
      throw AudioFileError(
        "cannot write \(folder.path(of: name)).part: \(String(cString: strerror(reason)))\(remedy)")
    }
    // Lock before the first byte is written: nobody tries to repair an empty file.
    lock = FileLock.acquire(descriptor, timeout: .seconds(1))
    let isCAF = container == .caf
    do {
      wav = try WAVFile(
        descriptor: descriptor, encoding: encoding, channels: channels, sampleRate: sampleRate,
        areMicrophones: areMicrophones, broadcast: isCAF ? nil : labels.broadcast?.info,
        trackNames: isCAF || labels.trackNames.isEmpty ? nil : TrackNames.chunk(labels.trackNames),
        title: isCAF ? nil : labels.title, chunks: isCAF ? labels.chunks(ambisonics?.comment) : [],
        container: container, ambisonics: ambisonics)
      headerBytes = size ?? 0
    } catch {
      folder.remove(name + ".part", as: descriptor)
      Glibc.close(descriptor)
      throw AudioFileError("cannot write \(folder.path(of: name)).part: \(error)")
    }
  }

  deinit {
    // Without `close`, a take's file is kept, and an unfinished render is removed.
    if output != nil { abandon() } else { leave() }
  }

  /// Sets the broadcast extension. Does nothing unless the file was opened with one.
  public func setBroadcast(_ broadcast: BroadcastExtension) {
    if hasBroadcast { wav?.setBroadcast(broadcast.info) }
  }

  /// Truncates the file to `frames`, and ignores all further writes.
  public func end(atFrame frames: Int) {
    hasFailed = true
    guard let wav, frames <= framesWritten else { return }
    framesWritten = frames
    if !wav.setLength(frames: frames) { markDamaged(failure("cannot truncate \(partPath)").description) }
  }

  /// Appends whole interleaved frames. A short write is an error; further writes are then ignored.
  public func write(_ interleaved: UnsafeBufferPointer<Float>) throws(AudioFileError) {
    guard let wav, !hasFailed, let samples = interleaved.baseAddress else { return }
    checkSize()
    guard headerBytes + encoding.bytes * (framesWritten * channels + interleaved.count) <= container.limit
    else {
      throw AudioFileError(
        "\(path) would be longer than 4 GB, which it cannot be; give a name that ends in .caf or .wav")
    }
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
    // Remove a partial frame.
    end(atFrame: framesWritten)
    throw fault
  }

  public func write(_ interleaved: [Float]) throws(AudioFileError) {
    try interleaved.withUnsafeBufferPointer { (buffer) throws(AudioFileError) in try write(buffer) }
  }

  /// Appends silence as a hole in the file, which takes no space on disk.
  public func skip(frames: Int) throws(AudioFileError) {
    guard let wav, !hasFailed else { return }
    checkSize()
    guard wav.setLength(frames: framesWritten + frames) else {
      throw failure("\(path) could not be written to its end")
    }
    framesWritten += frames
  }

  /// Whether the file was deleted: it has no name any more, so nobody can read it later.
  public var isRemoved: Bool {
    var information = stat()
    return wav != nil && fstat(descriptor, &information) == 0 && information.st_nlink == 0
  }

  /// Updates the header and flushes the data to disk. The frames so far then survive a kill and a power failure.
  public func flush() throws(AudioFileError) {
    guard let wav else { return }
    checkSize()
    guard wav.updateHeader() else {
      throw markDamaged(failure("cannot update the header of \(partPath)").description)
    }
    try synchronize()
  }

  private var size: Int? {
    var information = stat()
    return fstat(descriptor, &information) == 0 ? Int(information.st_size) : nil
  }

  /// Detects that another program truncated the file. The next write would turn the missing part into a hole, which
  /// reads as silence and has the right length. So this must run before every write.
  private func checkSize() {
    guard integrityFault == nil, let size else { return }
    guard size < headerBytes + framesWritten * channels * encoding.bytes else { return }
    markDamaged(
      "\(partPath) was truncated to \(size) bytes while it was written: frames before \(framesWritten) are lost"
    )
  }

  private func synchronize() throws(AudioFileError) {
    // With delayed allocation, a full or failing disk first shows here.
    guard fdatasync(descriptor) != 0 else { return }
    throw markDamaged(systemFailure("cannot flush \(partPath) to disk").description)
  }

  @discardableResult
  private func markDamaged(_ reason: String) -> AudioFileError {
    integrityFault = integrityFault ?? reason
    return AudioFileError(reason)
  }

  /// Finishes the file. It gets its final name only if it is known to be complete: header and data reached the disk,
  /// and the header counts the frames written. Otherwise a take's file stays `.part`, for `pinna takes repair`; any
  /// other file is removed.
  /// - Parameter cues: named places. If they cannot be written, the file has its sound, and neither cues nor title.
  /// - Parameter title: of the sound; empty for none.
  /// - Parameter private: the content of Pinna's own chunk, which begins with its version, as "v002"; empty for none. It goes where the
  ///   cues go.
  /// - Returns: whether the file has all cues and the title.
  @discardableResult
  public func close(cues: [WAVCue] = [], title: String = "", private chunk: [UInt8] = [])
    throws(AudioFileError) -> Bool
  {
    guard let wav else { return cues.isEmpty && title.isEmpty }
    checkSize()
    // sf_close does not report errors, so update the header first.
    if !wav.updateHeader() { markDamaged(failure("cannot update the header of \(partPath)").description) }
    wav.close()
    self.wav = nil
    defer { Glibc.close(descriptor) }
    let hasCues =
      cues.isEmpty && title.isEmpty && chunk.isEmpty
      || integrityFault == nil && !hasFailed
        && WAVCues.append(cues, title: title, private: chunk, to: descriptor)
    do { try synchronize() } catch { markDamaged(error.description) }
    if integrityFault == nil { checkFrames() }
    guard folder.has(partName, as: descriptor) else {
      fate = .lost
      let what = folder.contains(partName) ? "was replaced by another file" : "was removed"
      throw AudioFileError("\(partPath) \(what) while it was written: the sound is lost")
    }
    if let integrityFault {
      guard output == nil else {
        folder.remove(partName)
        fate = .removed
        throw AudioFileError(integrityFault)
      }
      fate = .part
      throw AudioFileError("\(integrityFault); the sound is in \(partPath): \(Self.remedy)")
    }
    if let output {
      fate = .removed
      try output.adopt(partName)
    } else if folder.renameWithoutReplacing(partName, name) != 0 {
      fate = .part
      throw systemFailure("the sound is in \(partPath), but cannot be named \(path)")
    }
    fate = .named
    return hasCues || cues.isEmpty && title.isEmpty
  }

  /// Checks that a reader finds the frames that were written.
  private func checkFrames() {
    guard let counted = WAVFile.frames(descriptor) else {
      markDamaged("\(partPath) cannot be read back")
      return
    }
    guard counted != framesWritten else { return }
    markDamaged("the header of \(partPath) counts \(counted) frames, and \(framesWritten) were written")
  }

  /// The end of every message about a take's file that stayed `.part`.
  package static let remedy = "finish it with: pinna takes repair"

  /// Closes and removes the file.
  public func abandon() {
    guard let wav else { return }
    wav.close()
    self.wav = nil
    folder.remove(partName, as: descriptor)
    Glibc.close(descriptor)
    fate = .removed
  }

  /// Closes the file and keeps it as `.part`.
  private func leave() {
    guard let wav else { return }
    wav.close()
    self.wav = nil
    Glibc.close(descriptor)
    fate = .part
  }

  /// Converts to 24-bit integers. Samples above full scale are clipped and counted; NaN becomes silence. libsndfile's
  /// own conversion would round down.
  private func round(_ samples: UnsafeBufferPointer<Float>) {
    integers.removeAll(keepingCapacity: true)
    for sample in samples {
      if sample.magnitude > 1 { clippedSamples += 1 }
      let scaled = sample.isNaN ? 0 : (sample * 8_388_608).rounded()
      integers.append(Int32(min(8_388_607, max(-8_388_608, scaled))) << 8)
    }
  }

  /// Removes the beginning of a sound file that a program left when it was killed. One that is being written is locked.
  /// - Throws: if it is what a crash left of a take.
  static func removeAbandoned(_ name: String, in folder: OpenFolder) throws(AudioFileError) {
    if let claim = TakeFile.claim(on: name) {
      throw AudioFileError(
        "\(name) \(claim), which was cut off; finish it with pinna takes repair, or give another name")
    }
    let descriptor = folder.open(name, O_RDWR)
    guard descriptor >= 0 else { return }
    defer { Glibc.close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      FileLock.acquire(descriptor) == .acquired
    else { return }
    let start = Chunks.bytes(descriptor, at: 0, count: 4)
    if ["", "RIFF", "RF64", "caff", "fLaC", "OggS"].contains(String(decoding: start, as: UTF8.self)) {
      folder.remove(name, as: descriptor)
    }
  }

  private func failure(_ what: String) -> AudioFileError {
    let reason = AudioFileReader.lastError(wav?.file)
    return AudioFileError("\(what): \(reason)", reason: reason)
  }

  private func systemFailure(_ what: String) -> AudioFileError {
    let reason = errno
    return AudioFileError("\(what): \(String(cString: strerror(reason)))")
  }
}
