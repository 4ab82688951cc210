import CSndfile

/// The kind of file that samples are in.
enum SoundContainer {
  case wav
  /// WAV with the sub-format of B-format in FuMa's order.
  case amb
  /// Core Audio's format with the chunk of AmbiX.
  case caf

  init(path: String, isAmbisonic: Bool) {
    func ends(_ ending: String) -> Bool { isAmbisonic && path.lowercased().hasSuffix(ending) }
    self = ends(AmbisonicFormat.fumaEnding) ? .amb : ends(AmbisonicFormat.cafEnding) ? .caf : .wav
  }

  /// libsndfile's number.
  var format: Int {
    switch self {
    case .wav: SF_FORMAT_RF64
    case .amb: SF_FORMAT_WAVEX
    case .caf: SF_FORMAT_CAF
    }
  }

  /// The most bytes of a file.
  var limit: Int { self == .amb ? Int(UInt32.max) : .max }

  /// Writes what the channels are into the header of a file without sound.
  /// - Returns: whether libsndfile takes it.
  func label(_ file: OpaquePointer, _ ambisonics: AmbisonicFormat) -> Bool {
    switch self {
    case .wav: break
    case .amb:
      let type = sf_command(file, Int32(SFC_WAVEX_SET_AMBISONIC), nil, Int32(SF_AMBISONIC_B_FORMAT))
      guard type == Int32(SF_AMBISONIC_B_FORMAT) else { return false }
    // Its comment stands among its labels.
    case .caf: return setChunk(ambisonics.ambixChunk, chunkDescription("uuid"), in: file)
    }
    // libsndfile's own comment would stand behind the sound, where no reader of a pipe sees it in time.
    return setChunk(Self.information(ambisonics.comment), chunkDescription("LIST"), in: file)
  }

  /// The content of a LIST chunk with a comment, which ends where a multiple of four does: libsndfile fills up the chunk,
  /// and does not find the next one then.
  /// - Source: Microsoft, "RIFF Tagged File Format": INFO, ICMT.
  static func information(_ comment: String) -> [UInt8] {
    let text = Array(comment.utf8) + [UInt8](repeating: 0, count: 4 - comment.utf8.count % 4)
    let length = (0..<4).map { UInt8(truncatingIfNeeded: text.count >> (8 * $0)) }
    return Array("INFOICMT".utf8) + length + text
  }
}
