import CSndfile

/// The names of a WAV file's channels in an iXML chunk, which editors show. It stands in the header, before the sound, so
/// that a file whose writer was killed has it, too.
/// - Source: iXML specification 3.01, http://www.ixml.info (TRACK_LIST).
enum TrackNames {
  /// The content of the chunk, of a length that libsndfile writes without padding: a multiple of 4.
  static func chunk(_ names: [String]) -> [UInt8] {
    var lines = [
      #"<?xml version="1.0" encoding="UTF-8"?>"#, "<BWFXML>", "<IXML_VERSION>2.0</IXML_VERSION>",
      "<TRACK_LIST>",
      "<TRACK_COUNT>\(names.count)</TRACK_COUNT>",
    ]
    for (n, name) in names.enumerated() {
      lines.append(
        "<TRACK><CHANNEL_INDEX>\(n + 1)</CHANNEL_INDEX><INTERLEAVE_INDEX>\(n + 1)</INTERLEAVE_INDEX>"
          + "<NAME>\(escaped(name))</NAME></TRACK>")
    }
    lines += ["</TRACK_LIST>", "</BWFXML>"]
    let text = Array((lines.joined(separator: "\n") + "\n").utf8)
    return text + [UInt8](repeating: 0x0A, count: -text.count & 3)
  }

  /// XML has no control characters.
  private static func escaped(_ name: String) -> String {
    var text = ""
    for scalar in name.unicodeScalars where scalar.value >= 0x20 && scalar.value != 0x7F {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// Puts the chunk into the header of a file without sound.
  /// - Returns: whether libsndfile takes it.
  static func set(_ chunk: [UInt8], in file: OpaquePointer) -> Bool {
    setChunk(chunk, description, in: file)
  }

  /// The chunk in a file; nil if there is none, or one larger than any of Pinna's.
  static func chunk(of file: OpaquePointer) -> [UInt8]? {
    var info = description
    guard let found = sf_get_chunk_iterator(file, &info),
      sf_get_chunk_size(found, &info) == Int32(SF_ERR_NO_ERROR),
      info.datalen > 0, info.datalen <= 65536
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(info.datalen))
    let isRead = bytes.withUnsafeMutableBytes {
      info.data = $0.baseAddress
      return sf_get_chunk_data(found, &info) == Int32(SF_ERR_NO_ERROR)
    }
    return isRead ? bytes : nil
  }

  private static var description: SF_CHUNK_INFO { chunkDescription("iXML") }
}

/// - Parameter name: four letters.
func chunkDescription(_ name: String) -> SF_CHUNK_INFO {
  var info = SF_CHUNK_INFO()
  withUnsafeMutableBytes(of: &info.id) { $0.copyBytes(from: name.utf8) }
  info.id_size = 4
  return info
}

/// Puts a chunk into the header of a file without sound.
/// - Returns: whether libsndfile takes it.
func setChunk(_ content: [UInt8], _ description: SF_CHUNK_INFO, in file: OpaquePointer) -> Bool {
  var (bytes, info) = (content, description)
  return bytes.withUnsafeMutableBytes {
    info.datalen = UInt32($0.count)
    info.data = $0.baseAddress
    return sf_set_chunk(file, &info) == Int32(SF_ERR_NO_ERROR)
  }
}
