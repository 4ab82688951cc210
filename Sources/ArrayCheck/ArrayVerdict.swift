import Acoustics

/// What a check of an array found, in plain words.
public struct ArrayVerdict: Sendable {
  public let device: Device
  /// One per microphone, in the device's order.
  public let microphones: [MicrophoneVerdict]
  /// All channels of the product, in their order; empty if the recording has those of the microphones alone.
  public let channels: [ProductChannel]
  /// Everything that was found, the gravest first.
  public let findings: [Finding]
  /// What could not be judged, why, and what to do about it: one sentence each.
  public internal(set) var notJudged: [String]
  /// How the order of the channels was judged; nil if it could not be.
  public let order: OrderEvidence?

  /// Whether there was enough sound to judge levels, polarity and order, as far as there is anything to compare, and the
  /// microphones are close enough to judge polarity.
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

/// A channel of a product that delivers more channels than it has microphones.
public struct ProductChannel: Hashable, Sendable {
  /// The microphone that it carries, as far as was found; nil if it is spare, such as a loopback channel.
  public let microphone: String?
  /// RMS level in dBFS; nil for digital silence.
  public let level: Double?
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
