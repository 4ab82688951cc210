import CSndfile
import Glibc

/// How samples stand in a WAV file.
public enum SampleEncoding: Sendable, CaseIterable {
  case float32, pcm24

  var bytes: Int { self == .float32 ? 4 : 3 }
  var subformat: Int { self == .float32 ? SF_FORMAT_FLOAT : SF_FORMAT_PCM_24 }
}

/// A WAV file of libsndfile's that is open for writing; RF64 where it passes 4 GiB. Its header has one length,
/// however much sound follows.
struct WAVFile {
  let file: OpaquePointer

  /// - Parameter descriptor: of an empty file, which stays the caller's to close.
  init(
    descriptor: Int32, encoding: SampleEncoding, channels: Int, sampleRate: Int, broadcast: SF_BROADCAST_INFO?
  ) throws(AudioFileError) {
    var info = SF_INFO(
      frames: 0, samplerate: Int32(sampleRate), channels: Int32(channels),
      format: Int32(SF_FORMAT_RF64 | encoding.subformat), sections: 0, seekable: 0)
    // Open for writing alone, libsndfile adds a coding history with its version to the broadcast extension. RF64 has
    // a PEAK chunk, with the time of writing, only where SFC_SET_ADD_PEAK_CHUNK is sent, whatever it says.
    guard let file = sf_open_fd(descriptor, Int32(SFM_RDWR), &info, Int32(SF_FALSE)) else {
      throw AudioFileError(AudioFileReader.lastError(nil))
    }
    self.file = file
    sf_command(file, Int32(SFC_RF64_AUTO_DOWNGRADE), nil, Int32(SF_TRUE))
    if let broadcast { setBroadcast(broadcast) }
    guard updateHeader() else {
      let reason = AudioFileReader.lastError(file)
      sf_close(file)
      throw AudioFileError(reason)
    }
  }

  /// Changes the extension, or adds it where nothing is written yet.
  func setBroadcast(_ broadcast: SF_BROADCAST_INFO) {
    var broadcast = broadcast
    sf_command(file, Int32(SFC_SET_BROADCAST_INFO), &broadcast, Int32(MemoryLayout<SF_BROADCAST_INFO>.size))
  }

  /// Cuts the file, or lengthens it by silence, which takes no room on disk; what is written next comes behind it.
  /// - Returns: whether that worked.
  func setLength(frames: Int) -> Bool {
    var count = sf_count_t(frames)
    return sf_command(file, Int32(SFC_FILE_TRUNCATE), &count, Int32(MemoryLayout<sf_count_t>.size)) == 0
  }

  /// - Returns: whether that worked.
  func updateHeader() -> Bool {
    sf_command(file, Int32(SFC_UPDATE_HEADER_NOW), nil, 0)
    return sf_error(file) == 0
  }

  /// Bytes before the first frame of a file of libsndfile's.
  static func headerBytes(_ file: OpaquePointer, _ descriptor: Int32) -> Int? {
    guard sf_seek(file, 0, Int32(SEEK_SET)) == 0 else { return nil }
    let offset = lseek(descriptor, 0, SEEK_CUR)
    return offset > 0 ? Int(offset) : nil
  }

  /// How many frames a reader finds in a finished file; nil where none can open it.
  /// - Parameter descriptor: it stays open.
  static func frames(_ descriptor: Int32) -> Int? {
    var info = SF_INFO()
    guard lseek(descriptor, 0, SEEK_SET) == 0,
      let file = openForReading(descriptor, &info)
    else { return nil }
    sf_close(file)
    return Int(info.frames)
  }
}
