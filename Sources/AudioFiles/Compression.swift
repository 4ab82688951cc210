import CSndfile
import Glibc

/// Converts a finished WAV file to a smaller format.
public enum Compression: String, CaseIterable, Sendable {
  /// Lossless, 24 bits.
  case flac
  /// Lossy.
  case opus

  /// Why this format cannot hold such a file; nil if it can.
  /// - Parameters:
  ///   - isAmbisonic: whether the channels are B-format.
  ///   - areMicrophones: whether they are microphones, of which every difference counts.
  public func obstacle(
    channels: Int, sampleRate: Int, isAmbisonic: Bool = false, areMicrophones: Bool = false
  ) -> String? {
    // libsndfile writes mapping family 1: loudspeakers, in pairs, the last one of six and more for the bass alone.
    // Families 2 and 3 are for B-format.
    if self == .opus, isAmbisonic {
      return "opus would couple the channels of B-format as if they were loudspeakers, which blurs directions"
    }
    if self == .opus, areMicrophones { return "opus is lossy, and microphones stay as they are" }
    if self == .opus, channels > 2 { return "opus takes more than 2 channels for loudspeakers" }
    if channels > 8 { return "\(rawValue) supports at most 8 channels" }
    if self == .opus, sampleRate != 48000 { return "opus requires a sample rate of 48000 Hz" }
    // libFLAC writes what streams can say: 16 bits of Hz, or of tens of Hz.
    if self == .flac, sampleRate > 65_535, sampleRate % 10 != 0 || sampleRate > 655_350 {
      return "flac takes whole tens above 65535 Hz, up to 655350 Hz, and not \(sampleRate) Hz"
    }
    return nil
  }

  /// Converts `wav` to a file with this format's extension, reads that back, and removes `wav` if it is complete.
  /// - Parameters:
  ///   - output: what a verb writes; nil for the old name with this format's extension, which must not exist.
  ///   - labels: what the new file says beside its sound; of the broadcast extension, what `wav` says if these do not.
  ///   - isAmbisonic, areMicrophones: as for `obstacle`.
  ///   - isWanted: called before every block. If it returns false, the conversion fails and `wav` stays.
  /// - Returns: the new name.
  public func replace(
    wav: String, as output: OutputFile? = nil, in folder: OpenFolder = .working,
    labels: SoundLabels = SoundLabels(), isAmbisonic: Bool = false, areMicrophones: Bool = false,
    while isWanted: () -> Bool = { true }
  ) throws(AudioFileError) -> String {
    let reader = try AudioFileReader(folder: folder, name: wav)
    if let obstacle = obstacle(
      channels: reader.channels, sampleRate: reader.sampleRate, isAmbisonic: isAmbisonic,
      areMicrophones: areMicrophones)
    {
      throw AudioFileError(obstacle)
    }
    let name = output?.path ?? wav.dropLast(4) + "." + rawValue
    let part = name + ".part"
    let partPath = folder.path(of: part)
    if output != nil { try AudioFileWriter.removeAbandoned(part, in: folder) }
    let descriptor = folder.create(part)
    guard descriptor >= 0 else { throw failure("cannot write \(partPath)") }
    defer { close(descriptor) }
    _ = FileLock.acquire(descriptor, timeout: .seconds(1))
    var labels = labels
    labels.broadcast = labels.broadcast ?? reader.broadcast
    let comments = labels.comments(
      reader.comment, hasSpeakers: !isAmbisonic && !areMicrophones, sampleRate: reader.sampleRate)
    do {
      try encode(
        reader, descriptor, partPath, room: comments.isEmpty ? 0 : VorbisComments.length(comments), isWanted)
      guard comments.isEmpty || VorbisComments(descriptor)?.replace(with: comments, in: descriptor) == true
      else {
        throw AudioFileError("the comments of \(partPath) cannot be written")
      }
      guard fdatasync(descriptor) == 0 else { throw failure("cannot flush \(partPath) to disk") }
      // By its descriptor: another program may write the same name.
      try reader.seek(toFrame: 0)
      try verify(reader, AudioFileReader(folder: folder, name: part), isWanted)
      guard folder.has(part, as: descriptor) else {
        throw AudioFileError("\(partPath) was replaced by another file while it was written")
      }
      if let output {
        try output.adopt(part)
      } else if folder.renameWithoutReplacing(part, name) != 0 {
        throw failure("cannot rename \(partPath) to \(folder.path(of: name))")
      }
    } catch {
      folder.remove(part, as: descriptor)
      throw error as? AudioFileError ?? AudioFileError("\(error)")
    }
    folder.remove(wav, as: reader.descriptor)
    return name
  }

  private func encode(
    _ reader: AudioFileReader, _ descriptor: Int32, _ part: String, room: Int, _ isWanted: () -> Bool
  ) throws(AudioFileError) {
    let format =
      switch self {
      case .flac: SF_FORMAT_FLAC | SF_FORMAT_PCM_24
      case .opus: SF_FORMAT_OGG | SF_FORMAT_OPUS
      }
    let file: OpaquePointer
    do {
      file = try openForWriting(
        descriptor, mode: SFM_WRITE, channels: reader.channels, sampleRate: reader.sampleRate, format: format)
    } catch {
      throw AudioFileError("cannot write \(part): \(error)")
    }
    defer { sf_close(file) }
    // What comes in its place has room.
    if room > 0 { sf_set_string(file, Int32(SF_STR_COMMENT), String(repeating: " ", count: room)) }
    while true {
      try proceed(isWanted)
      // For FLAC, integers: libsndfile scales floats differently when reading and writing.
      let (frames, written) =
        switch self {
        case .flac:
          write(try reader.readIntegers(frames: 16384), reader.channels) { sf_writef_int(file, $0, $1) }
        case .opus:
          write(try reader.read(frames: 16384), reader.channels) { sf_writef_float(file, $0, $1) }
        }
      if frames == 0 { return }
      guard written == frames else {
        throw AudioFileError("\(part) could not be written to its end: \(AudioFileReader.lastError(file))")
      }
    }
  }

  private func write<Sample>(
    _ block: [Sample], _ channels: Int, _ write: (UnsafePointer<Sample>, sf_count_t) -> sf_count_t
  ) -> (frames: Int, written: Int) {
    let frames = block.count / channels
    return (
      frames,
      frames == 0 ? 0 : Int(block.withUnsafeBufferPointer { write($0.baseAddress!, sf_count_t(frames)) })
    )
  }

  /// Checks that both files have the same channels and length and, for a lossless format, the same samples; for a lossy one,
  /// the same bands in every channel.
  private func verify(
    _ wav: AudioFileReader, _ other: AudioFileReader, _ isWanted: () -> Bool
  ) throws(AudioFileError) {
    let difference = AudioFileError("\(other.path) does not read back as it was written")
    guard wav.channels == other.channels, wav.sampleRate == other.sampleRate else { throw difference }
    guard self == .opus else {
      while true {
        try proceed(isWanted)
        let (a, b) = (try wav.readIntegers(frames: 16384), try other.readIntegers(frames: 16384))
        guard a == b else { throw difference }
        if a.isEmpty { return }
      }
    }
    var levels = BandLevels(channels: wav.channels, sampleRate: wav.sampleRate)
    var others = levels
    while true {
      try proceed(isWanted)
      let (a, b) = (try wav.read(frames: 16384), try other.read(frames: 16384))
      guard a.count == b.count else { throw difference }
      if a.isEmpty { break }
      levels.add(a)
      others.add(b)
    }
    guard let channel = levels.firstDifference(from: others) else { return }
    throw AudioFileError("channel \(channel + 1) of \(other.path) lacks parts of the sound")
  }

  private func proceed(_ isWanted: () -> Bool) throws(AudioFileError) {
    guard isWanted() else { throw AudioFileError("the conversion was cancelled") }
  }

  private func failure(_ what: String) -> AudioFileError {
    AudioFileError("\(what): \(String(cString: strerror(errno)))")
  }
}
