import Acoustics

/// The FIR filters of one case: a data source with a polar pattern and, for stereo and B-format, an input orientation.
public struct FilterCoefficients: Sendable, Equatable {
  public let filterCase: FilterCase
  /// The two outputs are left and right. Mono patterns have the same filters on both; B-format has an output for each
  /// channel, in ACN order.
  public package(set) var taps: Taps<Float>
  /// Of B-format: the point at which it is heard, in metres in the device frame; nil for other patterns.
  public let origin: Position?

  public init(filterCase: FilterCase, taps: Taps<Float>, origin: Position? = nil) {
    self.filterCase = filterCase
    self.taps = taps
    self.origin = origin
  }
}

/// What there is to say about a case: why it is not offered, or what it does less well than its pattern promises.
public struct CaseRemark: Hashable, Sendable {
  public let filterCase: FilterCase
  /// It reads as the second half of a sentence whose first half names the case.
  public let text: String

  public init(filterCase: FilterCase, text: String) {
    self.filterCase = filterCase
    self.text = text
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
  public package(set) var cases: [FilterCoefficients]
  /// Cases of the device file that are not offered, because their filters cannot do what the pattern is for: what the
  /// filters achieve, the required minimum, and the physical limit. They have no filters in this bank.
  public package(set) var refusals: [CaseRemark]
  /// Cases that are offered but weak, and in what.
  public package(set) var weaknesses: [CaseRemark]
  /// What the reader must know about all cases, such as the band of a measurement.
  public package(set) var remarks: [String]
  /// Digests of the files that the device names, by their paths, as they were when the filters were made ready.
  public package(set) var files: [String: String] = [:]

  public init(
    device: String, sampleRate: Int, microphones: [String], delayFrames: Int, tapCount: Int,
    cases: [FilterCoefficients], refusals: [CaseRemark] = [], weaknesses: [CaseRemark] = [],
    remarks: [String] = []
  ) {
    self.device = device
    self.sampleRate = sampleRate
    self.microphones = microphones
    self.delayFrames = delayFrames
    self.tapCount = tapCount
    self.cases = cases
    self.refusals = refusals
    self.weaknesses = weaknesses
    self.remarks = remarks
  }

  /// The filters of `filterCase`; nil if the bank has none.
  public func coefficients(for filterCase: FilterCase) -> FilterCoefficients? {
    cases.first { $0.filterCase == filterCase }
  }

  /// The filters for an array whose microphones deviate from their model: with each microphone's gain and polarity
  /// undone. Delays are part of the design, because filters that end abruptly cannot be moved.
  /// - Parameter deviations: one per microphone.
  public func undoing(_ deviations: [Deviation]) -> FilterBank {
    guard deviations.contains(where: { $0.factor != 1 }) else { return self }
    precondition(deviations.count == microphones.count, "one deviation per microphone")
    var bank = self
    for (microphone, deviation) in deviations.enumerated() where deviation.factor != 1 {
      let factor = Float(1 / deviation.factor)
      for number in cases.indices {
        for output in 0..<cases[number].taps.outputs {
          let filter = cases[number].taps[output, microphone]
          bank.cases[number].taps[output, microphone] = ArraySlice(filter.map { factor * $0 })
        }
      }
    }
    return bank
  }
}
