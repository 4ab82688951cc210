/// What it takes to follow the sound, in parts of a core.
public struct AdaptationLoad: Sendable {
  /// Of the analysis, which all feeds share.
  public var analysis = 0.0
  /// Of the filters that are written.
  public var writing = 0.0

  public init(analysis: Double = 0, writing: Double = 0) {
    (self.analysis, self.writing) = (analysis, writing)
  }

  public var total: Double { analysis + writing }

  /// The most that following the sound may take, so that something is left for crossfades and other programs.
  public static let most = 0.5

  /// With more outputs that follow the sound.
  /// - Parameter outputs: those whose filters `writing` is for.
  public func adding(_ more: Int, to outputs: Int) -> AdaptationLoad {
    AdaptationLoad(analysis: analysis, writing: writing * Double(outputs + more) / Double(max(1, outputs)))
  }
}
