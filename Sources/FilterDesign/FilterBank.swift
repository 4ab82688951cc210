import Acoustics

/// The FIR filters of one case: a data source with a polar pattern and, for stereo, an input orientation.
public struct FilterCoefficients: Sendable, Equatable {
  public let filterCase: FilterCase
  /// Shape: `[output][microphone][tap]`. The two outputs are left and right. Mono patterns have the same filters on
  /// both.
  public let taps: [[[Float]]]

  public init(filterCase: FilterCase, taps: [[[Float]]]) {
    self.filterCase = filterCase
    self.taps = taps
  }
}

/// A case that the device file lists but that is not offered, because its filters cannot do what the pattern is for.
public struct Refusal: Hashable, Sendable {
  public let filterCase: FilterCase
  /// What the filters achieve, the required minimum, and the physical limit. It reads as the second half of a sentence
  /// whose first half names the case.
  public let reason: String

  public init(filterCase: FilterCase, reason: String) {
    self.filterCase = filterCase
    self.reason = reason
  }
}

/// All filter sets of one device at one sample rate.
public struct FilterBank: Sendable, Equatable {
  /// The device's name.
  public let device: String
  public let sampleRate: Int
  /// Microphone names in channel order.
  public let microphones: [String]
  /// Modelling delay of all filters, in frames.
  public let delayFrames: Int
  /// Length of every filter in taps.
  public let tapCount: Int
  public let cases: [FilterCoefficients]
  /// Cases of the device file that are not offered. They have no filters in this bank.
  public let refusals: [Refusal]

  public init(
    device: String, sampleRate: Int, microphones: [String], delayFrames: Int, tapCount: Int,
    cases: [FilterCoefficients], refusals: [Refusal] = []
  ) {
    self.device = device
    self.sampleRate = sampleRate
    self.microphones = microphones
    self.delayFrames = delayFrames
    self.tapCount = tapCount
    self.cases = cases
    self.refusals = refusals
  }

  /// The filters of `filterCase`; nil if the bank has none.
  public func coefficients(for filterCase: FilterCase) -> FilterCoefficients? {
    cases.first { $0.filterCase == filterCase }
  }
}
