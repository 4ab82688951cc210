import Acoustics

/// FIR filters of one case.
public struct FilterCoefficients: Sendable, Equatable {
  public let filterCase: FilterCase
  /// Shape: `[output][microphone][tap]`. Outputs are always left and right; of mono patterns both are equal.
  public let taps: [[[Float]]]

  public init(filterCase: FilterCase, taps: [[[Float]]]) {
    self.filterCase = filterCase
    self.taps = taps
  }
}

/// A case that a device file asks for and that no filters make work: it is not offered.
public struct Refusal: Hashable, Sendable {
  public let filterCase: FilterCase
  /// What its filters reach and what physics allow: the end of a sentence that says what is refused.
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
  /// Names in channel order.
  public let microphones: [String]
  /// Modelling delay, the same in all filter sets.
  public let delayFrames: Int
  /// Length of every filter.
  public let tapCount: Int
  public let cases: [FilterCoefficients]
  /// What the device file asks for and does not work; it has no filters here.
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

  public func coefficients(for filterCase: FilterCase) -> FilterCoefficients? {
    cases.first { $0.filterCase == filterCase }
  }
}
