import Acoustics
import FilterDesign

/// One case of a report: its figures, their losses under array errors, and whether the case is offered.
///
/// In JSON it is one flat object: `dataSource`, `polarPattern`, `inputOrientation` (null for mono patterns), `look` (absent
/// for the data source's forward), every key
/// of `Figures`, `losses` (an object with the same keys), `taps`, `delayFrames`, `supported`, `reason` and `weakness`; for
/// B-format `ambisonics`, too.
public struct CaseFigures: Codable, Hashable, Sendable {
  public let filterCase: FilterCase
  /// A case that is not offered has only the separation ceiling.
  public let figures: Figures
  /// Nil for other patterns than B-format, or for a case that is not offered.
  public let ambisonics: AmbisonicsFigures?
  /// Losses over `ArrayErrors.drawCount` draws; nil for a case that is not offered.
  public let losses: FigureTable<Loss>?
  /// Filter length.
  public let taps: Int
  /// Latency of the filters in frames.
  public let delayFrames: Int
  /// False if the device file requests the case but no filters make it work.
  public let supported: Bool
  /// Why the case is not supported; nil if it is.
  public let reason: String?
  /// What the case does less well than its pattern promises; nil if nothing.
  public let weakness: String?

  package init(
    filterCase: FilterCase, figures: Figures, ambisonics: AmbisonicsFigures? = nil,
    losses: FigureTable<Loss>?, bank: FilterBank, reason: String?,
    weakness: String? = nil
  ) {
    self.filterCase = filterCase
    self.figures = figures
    self.ambisonics = ambisonics
    self.losses = losses
    taps = bank.tapCount
    delayFrames = bank.delayFrames
    supported = reason == nil
    self.reason = reason
    self.weakness = weakness
  }

  private enum Key: String, CodingKey {
    case dataSource, polarPattern, inputOrientation, look, ambisonics, losses, taps, delayFrames, supported,
      reason,
      weakness
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    filterCase = FilterCase(
      dataSource: try container.decode(String.self, forKey: .dataSource),
      polarPattern: try container.decode(PolarPattern.self, forKey: .polarPattern),
      inputOrientation: try container.decodeIfPresent(InputOrientation.self, forKey: .inputOrientation),
      look: try container.decodeIfPresent(Look.self, forKey: .look))
    figures = try Figures(from: decoder)
    ambisonics = try container.decodeIfPresent(AmbisonicsFigures.self, forKey: .ambisonics)
    losses = try container.decodeIfPresent(FigureTable<Loss>.self, forKey: .losses)
    taps = try container.decode(Int.self, forKey: .taps)
    delayFrames = try container.decode(Int.self, forKey: .delayFrames)
    supported = try container.decode(Bool.self, forKey: .supported)
    reason = try container.decodeIfPresent(String.self, forKey: .reason)
    weakness = try container.decodeIfPresent(String.self, forKey: .weakness)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(filterCase.dataSource, forKey: .dataSource)
    try container.encode(filterCase.polarPattern, forKey: .polarPattern)
    try container.encode(filterCase.inputOrientation, forKey: .inputOrientation)
    try container.encodeIfPresent(filterCase.look, forKey: .look)
    try figures.encode(to: encoder)
    try container.encodeIfPresent(ambisonics, forKey: .ambisonics)
    try container.encode(losses, forKey: .losses)
    try container.encode(taps, forKey: .taps)
    try container.encode(delayFrames, forKey: .delayFrames)
    try container.encode(supported, forKey: .supported)
    try container.encode(reason, forKey: .reason)
    try container.encode(weakness, forKey: .weakness)
  }
}
