import Text

/// Who speaks where, or has in the last seconds.
package struct TalkerReport: Codable, Sendable {
  /// That of whoever was heard there first.
  package let identity: Int
  /// Of the seat there, or "talker 1"; nil from an older Pinna.
  package let name: String?
  /// In degrees from the forward of the data source of `main`, left positive.
  package let azimuth: Double
  /// In degrees from its horizon, up positive; nil where the array cannot tell.
  package let elevation: Double?
  /// RMS at the microphones, in decibels of full scale; the last one while it is silent.
  package let levelDB: Double
  /// The part of what was heard directly in the last half second, 0…1; 0 while it is silent.
  package let confidence: Double
  /// Whether it speaks now.
  package let isActive: Bool

  package init(
    identity: Int, name: String? = nil, azimuth: Double, elevation: Double?, levelDB: Double,
    confidence: Double, isActive: Bool
  ) {
    self.name = name
    (self.identity, self.azimuth, self.elevation) = (identity, azimuth, elevation)
    (self.levelDB, self.confidence, self.isActive) = (levelDB, confidence, isActive)
  }

  /// "1 at 35°, 10° up (-32 dB)", "anna at -60° (silent)"
  package var text: String {
    let height =
      elevation.map { $0 == 0 ? "" : ", \(abs($0).rounded().plain)° \($0 < 0 ? "down" : "up")" } ?? ""
    let name = name.flatMap { $0 == "talker \(identity)" ? nil : $0 } ?? "\(identity)"
    return "\(name) at \((azimuth.rounded() + 0).plain)°\(height)"
      + (isActive ? " (\((levelDB.rounded() + 0).plain) dB)" : " (silent)")
  }
}

/// The answer to `/pinna/talkers`.
package struct TalkersAnswer: Codable, Sendable {
  package let talkers: [TalkerReport]

  package init(talkers: [TalkerReport]) { self.talkers = talkers }

  /// One line.
  package var text: String {
    talkers.isEmpty ? "nobody" : talkers.map(\.text).joined(separator: ", ")
  }
}

extension StatusReport {
  /// "talkers: 1 at 35° (-32 dB)", or why nobody looks for them; nil if nobody shall.
  package var talkersLine: String? {
    (self.talkers.map { TalkersAnswer(talkers: $0).text } ?? self.talkersText).map { "talkers: \($0)" }
  }
}
