import CSndfile
import Glibc

/// A finished WAV file becomes a smaller one.
public enum Compression: String, Sendable {
  /// Lossless, in 24 bits.
  case flac
  /// Lossy.
  case opus

  /// Why a file like this cannot be had; nil where it can.
  public func obstacle(channels: Int, sampleRate: Int) -> String? {
    if channels > 8 { return "\(rawValue) ends at 8 channels" }
    if self == .opus, sampleRate != 48000 { return "opus wants 48000 Hz" }
    return nil
  }

  /// Writes `wav` anew, with this format's ending, reads it back, and removes `wav` where nothing is missing.
  /// - Parameter isWanted: asked before every block; once it says no, that is an error, and `wav` stays.
  /// - Returns: the new name.
  public func replace(
    wav: String, in folder: OpenFolder = .working, while isWanted: () -> Bool = { true }
  ) throws(AudioFileError) -> String {
    let reader = try AudioFileReader(folder: folder, name: wav)
    let name = wav.dropLast(4) + "." + rawValue
    let part = name + ".part"
    let partPath = folder.path(of: part)
    let descriptor = folder.create(part)
    guard descriptor >= 0 else { throw failure("cannot write \(partPath)") }
    defer { close(descriptor) }
    do {
      try encode(reader, descriptor, partPath, isWanted)
      guard fdatasync(descriptor) == 0 else { throw failure("cannot secure \(partPath)") }
      try verify(
        AudioFileReader(folder: folder, name: wav), AudioFileReader(folder: folder, name: part), isWanted)
      guard folder.has(part, as: descriptor) else {
        throw AudioFileError("\(partPath) was exchanged for another file while it was written")
      }
      guard folder.renameToFree(part, name) == 0 else {
        throw failure("cannot name \(folder.path(of: name))")
      }
    } catch {
      folder.remove(part, as: descriptor)
      throw error as? AudioFileError ?? AudioFileError("\(error)")
    }
    folder.remove(wav, as: reader.descriptor)
    return name
  }

  private func encode(
    _ reader: AudioFileReader, _ descriptor: Int32, _ part: String, _ isWanted: () -> Bool
  ) throws(AudioFileError) {
    let format = self == .flac ? SF_FORMAT_FLAC | SF_FORMAT_PCM_24 : SF_FORMAT_OGG | SF_FORMAT_OPUS
    var info = SF_INFO(
      frames: 0, samplerate: Int32(reader.sampleRate), channels: Int32(reader.channels),
      format: Int32(format),
      sections: 0, seekable: 0)
    guard let file = sf_open_fd(descriptor, Int32(SFM_WRITE), &info, Int32(SF_FALSE)) else {
      throw AudioFileError("cannot write \(part): \(AudioFileReader.lastError(nil))")
    }
    defer { sf_close(file) }
    while true {
      try proceed(isWanted)
      // libsndfile scales floats differently on their way in and out; integers it leaves alone.
      let (frames, written) =
        switch self {
        case .flac: write(reader.readIntegers(frames: 16384), reader.channels) { sf_writef_int(file, $0, $1) }
        case .opus: write(reader.read(frames: 16384), reader.channels) { sf_writef_float(file, $0, $1) }
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

  /// The same sound where that is promised, the same length always.
  private func verify(
    _ wav: AudioFileReader, _ other: AudioFileReader, _ isWanted: () -> Bool
  ) throws(AudioFileError) {
    while true {
      try proceed(isWanted)
      let (a, b) = (wav.readIntegers(frames: 16384), other.readIntegers(frames: 16384))
      guard a.count == b.count, self == .opus || a == b else {
        throw AudioFileError("\(other.path) does not read back as it was written")
      }
      if a.isEmpty { return }
    }
  }

  private func proceed(_ isWanted: () -> Bool) throws(AudioFileError) {
    guard isWanted() else { throw AudioFileError("Pinna could not wait") }
  }

  private func failure(_ what: String) -> AudioFileError {
    AudioFileError("\(what): \(String(cString: strerror(errno)))")
  }
}
