import CSndfile
import Glibc

/// The sample format of a WAV file.
public enum SampleEncoding: Sendable, CaseIterable {
  case float32, pcm24

  var bytes: Int { self == .float32 ? 4 : 3 }
  var subformat: Int { self == .float32 ? SF_FORMAT_FLOAT : SF_FORMAT_PCM_24 }
}

/// A WAV file, or B-format in a file of its own, that libsndfile has open for writing. WAV becomes RF64 above 4 GiB.
/// The length of the header never changes.
struct WAVFile {
  let file: OpaquePointer
  private let descriptor: Int32
  /// Where the mask of loudspeakers stands if it is to be empty. libsndfile has one for every number of channels, so
  /// that four microphones would be "quad".
  private var emptyMask: Int?

  /// - Parameters:
  ///   - descriptor: of an empty file. The caller closes it.
  ///   - areMicrophones: whether the channels are microphones, which belong to no loudspeakers.
  ///   - trackNames: the chunk with the channels' names; nil for none.
  ///   - chunks: further ones, of .caf.
  ///   - ambisonics: what the file says of its channels if they are B-format.
  init(
    descriptor: Int32, encoding: SampleEncoding, channels: Int, sampleRate: Int, areMicrophones: Bool,
    broadcast: SF_BROADCAST_INFO?, trackNames: [UInt8]? = nil, title: String? = nil,
    chunks: [(name: String, content: [UInt8])] = [], container: SoundContainer = .wav,
    ambisonics: AmbisonicFormat? = nil
  ) throws(AudioFileError) {
    // SFM_RDWR, because with SFM_WRITE libsndfile adds a coding history with its version to the broadcast extension.
    // SFC_SET_ADD_PEAK_CHUNK is never sent. If it is, RF64 gets a PEAK chunk with the time of writing, whatever the
    // argument says.
    file = try openForWriting(
      descriptor, mode: SFM_RDWR, channels: channels, sampleRate: sampleRate,
      format: container.format | encoding.subformat)
    self.descriptor = descriptor
    sf_command(file, Int32(SFC_RF64_AUTO_DOWNGRADE), nil, Int32(SF_TRUE))
    if let broadcast { setBroadcast(broadcast) }
    if let title { sf_set_string(file, Int32(SF_STR_TITLE), title) }
    let hasNames =
      (trackNames.map { TrackNames.set($0, in: file) } ?? true)
      && chunks.allSatisfy { setChunk($0.content, chunkDescription($0.name), in: file) }
    let isLabelled = ambisonics.map { container.label(file, $0) } ?? true
    guard hasNames, isLabelled, updateHeader() else {
      let reason = AudioFileReader.lastError(file)
      sf_close(file)
      throw AudioFileError(reason)
    }
    guard areMicrophones else { return }
    emptyMask = Self.channelMask(descriptor)?.offset
    clearMask()
  }

  /// The mask of loudspeakers in a header, and where it stands; nil if there is none.
  /// - Source: Microsoft, WAVEFORMATEXTENSIBLE: a format of 0xFFFE, and the mask at byte 20.
  static func channelMask(_ descriptor: Int32) -> (offset: Int, mask: UInt32)? {
    let chunks = Chunks(descriptor: descriptor, size: .max, format: .riff)
    let format = chunks.chunks(from: Chunks.Format.riff.first).first { $0.name == "fmt " }
    guard let format, format.length >= 24 else { return nil }
    let content = chunks.bytes(at: format.start, count: 24)
    guard content.count == 24, content[0] == 0xFE, content[1] == 0xFF else { return nil }
    return (format.start + 20, UInt32(chunks.number(content[20...])))
  }

  /// After every time that libsndfile writes the header.
  private func clearMask() {
    if let emptyMask { pwrite(descriptor, [0, 0, 0, 0] as [UInt8], 4, off_t(emptyMask)) }
  }

  /// Closes the file, but not its descriptor.
  func close() {
    sf_close(file)
    clearMask()
  }

  /// Changes the broadcast extension. Adds it only before the first frame is written.
  func setBroadcast(_ broadcast: SF_BROADCAST_INFO) {
    var broadcast = broadcast
    sf_command(file, Int32(SFC_SET_BROADCAST_INFO), &broadcast, Int32(MemoryLayout<SF_BROADCAST_INFO>.size))
    clearMask()
  }

  /// Truncates the file, or extends it with silence, which takes no space on disk. Writing continues at the new end.
  /// - Returns: whether it succeeded.
  func setLength(frames: Int) -> Bool {
    var count = sf_count_t(frames)
    return sf_command(file, Int32(SFC_FILE_TRUNCATE), &count, Int32(MemoryLayout<sf_count_t>.size)) == 0
  }

  /// - Returns: whether it succeeded.
  func updateHeader() -> Bool {
    sf_command(file, Int32(SFC_UPDATE_HEADER_NOW), nil, 0)
    clearMask()
    return sf_error(file) == 0
  }

  /// Length of the header: bytes before the first frame.
  static func headerBytes(_ file: OpaquePointer, _ descriptor: Int32) -> Int? {
    guard sf_seek(file, 0, Int32(SEEK_SET)) == 0 else { return nil }
    let offset = lseek(descriptor, 0, SEEK_CUR)
    return offset > 0 ? Int(offset) : nil
  }

  /// The number of frames that a reader finds in a finished file; nil if it cannot be opened.
  /// - Parameter descriptor: stays open.
  static func frames(_ descriptor: Int32) -> Int? {
    var info = SF_INFO()
    let source = ReadDescriptor(descriptor)
    guard lseek(descriptor, 0, SEEK_SET) == 0, let file = openForReading(source, &info) else { return nil }
    withExtendedLifetime(source) { _ = sf_close(file) }
    return Int(info.frames)
  }
}
