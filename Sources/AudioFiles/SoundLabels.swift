import CSndfile

/// What a sound file says beside its sound: when it was recorded, a title, the names of its channels, places with names.
/// WAV has a broadcast extension, an iXML chunk and cues for these, FLAC and Opus comments, CAF information and markers.
public struct SoundLabels: Sendable {
  public var broadcast: BroadcastExtension?
  public var title: String?
  /// None for no names.
  public var trackNames: [String]
  public var cues: [WAVCue]

  public init(
    broadcast: BroadcastExtension? = nil, title: String? = nil, trackNames: [String] = [], cues: [WAVCue] = []
  ) {
    (self.broadcast, self.title, self.trackNames, self.cues) = (broadcast, title, trackNames, cues)
  }

  private static let mostCues = 1000
  /// In bytes. libsndfile writes no longer comments of Opus.
  private static let longestComments = 28_000

  /// The same as comments of FLAC and Opus. Places beyond what these hold are left out.
  /// - Parameters:
  ///   - comment: what is said of the channels.
  ///   - hasSpeakers: whether the channels belong to loudspeakers, as readers take for granted.
  /// - Source: names as ffmpeg and libFLAC write them; chapters: the Vorbis comment extension of Xiph's wiki, "Chapter
  ///   Extension"; the mask: RFC 9639, section 8.6.2.
  func comments(_ comment: String?, hasSpeakers: Bool, sampleRate: Int) -> [String] {
    func line(_ key: String, _ value: String?) -> [String] {
      value.map { $0.isEmpty ? [] : ["\(key)=\($0)"] } ?? []
    }
    var lines =
      line("TITLE", title) + line("DESCRIPTION", broadcast?.description)
      + line("ENCODED_BY", broadcast?.originator) + line("DATE", broadcast?.date)
      + line("CREATION_TIME", broadcast?.time)
      + line("TIME_REFERENCE", broadcast.flatMap { $0.date.isEmpty ? nil : "\($0.timeReference)" })
      + line("COMMENT", comment)
    for (n, name) in trackNames.enumerated() { lines += line("TRACK_NAME_\(n + 1)", name) }
    // RFC 9639: no loudspeaker, where the number of channels would name some.
    if !hasSpeakers { lines.append("WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0x0") }
    for (n, cue) in cues.prefix(Self.mostCues).enumerated() {
      func digits(_ number: Int, _ count: Int) -> String {
        String(repeating: "0", count: max(0, count - "\(number)".count)) + "\(number)"
      }
      let key = "CHAPTER" + digits(n, 3)
      let milliseconds = (2000 * cue.frame + sampleRate) / (2 * sampleRate)
      let seconds = milliseconds / 1000
      let time =
        "\(digits(seconds / 3600, 2)):\(digits(seconds / 60 % 60, 2)):\(digits(seconds % 60, 2))."
        + digits(milliseconds % 1000, 3)
      let more = ["\(key)=\(time)", "\(key)NAME=\(cue.label)", "\(key)FRAME=\(cue.frame)"]
      guard VorbisComments.length(lines + more) <= Self.longestComments else { break }
      lines += more
    }
    return lines
  }

  // MARK: CAF

  /// The chunks of CAF, by their names.
  /// - Source: Apple Core Audio Format Specification 1.0: information, marker and strings chunks.
  func chunks(_ comment: String?) -> [(name: String, content: [UInt8])] {
    var chunks: [(name: String, content: [UInt8])] = []
    var texts = [("title", title), ("comment", comment)]
    if let broadcast, !broadcast.date.isEmpty {
      texts += [
        ("date", "\(broadcast.date)T\(broadcast.time)"), ("time reference", "\(broadcast.timeReference)"),
      ]
    }
    if let broadcast { texts.append(("description", broadcast.description)) }
    for (n, name) in trackNames.enumerated() { texts.append(("track name \(n + 1)", name)) }
    let entries = texts.compactMap { key, value in value.map { Array(key.utf8) + [0] + Array($0.utf8) + [0] }
    }
    if !entries.isEmpty { chunks.append(("info", Self.big(entries.count, 4) + entries.joined())) }
    guard !cues.isEmpty else { return chunks }
    var (markers, offsets, strings): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
    for (n, cue) in cues.enumerated() {
      let number = Self.big(n + 1, 4)
      // A generic marker of no time code, on all channels.
      markers += Self.big(0, 4) + Self.big(Int(Double(cue.frame).bitPattern), 8) + number
      markers += [0xFF, 0xFF, 0xFF, 0xFF] + Self.big(0, 4) + Self.big(0, 4)
      offsets += number + Self.big(strings.count, 8)
      strings += Array(cue.label.utf8) + [0]
    }
    chunks.append(("mark", Self.big(0, 4) + Self.big(cues.count, 4) + markers))
    chunks.append(("strg", Self.big(cues.count, 4) + offsets + strings))
    return chunks
  }

  private static func big(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
  }
}
