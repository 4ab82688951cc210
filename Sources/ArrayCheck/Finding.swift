/// Something that is wrong with one or several microphones.
public struct Finding: Hashable, Sendable {
  public enum Kind: String, Sendable, CaseIterable {
    case bFormat, shifted, invalid, dead, clipped, offset, hum, dull, level, inverted, doubled, swapped,
      permuted,
      late
  }

  public let kind: Kind
  /// Indices of the microphones concerned.
  public let microphones: [Int]
  /// Whether it is only known that it is one of `microphones`.
  public let isOneOf: Bool
  /// In dB, or for late microphones in microseconds; nil for kinds without a size.
  public let size: Double?
  /// Two or three words for each of `microphones`.
  private let verdicts: [String]
  /// What happened, as one sentence.
  public let sentence: String
  /// What to do.
  public let remedy: String

  init(
    _ kind: Kind, _ microphones: [Int], isOneOf: Bool = false, size: Double? = nil, verdicts: [String],
    sentence: String, remedy: String
  ) {
    self.kind = kind
    self.microphones = microphones
    self.isOneOf = isOneOf
    self.size = size
    self.verdicts = verdicts
    self.sentence = sentence
    self.remedy = remedy
  }

  init(
    _ kind: Kind, _ microphone: Int, size: Double? = nil, verdict: String, sentence: String, remedy: String
  ) {
    self.init(kind, [microphone], size: size, verdicts: [verdict], sentence: sentence, remedy: remedy)
  }

  /// Two or three words about one of `microphones`; nil about others.
  func verdict(on microphone: Int) -> String? {
    microphones.firstIndex(of: microphone).map { verdicts[$0] }
  }
}
