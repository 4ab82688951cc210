import Acoustics
import FilterDesign
import Manifolds
import Numerics

/// What a mono pattern reaches at looks all around: which directions are good in which octave.
public struct LookFigures: Codable, Hashable, Sendable {
  public struct Row: Codable, Hashable, Sendable {
    public let look: Look
    /// By octave in hertz, in decibels; empty if the look is not offered. See `SeriesFigure`.
    public let directivityIndexDB: [Int: Double]
    public let onAxisDB: [Int: Double]
    /// Why it is not offered.
    public let reason: String?
    public let weakness: String?
  }

  /// Octaves that arrays of this size have something to say about.
  public static let octaves = SeriesFigure.octaves.filter { $0 <= 8000 }

  public let dataSource: String
  public let polarPattern: PolarPattern
  /// Of the ideal pattern.
  public let idealDirectivityIndexDB: Double
  /// By elevation and azimuth, upwards.
  public let rows: [Row]

  /// Looks 15° apart around the axis that is up, seen from a data source: horizontal ones, and for an array with height
  /// those 30° above and below.
  package static func looks(of source: DataSource, on device: Device, _ orientation: InputOrientation)
    -> [Look]
  {
    let isFlat = !device.hasHeight(along: device.frame(of: source, orientation).up)
    return (isFlat ? [0.0] : [-30, 0, 30]).flatMap { elevation in
      stride(from: -165.0, through: 180, by: 15).map { Look(azimuth: $0, elevation: elevation)! }
    }
  }

  /// - Parameters:
  ///   - selection: the data source and the pattern.
  ///   - banks: the filters of each look.
  ///   - manifold: of the device, more accurate than that of the design.
  package init(
    _ selection: Selection, of device: Device, banks: [(look: Look, bank: FilterBank)],
    manifold: any ArrayManifold
  ) throws(DesignError) {
    guard let source = device.dataSources.first(where: { $0.name == selection.dataSource }),
      let part = selection.polarPattern.omnidirectionalPart, let first = banks.first?.bank
    else { throw DesignError("a look needs a data source, and a mono pattern that favours a direction") }
    let frame = device.frame(of: source, selection.inputOrientation)
    let offered = banks.compactMap { look, bank in
      bank.cases.first.map {
        (
          view: CaseView.pattern(forward: look.direction(in: frame), omnidirectionalPart: part),
          taps: $0.taps
        )
      }
    }
    let field = try MeasuringField(
      manifold: manifold, views: offered.map(\.view),
      frequencies: DesignGrid(sampleRate: first.sampleRate).frequencies)
    var readings = try FigureReader(
      offered, sampleRate: first.sampleRate, delayFrames: first.delayFrames, field: field, hrtf: nil
    ).read()[...]
    dataSource = source.name
    polarPattern = selection.polarPattern
    var ideal = 0.0
    rows = banks.map { look, bank in
      guard !bank.cases.isEmpty, case .mono(let figures)? = readings.popFirst() else {
        return Row(
          look: look, directivityIndexDB: [:], onAxisDB: [:], reason: bank.refusals.first?.text ?? "",
          weakness: nil)
      }
      ideal = figures.targetDirectivity.value
      func series(_ figure: SeriesFigure) -> [Int: Double] {
        (figures.table[figure] ?? [:]).filter { Self.octaves.contains($0.key) }
      }
      return Row(
        look: look, directivityIndexDB: series(.directivityIndex), onAxisDB: series(.onAxis), reason: nil,
        weakness: bank.weaknesses.first?.text)
    }
    idealDirectivityIndexDB = ideal
  }
}
