import Glibc

/// What a plug-in plays at one sample rate: a case for each combination that its controls offer, and feeds that never
/// change.
public struct PluginFilters: Sendable, Hashable {
  public struct Case: Sendable, Hashable {
    /// Indices among what the plug-in offers; no orientation for mono patterns, which play the same in each.
    public let dataSource: Int
    public let pattern: Int
    public let orientation: Int?
    /// Shape: `[output][microphone][tap]`, with one output or two.
    public let coefficients: [[[Float]]]

    public init(dataSource: Int, pattern: Int, orientation: Int?, coefficients: [[[Float]]]) {
      (self.dataSource, self.pattern, self.orientation) = (dataSource, pattern, orientation)
      self.coefficients = coefficients
    }

    /// Whether a setting chooses this case.
    public func matches(_ setting: PluginSetting) -> Bool {
      dataSource == setting.dataSource && pattern == setting.pattern
        && (orientation ?? setting.orientation) == setting.orientation
    }
  }

  public struct Feed: Sendable, Hashable {
    /// Linear.
    public let gain: Float
    /// Corner in hertz; 0 for off.
    public let highPass: Double
    /// Shape: `[output][microphone][tap]`.
    public let coefficients: [[[Float]]]

    public init(gain: Float, highPass: Double, coefficients: [[[Float]]]) {
      (self.gain, self.highPass, self.coefficients) = (gain, highPass, coefficients)
    }
  }

  /// In hertz.
  public let sampleRate: Int
  /// How late the outputs are, in frames.
  public let delayFrames: Int
  public let microphones: Int
  public let taps: Int
  /// How many data sources, patterns and orientations there are to choose from.
  public let dataSources: Int
  public let patterns: Int
  public let orientations: Int
  /// In force until the host says otherwise.
  public let initial: PluginSetting
  public let cases: [Case]
  public let feeds: [Feed]

  public init(
    sampleRate: Int, delayFrames: Int, microphones: Int, taps: Int, dataSources: Int, patterns: Int,
    orientations: Int, initial: PluginSetting, cases: [Case], feeds: [Feed]
  ) {
    (self.sampleRate, self.delayFrames) = (sampleRate, delayFrames)
    (self.microphones, self.taps) = (microphones, taps)
    (self.dataSources, self.patterns, self.orientations) = (dataSources, patterns, orientations)
    (self.initial, self.cases, self.feeds) = (initial, cases, feeds)
  }

  /// Left and right, then those of the feeds.
  public var outputs: Int { feeds.reduce(2) { $0 + $1.coefficients.count } }

  /// The case that a setting chooses; nil if that combination is not offered.
  public func index(of setting: PluginSetting) -> Int? { cases.firstIndex { $0.matches(setting) } }
}

public struct PluginError: Error, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}
