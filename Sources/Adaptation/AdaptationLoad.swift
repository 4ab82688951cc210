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

  /// What it takes before anything was measured: a model of the shape that `pinna bench --following` shows with two to 64
  /// microphones, with the times of a Zen 4 processor, so that nothing is refused that a fast one can do.
  /// - Parameters:
  ///   - taps: of the filters; 256 at 48 kHz.
  ///   - outputs: of each feed.
  ///   - findsDirections: whether any feed needs to know where sound comes from.
  public static func expected(microphones: Int, taps: Int, outputs: [Int], findsDirections: Bool)
    -> AdaptationLoad
  {
    let count = Double(microphones)
    // Directions are found from eight microphones at most. Every filter is transformed; the weights of wind and of parts have
    // a matrix of all microphones.
    let analysis = 0.0016 * count + (findsDirections ? 0.0062 * min(count, 8) : 0)
    let writing = outputs.reduce(0) {
      $0 + (0.0008 * count * Double($1) * Double(taps) / 256 + 0.000014 * count * count)
    }
    return AdaptationLoad(analysis: analysis, writing: writing)
  }

  /// With more outputs that follow the sound.
  /// - Parameter outputs: those whose filters `writing` is for.
  public func adding(_ more: Int, to outputs: Int) -> AdaptationLoad {
    AdaptationLoad(analysis: analysis, writing: writing * Double(outputs + more) / Double(max(1, outputs)))
  }
}
