import Acoustics

/// What a check of an array found, in plain words.
public struct ArrayVerdict: Sendable {
  public let device: Device
  /// One per microphone, in the device's order.
  public let microphones: [MicrophoneVerdict]
  /// Everything that was found, the gravest first.
  public let findings: [Finding]
  /// What could not be judged, why, and what to do about it: one sentence each.
  public let notJudged: [String]
  /// How the order of the channels was judged; nil if it could not be.
  public let order: OrderEvidence?

  /// Whether there was enough sound to judge levels, polarity and order, as far as there is anything to compare.
  public let isJudged: Bool

  /// Whether nothing was found, though it would have been.
  public var isWell: Bool { findings.isEmpty && isJudged }
}

/// How well the order of the channels fits the geometry, against other orders.
public struct OrderEvidence: Sendable {
  /// Number of sound events compared.
  public let events: Int
  /// Share of the events' energy that single waves explain under the order found, 0…1.
  public let fit: Double
  /// The order found: the microphone that each channel carries.
  public let order: [Int]
  /// How much worse the order of the channels as given is than the one found, in per cent; 0 if it is the one found.
  public let givenIsWorse: Double
  /// The best other order that is no mirror image or rotation of the one found, and how much worse it is, in per cent.
  public let second: (order: [Int], isWorse: Double)?
}

public struct MicrophoneVerdict: Hashable, Sendable {
  public let name: String
  /// RMS level in dBFS; nil for digital silence.
  public let level: Double?
  /// Level against the median microphone in dB, with what the array's body and the sources' places explain taken off;
  /// nil if it could not be judged.
  public let deviation: Double?
  /// Two or three words: "well", "inverted", "swapped with line-2".
  public let verdict: String
  /// What to do; nil where nothing is wrong.
  public let remedy: String?
}

/// Something that is wrong with one or several microphones.
public struct Finding: Hashable, Sendable {
  public enum Kind: String, Sendable, CaseIterable {
    case dead, clipped, offset, hum, level, inverted, doubled, swapped, permuted, late
  }

  public let kind: Kind
  /// Indices of the microphones concerned.
  public let microphones: [Int]
  /// Whether it is only known that it is one of `microphones`.
  public let isOneOf: Bool
  /// In dB, or for late microphones in microseconds; nil for kinds without a size.
  public let size: Double?
  /// Of each microphone of `microphones`, in the same order: two or three words.
  let verdicts: [String]
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
}

/// Why a recording cannot be checked, or an array not be calibrated, as one sentence.
public struct ArrayCheckError: Error, Hashable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}

extension [String] {
  /// "a", "a and b", "a, b and c".
  func listed(_ word: String = "and") -> String {
    count < 2 ? first ?? "" : dropLast().joined(separator: ", ") + " \(word) " + last!
  }
}

/// "+6.1" or "-3.0".
func signed(_ value: Double) -> String {
  let tenths = (abs(value) * 10).rounded() / 10
  return (value < 0 && tenths > 0 ? "-" : "+") + "\(tenths)"
}
