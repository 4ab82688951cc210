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
    let isNamed: Bool
    switch self {
    case .wav: isNamed = true
    case .amb:
      let type = sf_command(file, Int32(SFC_WAVEX_SET_AMBISONIC), nil, Int32(SF_AMBISONIC_B_FORMAT))
      isNamed = type == Int32(SF_AMBISONIC_B_FORMAT)
    // Its comment stands among its labels.
    case .caf: return setChunk(ambisonics.ambixChunk, chunkDescription("uuid"), in: file)
    }
    return isNamed && sf_set_string(file, Int32(SF_STR_COMMENT), ambisonics.comment) == 0
  }
}
